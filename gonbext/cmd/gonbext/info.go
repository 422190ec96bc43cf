package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/units"
)

func newInfo() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info PATH",
		Short: "Say what a stored array is: shape, dtype, chunks, bytes, codec",
		Example: `  gonbext info acts.npy
  gonbext info 'acts.bin?shape=3075200x512&dtype=float32' --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			i, err := readInfo(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), i)
			}
			_, err = fmt.Fprint(c.OutOrStdout(), i.text())
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// info is what is said of a stored array. Sizes are bytes.
type info struct {
	Path      string     `json:"path"`
	Format    string     `json:"format"`
	Shape     []int      `json:"shape"`
	DType     dtype.Type `json:"dtype"`
	Chunks    []int      `json:"chunks"` // null where any region is as good as another
	Bytes     int64      `json:"bytes"`  // of the elements
	FileBytes int64      `json:"file_bytes"`
	Codec     string     `json:"codec"`
	Fortran   bool       `json:"fortran_order"`
}

func readInfo(path string) (*info, error) {
	stored, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	s := stored.Info()
	if err := stored.Close(); err != nil {
		return nil, err
	}
	a := oocore.Open(path) // which sees the shape as the user does
	if err := a.Err(); err != nil {
		return nil, err
	}
	i := &info{Path: path, Format: s.Format, Shape: a.Shape(), DType: a.DType(), Chunks: a.Chunks(), Bytes: a.Bytes(),
		FileBytes: s.Bytes, Codec: s.Codec, Fortran: s.Fortran}
	if i.Codec == "" {
		i.Codec = "none"
	}
	return i, nil
}

func (i *info) text() string {
	chunks := "none: any region reads alike"
	if i.Chunks != nil {
		chunks = units.Shape(i.Chunks)
	}
	order := ""
	if i.Fortran {
		order = ", in Fortran order"
	}
	return fmt.Sprintf("%s\n  shape   %s\n  dtype   %s\n  chunks  %s\n  bytes   %s, %s\n  format  %s%s\n  codec   %s\n", i.Path,
		units.Shape(i.Shape), i.DType, chunks, units.Exact(i.Bytes), units.Bytes(i.Bytes), i.Format, order, i.Codec)
}

// printJSON writes one object, indented for people, on the standard output.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
