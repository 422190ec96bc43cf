package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
)

func newConvert() *cobra.Command {
	var j job
	var to string
	c := &cobra.Command{
		Use:   "convert SRC DST",
		Short: "Write an array in another format, chunking, compression or dtype, within a budget",
		Long: `Write an array in another format, chunking, compression or dtype, within a budget of memory.

The form of a path names its format: x.zarr, x.zarr/group/array, x.npy, x.npz#name, x.safetensors#name,
x.bin?shape=AxB&dtype=T; s3://bucket/… and, to read, http(s)://… for those that object stores hold. Chunks that
lie across those of SRC take one pass over the data, or two by way of a file beside DST where the output cannot
be filled in pieces and the budget is smaller than the array: --plan says which. A conversion that was cut off
resumes where it stopped.`,
		Example: `  gonbext convert acts.npy acts.zarr --chunks 1024x512 --codec zstd:3
  gonbext convert rows.zarr columns.zarr --chunks 65536x8 --memory 512MiB --plan
  gonbext convert acts.npy half.npy --dtype float16 --memory 256MiB
  gonbext convert 'frames/*.npy' frames.zarr --chunks 16x512x512
  gonbext convert acts.npy 'columns.npy?order=F&dtype=>f4'
  gonbext convert 'acts.bin?shape=3075200x512&dtype=float32' acts.safetensors#acts`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := j.checkReport(stacked(args[0]), args[1]); err != nil {
				return err
			}
			a := oocore.OpenContext(c.Context(), stacked(args[0]))
			var open *oocore.Error
			if errors.As(a.Err(), &open) {
				return failure(open.Err) // which names the file
			}
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
	c.Flags().StringVar(&to, "dtype", "", "element type of the output (default that of SRC)")
	j.flags(c)
	return c
}
