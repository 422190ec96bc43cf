package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/carry"
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
			carried, err := carriedFolder(runs)
			if err != nil {
				return err
			}
			defer os.RemoveAll(carried)
			session.CarryIn(carried)
			env = append(env, carry.Folder+"="+carried)
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

// carriedFolder makes the folder of a kernel's values beside the run log, and removes those of kernels that were
// killed.
func carriedFolder(runs string) (string, error) {
	const prefix = ".carried-"
	if err := os.MkdirAll(runs, 0o700); err != nil {
		return "", err
	}
	left, _ := filepath.Glob(filepath.Join(runs, prefix+"*-*"))
	for _, folder := range left {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), prefix), "-")
		if n, err := strconv.Atoi(pid); err == nil {
			if p, err := os.FindProcess(n); err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
				_ = os.RemoveAll(folder)
			}
		}
	}
	return os.MkdirTemp(runs, fmt.Sprintf("%s%d-", prefix, os.Getpid()))
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
