package main

import (
	"fmt"
	"slices"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext"
	"github.com/gonbext/gonbext/gonbext/chart"
	"github.com/gonbext/gonbext/oocore/record"
)

// newReport is what a cell in stock GoNB runs at its end, so that the cell
// itself links no charts: the report of its runs, in the notebook if GoNB is
// above, else as text.
func newReport() *cobra.Command {
	var mode string
	c := &cobra.Command{
		Use:     gonbext.ReportCommand + " CELL",
		Short:   "Show the report of a cell's runs",
		Example: "  gonbext " + gonbext.ReportCommand + " CELL",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := chart.ParseMode(mode)
			if err != nil {
				return usageError{err}
			}
			runs, err := runsOf(args[0])
			if err != nil || len(runs) == 0 {
				return err
			}
			// A process of its own for each cell cannot know what other cells
			// have shown, so each carries the library.
			out, err := chart.Report(runs, chart.Options{Mode: m, Library: true})
			if err != nil {
				return err
			}
			return showOutput(c, out)
		},
	}
	c.Flags().StringVar(&mode, "chart", "", "how charts are drawn: auto, svg or none")
	return c
}

// newDraw is what a figure of a cell in stock GoNB calls: it draws the figure of a record.
func newDraw() *cobra.Command {
	return &cobra.Command{
		Use:     gonbext.DrawCommand + " RECORD",
		Short:   "Draw a figure of a cell",
		Example: "  gonbext " + gonbext.DrawCommand + " RECORD",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := record.Read(args[0])
			if err != nil {
				return err
			}
			if r.Header.Card == nil {
				return fmt.Errorf("%s is no figure of a cell", args[0])
			}
			out, err := chart.Card(r.Header.Title, r.Header.Card, chart.Options{Library: true})
			if err != nil {
				return err
			}
			return showOutput(c, out)
		},
	}
}

// showOutput shows an output in the notebook whose GoNB it runs below, else as text.
func showOutput(c *cobra.Command, out chart.Output) error {
	if !gonbui.IsNotebook {
		_, err := fmt.Fprintln(c.OutOrStdout(), out.Text)
		return err
	}
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMETextHTML: out.HTML, protocol.MIMETextPlain: out.Text,
	}})
	gonbui.Sync()
	return gonbui.Error()
}

// runsOf are the runs of a cell, in their order.
func runsOf(cell string) ([]*record.Run, error) {
	dir, err := record.Dir()
	if err != nil {
		return nil, err
	}
	all, err := record.List(dir)
	if err != nil {
		return nil, err
	}
	slices.Reverse(all) // oldest first
	var runs []*record.Run
	for _, s := range all {
		if s.Header.Cell != cell {
			continue
		}
		r, err := record.Read(s.Path)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}
