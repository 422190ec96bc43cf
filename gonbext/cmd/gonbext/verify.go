package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/types"
)

func newVerify() *cobra.Command {
	var asJSON, repair bool
	var share, file, memory string
	c := &cobra.Command{
		Use:   "verify PATH",
		Short: "Tell whether a saved array still is what was written: damaged chunks, and the exit status",
		Long: `Compares an array with the receipt that the run which saved it left in the run log: a digest of
the elements that each task wrote, and of what else the array is. The array is read once. --receipt names the file
of a receipt, which compute and convert write for others.

--recompute computes a part of the chunks anew from the inputs, at random, or all, and compares them. --repair computes the
damaged ones again: the array is replaced when it is whole.

The exit status is 0 where it is whole, 1 where a part is damaged or was changed since, each of which is
named, and 2 where that cannot be told. Digests of the run log find damage; those of a file, SHA-256, also show that the
array is what the file tells. Who made the file they do not show, nor, without --recompute, that the array is what it says of it. Runs that save one array to a file of this machine leave a receipt, unless a
product of matrices is the last that they make, or they run in worker processes or on a device.`,
		Example: `  gonbext verify out.zarr
  gonbext verify out.zarr --recompute 1%
  gonbext verify out.zarr --repair
  gonbext verify out.zarr --receipt out.receipt --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			opts, err := receiptOptions(c, file)
			if err != nil {
				return err
			}
			if memory != "" {
				opts = append(opts, oocore.Memory(memory))
			}
			var v *types.Verification
			switch {
			case share != "" && repair:
				return usagef("--recompute and --repair: repair first, then recompute")
			case repair:
				v, err = oocore.Repair(c.Context(), args[0], opts...)
			case share != "":
				var part float64
				if part, err = parseShare(share); err != nil {
					return err
				}
				v, err = oocore.Recompute(c.Context(), args[0], part, opts...)
			default:
				v, err = oocore.Verify(c.Context(), args[0], opts...)
			}
			if err != nil {
				return usageError{failure(err)}
			}
			f := verifying{Path: args[0], Status: "whole", Chunks: v.Chunks, Unknown: v.Unknown, Details: v.Details, Damaged: []damage{}, Trusted: v.Trusted, Recomputed: v.Recomputed, Changed: v.Changed}
			for i, box := range v.Damaged {
				f.Damaged = append(f.Damaged, damage{box.Start, box.Shape, v.Faults[i]})
			}
			for _, box := range v.Repaired {
				f.Repaired = append(f.Repaired, damage{box.Start, box.Shape, ""})
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
	c.Flags().StringVar(&share, "recompute", "", "compute this part of the chunks anew and compare them: 1%, or all")
	c.Flags().BoolVar(&repair, "repair", false, "compute the damaged chunks again")
	receiptFlag(c, &file)
	c.Flags().StringVar(&memory, "memory", "", "bytes that the process may take to compute, such as 512MiB (default 70 % of what is free)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// receiptFlag names a receipt that is read.
func receiptFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "receipt", "", "a receipt that is a file, in place of that of the run log")
}

func receiptOptions(c *cobra.Command, file string) ([]oocore.Option, error) {
	switch {
	case file != "":
		return []oocore.Option{oocore.Receipt(file)}, nil
	case c.Flags().Changed("receipt"):
		return nil, usagef("--receipt: name a file")
	}
	return nil, nil
}

// parseShare reads a part of all: "1%", "0.5%" or "all".
func parseShare(text string) (float64, error) {
	if text == "all" {
		return 1, nil
	}
	number, ok := strings.CutSuffix(text, "%")
	part, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(part > 0 && part <= 100) {
		return 0, usagef("--recompute %s: give a part such as 1%%, or all", text)
	}
	return part / 100, nil
}

// verifying is what verify prints as JSON.
type verifying struct {
	Path    string   `json:"path"`
	Status  string   `json:"status"` // whole, damaged, unknown
	Chunks  int      `json:"chunks"` // that were compared
	Damaged []damage `json:"damaged"`
	Unknown int      `json:"unknown"` // chunks of which the receipt does not tell
	Details bool     `json:"details"` // shape, type, codec or attributes are others

	Trusted    bool     `json:"trusted,omitempty"`    // compared by SHA-256
	Recomputed int      `json:"recomputed,omitempty"` // chunks that were computed anew
	Repaired   []damage `json:"repaired,omitempty"`   // that were damaged before
	Changed    []string `json:"changed,omitempty"`    // inputs that are others than those that were read
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
	if n := len(v.Repaired); n > 0 {
		fmt.Fprintf(w, "%s: %s computed again\n", f.Path, plural(n, "chunk"))
	}
	switch f.Status {
	case "whole":
		fmt.Fprintf(w, "%s is whole: %s as they were written\n", f.Path, plural(f.Chunks, "chunk"))
	case "unknown":
		if len(f.Changed) > 0 {
			fmt.Fprintf(w, "%s: %s computed anew came out otherwise, of other inputs than were read: %s\n", f.Path, plural(f.Unknown, "chunk"), strings.Join(f.Changed, ", "))
		} else {
			fmt.Fprintf(w, "%s: of %s the receipt does not tell: save it again for one\n", f.Path, plural(f.Unknown, "chunk"))
		}
	default:
		fmt.Fprintf(w, "%s is damaged, or was changed by another program: %d of %s\n", f.Path, len(f.Damaged), plural(f.Chunks, "chunk"))
	}
	switch {
	case f.Status != "whole":
	case f.Recomputed > 0:
		fmt.Fprintf(w, "%s computed anew from the inputs: the same\n", plural(f.Recomputed, "chunk"))
	case f.Trusted:
		fmt.Fprintln(w, "this proves by SHA-256 that it is what the receipt tells, not who made the receipt, nor that it was computed so: --recompute tests that")
	}
}
