package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/magic"
	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/gonbext/internal/setup"
	"github.com/gonbext/gonbext/oocore/record"
)

func newKernel() *cobra.Command {
	return &cobra.Command{
		Use:     "kernel CONNECTION_FILE",
		Short:   "Be a Jupyter kernel; Jupyter calls this",
		Example: "  gonbext install          lets Jupyter call it",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			tools, err := setup.FindTools()
			if err != nil {
				return err
			}
			session := magic.NewSession()
			if budget, workers, ok := strings.Cut(os.Getenv(nominalEnv), " "); ok {
				session.PlanOnly(budget, workers)
			}
			var magics relay.Rewriter = session
			env := tools.Env(os.Environ())
			source, err := setup.Source()
			if err != nil {
				magics = sourceless{magics, err}
				env = append(env, "GOWORK=off") // there is no workspace, but for one above the folder of temporary files
			} else {
				session.ReadAPI(source)
			}
			// Cells write their records where the kernel looks.
			runs, err := record.Dir()
			if errors.Is(err, record.ErrOff) { // reports are drawn from records, which end with the kernel
				if runs, err = os.MkdirTemp("", "gonbext-runs-"); err == nil {
					defer os.RemoveAll(runs)
				}
			}
			if err != nil {
				return err
			}
			if err := os.Setenv("GONBEXT_RUNS", runs); err != nil {
				return err
			}
			var library relay.Library
			watched := relay.NewRuns(runs, args[0], &library)
			return relay.Run(context.WithoutCancel(c.Context()), relay.Options{
				Connection: args[0],
				// GoNB's HTML of a compile error is for eyes only; raw ones also
				// reach programs that run notebooks.
				GoNB:    []string{tools.GoNB, "-raw_error=true"},
				Env:     env,
				Source:  source,
				Magic:   magics,
				Watch:   watched.Watch,
				Notice:  func() string { return watched.CutOff(session.Notebook()) },
				Library: &library,
			})
		},
	}
}

// sourceless runs plain cells, and says why those with magics cannot run.
type sourceless struct {
	relay.Rewriter
	err error
}

func (s sourceless) Rewrite(code string) (relay.Cell, error) {
	cell, err := s.Rewriter.Rewrite(code)
	if err == nil && cell.Watch {
		return relay.Cell{}, s.err
	}
	return cell, err
}
