package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/units"
)

func newClean() *cobra.Command {
	var dryRun, asJSON bool
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
			type leftover struct {
				Path  string `json:"path"`
				Bytes int64  `json:"bytes"`
				State string `json:"state"`         // removed, found, in use
				PID   int    `json:"pid,omitempty"` // that uses it
			}
			told := []leftover{}
			var failed []error
			for _, path := range paths {
				all, err := host.Leftovers(path)
				if err != nil {
					failed = append(failed, err)
				}
				for _, l := range all {
					if seen[l.Path] {
						continue
					}
					seen[l.Path] = true
					bytes, _ := setup.BytesBelow(l.Path)
					told = append(told, leftover{})
					o := &told[len(told)-1]
					*o = leftover{Path: l.Path, Bytes: bytes, State: "removed"}
					if dryRun {
						o.State = "found"
					} else if err := l.Remove(); err != nil {
						locked, ok := errors.AsType[*store.LockedError](err)
						if !ok {
							failed, told = append(failed, err), told[:len(told)-1]
							continue
						}
						o.State, o.PID = "in use", locked.PID
					}
					if asJSON {
						continue
					}
					word := fmt.Sprintf("%-9s", o.State)
					if o.PID != 0 {
						word = fmt.Sprintf("in use by process %d  ", o.PID)
					}
					fmt.Fprintf(out, "%s%s, %s\n", word, l.Path, units.Bytes(bytes))
				}
			}
			if asJSON {
				failed = append(failed, printJSON(out, told))
			} else if len(seen) == 0 && len(failed) == 0 {
				fmt.Fprintln(out, "nothing is unfinished")
			}
			return errors.Join(failed...)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of the folders")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "list the folders and remove none")
	return c
}
