package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
)

func newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what is missing, and the command that fixes it",
		Long: `Says what notebooks and arrays need, what of it is there, and for what is not,
the command that fixes it. The exit status is 1 where something is missing that
the kernel cannot do without.`,
		Example: "  gonbext doctor",
		RunE: func(c *cobra.Command, _ []string) error {
			lacking := false
			for _, check := range setup.Doctor(c.Context()) {
				state, said := "ok", check.Found
				if !check.OK() {
					state, said = "missing", check.Missing
					lacking = lacking || check.Required
				}
				fmt.Fprintf(os.Stdout, "%-8s %-16s %s\n", state, check.Name, said)
				if !check.OK() {
					fmt.Fprintf(os.Stdout, "%-8s %-16s → %s\n", "", "", check.Fix)
				}
			}
			if lacking {
				return exitError(exitFailure)
			}
			return nil
		},
	}
}
