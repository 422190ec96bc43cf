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

func newWhy() *cobra.Command {
	var asJSON bool
	var file string
	c := &cobra.Command{
		Use:   "why PATH[#CHUNK]",
		Short: "Tell what a saved array was made of: the expression, its inputs, and theirs",
		Long: `Prints what an array was made of, as the receipt tells that the run which saved it left in the run log: the
expression, and its inputs with whether they still are as they were read; of inputs that have receipts too, the same
of them. With a chunk, as in out.zarr#3,0, also the task that made it, and the chunks that this has read.

The exit status is 2 where the array has no receipt.`,
		Example: `  gonbext why out.zarr
  gonbext why 'out.zarr#3,0' --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			path, chunk := cutChunk(args[0])
			opts, err := receiptOptions(c, file)
			if err != nil {
				return err
			}
			l, err := oocore.Why(c.Context(), path, chunk, opts...)
			if err != nil {
				return usageError{failure(err)}
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), l)
			}
			sayLineage(c.OutOrStdout(), l, "")
			return nil
		},
	}
	receiptFlag(c, &file)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// cutChunk cuts the index of a chunk off a path. What stands after # and is no list of numbers is a name in a file.
func cutChunk(path string) (of string, chunk []int) {
	at := strings.LastIndexByte(path, '#')
	if at < 0 {
		return path, nil
	}
	for part := range strings.SplitSeq(path[at+1:], ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return path, nil
		}
		chunk = append(chunk, n)
	}
	return path[:at], chunk
}

func sayLineage(w io.Writer, l *types.Lineage, indent string) {
	line := indent + l.Path
	if l.Expression != "" {
		line += " = " + l.Expression
	}
	if l.Changed != "" {
		line += ", " + l.Changed + " since"
	}
	fmt.Fprintln(w, line)
	if t := l.Task; t != nil {
		fmt.Fprintf(w, "%s  chunk %s was made by task %d\n", indent, t.Box, t.Index)
		for _, r := range t.Reads {
			fmt.Fprintf(w, "%s  of chunks %s of %s\n", indent, strings.Trim(fmt.Sprint(r.Chunks), "[]"), r.Path)
		}
	}
	for i := range l.Inputs {
		sayLineage(w, &l.Inputs[i], indent+"  ")
	}
}
