package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/types"
)

func newVerify() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify PATH",
		Short: "Tell whether a saved array still is what was written: damaged chunks, and the exit status",
		Long: `Compares an array with the receipt that the run which saved it left in the run log: a digest of
the elements that each task wrote, and of what else the array is. The array is read once.

The exit status is 0 where it is whole, 1 where a part is damaged or was changed since, each of which is
named, and 2 where that cannot be told. Digests find damage; they are no proof against somebody who changes
the receipt too. Runs that save one array to a file of this machine leave a receipt, unless a
product of matrices is the last that they make, or they run in worker processes or on a device.`,
		Example: `  gonbext verify out.zarr
  gonbext verify out.zarr --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			v, err := oocore.Verify(c.Context(), args[0])
			if err != nil {
				return usageError{failure(err)}
			}
			f := verifying{Path: args[0], Status: "whole", Chunks: v.Chunks, Unknown: v.Unknown, Details: v.Details, Damaged: []damage{}}
			for i, box := range v.Damaged {
				f.Damaged = append(f.Damaged, damage{box.Start, box.Shape, v.Faults[i]})
			}
			switch {
			case len(f.Damaged) > 0 || f.Details:
				f.Status = "damaged"
			case f.Unknown > 0:
				f.Status = "unknown"
			}
			if !asJSON {
				f.say(c.OutOrStdout(), v)
			} else if err := printJSON(c.OutOrStdout(), f); err != nil {
				return err
			}
			switch f.Status {
			case "damaged":
				return exitError(1)
			case "unknown":
				return exitError(2)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// verifying is what verify prints as JSON.
type verifying struct {
	Path    string   `json:"path"`
	Status  string   `json:"status"` // whole, damaged, unknown
	Chunks  int      `json:"chunks"` // that were compared
	Damaged []damage `json:"damaged"`
	Unknown int      `json:"unknown"` // chunks of which the receipt does not tell
	Details bool     `json:"details"` // shape, type, codec or attributes are others
}

type damage struct {
	Start []int  `json:"start"`
	Shape []int  `json:"shape"`
	Error string `json:"error,omitempty"` // why it cannot be read
}

func (f *verifying) say(w io.Writer, v *types.Verification) {
	for i, box := range v.Damaged {
		fmt.Fprintf(w, "%s: chunk %s is not what was written", f.Path, box)
		if why := v.Faults[i]; why != "" {
			fmt.Fprintf(w, ": %s", why)
		}
		fmt.Fprintln(w)
	}
	if f.Details {
		fmt.Fprintf(w, "%s: shape, type, codec or attributes are not those that were written\n", f.Path)
	}
	switch f.Status {
	case "whole":
		fmt.Fprintf(w, "%s is whole: %s as they were written\n", f.Path, plural(f.Chunks, "chunk"))
	case "unknown":
		fmt.Fprintf(w, "%s: of %s the receipt does not tell: save it again for one\n", f.Path, plural(f.Unknown, "chunk"))
	default:
		fmt.Fprintf(w, "%s is damaged, or was changed by another program: %d of %s\n", f.Path, len(f.Damaged), plural(f.Chunks, "chunk"))
	}
}
