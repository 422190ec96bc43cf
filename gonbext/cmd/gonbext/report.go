package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext"
	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/oocore/record"
)

// newReport is what a cell in stock GoNB runs, so that the cell itself links no charts: it
// draws the records whose paths it reads, and when there are no more the report of the
// cell's runs, in the notebook if GoNB is above, else as text.
func newReport() *cobra.Command {
	var mode string
	c := &cobra.Command{
		Use:     gonbext.ReportCommand + " CELL",
		Short:   "Show what a cell has to show",
		Example: "  gonbext " + gonbext.ReportCommand + " CELL",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := chart.ParseMode(mode)
			if err != nil {
				return usageError{err}
			}
			// A process of its own for each cell cannot know what other cells
			// have shown, so one of its outputs carries the library.
			o := chart.Options{Mode: m, Library: true}
			for lines := bufio.NewScanner(c.InOrStdin()); lines.Scan(); {
				answer := gonbext.ShownLine
				if err := showCard(c, lines.Text(), &o); err != nil {
					answer = strings.ReplaceAll(err.Error(), "\n", "; ")
				}
				fmt.Fprintln(c.OutOrStdout(), answer)
			}
			if args[0] == "" {
				return nil
			}
			runs, err := runsOf(args[0], time.Time{})
			if err != nil || len(runs) == 0 {
				return err
			}
			out, err := chart.Report(runs, o)
			if err != nil {
				return err
			}
			return showOutput(c, out)
		},
	}
	c.Flags().StringVar(&mode, "chart", "", "how charts are drawn: auto, svg or none")
	return c
}

// newDraw is what a cell runs to save the picture of a figure.
func newDraw() *cobra.Command {
	return &cobra.Command{
		Use:     gonbext.DrawCommand + " CARD FILE",
		Short:   "Save the picture of a figure",
		Example: "  gonbext " + gonbext.DrawCommand + " CARD map.pdf",
		Hidden:  true,
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			card, err := record.ReadCard(args[0])
			if err != nil {
				return err
			}
			picture, err := chart.Picture(card, strings.ToLower(filepath.Ext(args[1])))
			if err != nil {
				return err
			}
			return replaceFile(args[1], picture)
		},
	}
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".gonbext-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // where it is not renamed
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// showCard shows an array of the cell.
func showCard(c *cobra.Command, path string, o *chart.Options) error {
	card, err := record.ReadCard(path)
	if err != nil {
		return err
	}
	out, err := chart.Card(card, *o)
	if err != nil {
		return err
	}
	o.Library = o.Library && !out.Library
	return showOutput(c, out)
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

// runsOf are the runs of a cell that began at a time or later, in their order.
func runsOf(cell string, since time.Time) ([]*record.Run, error) {
	dir, err := record.Dir()
	if err != nil {
		return nil, err
	}
	return record.OfCell(dir, cell, since)
}
