package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/footprint"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
)

func newFootprint() *cobra.Command {
	var device, chunks string
	var asJSON bool
	c := &cobra.Command{
		Use:   "footprint SHAPE [DTYPE...]",
		Short: "Say what an array of a shape takes, and what of it would fit here",
		Example: `  gonbext footprint 3075200x512
  gonbext footprint 3075200x512 float32 float16 --device 8GiB --chunks 1024x512`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			shape, err := host.ParseShape(args[0])
			if err != nil {
				return usageError{err}
			}
			var o footprint.Options
			for _, name := range args[1:] {
				t, err := dtype.Parse(name)
				if err != nil {
					return usageError{err}
				}
				o.DTypes = append(o.DTypes, t)
			}
			if o.Device, err = footprint.DeviceOf(device); err != nil {
				return usagef("--device: %w", err)
			}
			if o.Chunks, err = parseLengths("--chunks", chunks); err != nil {
				return err
			}
			r, err := footprint.New(shape, o, machine.Read())
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), r)
			}
			out, err := r.Output()
			fmt.Fprint(c.OutOrStdout(), out.Text)
			return err
		},
	}
	c.Flags().StringVar(&device, "device", "", "a GPU to compare with others: its name, such as H200, its memory, such as 8GiB, or cuda:0 of this machine; cpu for none")
	c.Flags().StringVar(&chunks, "chunks", "", "a chunk shape to ask about, such as 1024x512")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}
