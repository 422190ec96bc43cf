package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
)

func newDoctor() *cobra.Command {
	fix := false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is missing, and the command that fixes it",
		Long: `Says what notebooks and arrays need, what of it is there, and for what is not,
the command that fixes it; with --fix, it does what can be done without rights of
the system's. The exit status is 1 where something is missing that the kernel
cannot do without.`,
		Example: `  gonbext doctor
  gonbext doctor --fix`,
		RunE: func(c *cobra.Command, _ []string) error {
			if fix {
				for _, check := range setup.Doctor(c.Context()) {
					if check.OK() || check.Repair == nil {
						continue
					}
					if err := check.Repair(c.Context(), say); err != nil {
						say("%s could not be set up: %v", check.Name, err)
					}
				}
			}
			lacking := false
			for _, check := range setup.Doctor(c.Context()) {
				state, said := "ok", check.Found
				if !check.OK() {
					state, said = "missing", check.Missing
					lacking = lacking || check.Required
				}
				fmt.Fprintf(c.OutOrStdout(), "%-8s %-16s %s\n", state, check.Name, said)
				if !check.OK() {
					fmt.Fprintf(c.OutOrStdout(), "%-8s %-16s → %s\n", "", "", check.Fix)
				}
			}
			if lacking {
				return exitError(exitFailure)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&fix, "fix", false, "set up what is missing")
	return c
}
