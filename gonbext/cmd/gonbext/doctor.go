package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
)

func newDoctor() *cobra.Command {
	fix, asJSON := false, false
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
			type state struct {
				Name     string `json:"name"`
				OK       bool   `json:"ok"`
				Found    string `json:"found,omitempty"`
				Missing  string `json:"missing,omitempty"`
				Fix      string `json:"fix,omitempty"`
				Required bool   `json:"required"`
			}
			lacking, all, w := false, []state{}, c.OutOrStdout()
			for _, check := range setup.Doctor(c.Context()) {
				s := state{check.Name, check.OK(), check.Found, check.Missing, check.Fix, check.Required}
				if s.OK {
					s.Fix = ""
				}
				all = append(all, s)
				lacking = lacking || !s.OK && s.Required
				switch {
				case asJSON:
				case s.OK:
					fmt.Fprintf(w, "%-8s %-16s %s\n", "ok", s.Name, s.Found)
				default:
					fmt.Fprintf(w, "%-8s %-16s %s\n%-8s %-16s → %s\n", "missing", s.Name, s.Missing, "", "", s.Fix)
				}
			}
			if asJSON {
				if err := printJSON(w, all); err != nil {
					return err
				}
			}
			if lacking {
				return exitError(exitFailure)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of what is looked at")
	c.Flags().BoolVar(&fix, "fix", false, "set up what is missing")
	return c
}
