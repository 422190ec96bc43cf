package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/inspect"
)

func newInfo() *cobra.Command {
	var asJSON, chunks bool
	c := &cobra.Command{
		Use:   "info PATH",
		Short: "Say what a stored array is: shape, dtype, chunks, bytes, codec",
		Long: `Say what a stored array is: shape, dtype, chunks and shards, bytes, codec, fill value, dimension names, attributes.

Only the header is read. With --chunks the stored chunks are listed, for the bytes that they take, the ratio to
those of the elements, and how many are missing. Of what holds several arrays (a Zarr group, an npz, safetensors,
HDF5 or FITS file, the index of a checkpoint, a folder) it says what each of them is.`,
		Example: `  gonbext info acts.npy
  gonbext info acts.zarr --chunks
  gonbext info weights.safetensors
  gonbext info 'acts.bin?shape=3075200x512&dtype=float32' --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			i, err := inspect.Describe(c.Context(), stacked(args[0]), chunks)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), i)
			}
			_, err = fmt.Fprint(c.OutOrStdout(), i.Text())
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().BoolVar(&chunks, "chunks", false, "list the stored chunks: their bytes, their ratio, and how many are missing")
	return c
}

// printJSON writes one object, indented for people, on the standard output.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
