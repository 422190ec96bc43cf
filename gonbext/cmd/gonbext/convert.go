package main

import (
	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
)

func newConvert() *cobra.Command {
	var j job
	var to, codec string
	c := &cobra.Command{
		Use:   "convert SRC DST",
		Short: "Write an array in another dtype, layout or format, within a budget",
		Example: `  gonbext convert acts.npy half.npy --dtype float16 --memory 256MiB
  gonbext convert 'acts.bin?shape=3075200x512&dtype=float32' acts.npy`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if codec != "none" {
				return usagef("--codec %s: npy and raw files are stored as they are, so only none is possible", codec)
			}
			a := oocore.Open(args[0])
			if to != "" {
				t, err := dtype.Parse(to)
				if err != nil {
					return usagef("--dtype: %w", err)
				}
				a = a.AsType(t)
			}
			return j.do(c, a, args[1])
		},
	}
	j.memoryFlags(c)
	c.Flags().StringVar(&to, "dtype", "", "element type of the output (default that of SRC)")
	c.Flags().StringVar(&codec, "codec", "none", "compression of the output")
	return c
}
