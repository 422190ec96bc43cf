package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/units"
)

func newClean() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use:   "clean [PATH...]",
		Short: "Remove what unfinished runs have left beside their outputs",
		Long: `Removes the folders .NAME.gonbext in which runs that failed, or were interrupted or
killed, have left whole chunks and temporary arrays: that of each output that is named,
and all below a folder, the present one where no path is named. Such a run starts over
when it is run again. Outputs that are in place stay, and what a running process holds.
It says what it removed, and how many bytes that had.`,
		Example: `  gonbext clean out.zarr
  gonbext clean --dry-run results`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, paths []string) error {
			if len(paths) == 0 {
				paths = []string{"."}
			}
			out, seen := c.OutOrStdout(), map[string]bool{}
			var failed []error
			for _, path := range paths {
				all, err := store.Leftovers(path)
				if err != nil {
					failed = append(failed, err)
				}
				for _, l := range all {
					if seen[l.Path] {
						continue
					}
					seen[l.Path] = true
					bytes, _ := setup.BytesBelow(l.Path)
					word := "removed  "
					if dryRun {
						word = "found    "
					} else if err := l.Remove(); err != nil {
						locked, ok := errors.AsType[*store.LockedError](err)
						if !ok {
							failed = append(failed, err)
							continue
						}
						word = fmt.Sprintf("in use by process %d  ", locked.PID)
					}
					fmt.Fprintf(out, "%s%s, %s\n", word, l.Path, units.Bytes(bytes))
				}
			}
			if len(seen) == 0 && len(failed) == 0 {
				fmt.Fprintln(out, "nothing is unfinished")
			}
			return errors.Join(failed...)
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "list the folders and remove none")
	return c
}
