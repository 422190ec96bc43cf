// Command gonbext computes on arrays larger than memory from the command line, and is
// the Jupyter kernel whose notebooks show where the memory goes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/adapters/images" // the command takes pictures
	_ "github.com/gonbext/gonbext/oocore/cloud"           // paths of object stores
	"github.com/gonbext/gonbext/oocore/cluster"
	_ "github.com/gonbext/gonbext/oocore/decomp" // and decompositions in expressions
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/units"
)

// commands are gonbext's, in the order of its help.
var commands = []func() *cobra.Command{
	newLab,
	newRun,
	newInfo,
	newFootprint,
	newChunks,
	newConvert,
	newMerge,
	newCompute,
	newFits,
	newVerify,
	newWhy,
	newCheck,
	newClean,
	newDoctor,
	newInstall,
	newUninstall,
	newKernel,
	newTask, newJobs,
	newReport,
	newDraw,
	newCompletion, newMan,
}

// quiet leaves progress and summaries out.
var quiet bool

// began is when the command was started.
var began = time.Now()

// Exit statuses.
const (
	exitFailure = 1
	exitUsage   = 2
	exitFinal   = 3 // of a cluster's job that would fail again in the same way
)

// usageError is a mistake in how the command was called: flags, sizes, syntax.
type usageError struct{ error }

// usagef makes an error that ends the command with exit status 2.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// interruptedError is of what the user has ended.
type interruptedError struct{ error }

func interruptedf(format string, args ...any) error {
	return interruptedError{fmt.Errorf(format, args...)}
}

// printedError is one that the command's JSON object has told already.
type printedError struct{ error }

// exitError ends the command with an exit status where all has been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() {
	if again, err := leavePresentFolder(); err == nil && again {
		startAgain()
	}
	collectWithin(machine.Read())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	got := make(chan os.Signal, 1) // the first of them
	signal.Notify(got, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // which writes report
	root := newRoot()
	root.SetOut(plain{os.Stdout})
	root.SetErr(plain{os.Stderr})
	c, err := root.ExecuteContextC(ctx)
	stop()
	forgetRecords()
	const signalled = 128 // and the signal's number, as shells have it
	if standardOutput.broken.Load() {
		breakPipe()
		os.Exit(signalled + int(syscall.SIGPIPE))
	}
	exit := status(c, err)
	select {
	case s := <-got:
		if s, ok := s.(syscall.Signal); ok && err != nil {
			exit = signalled + int(s)
		}
	default:
	}
	os.Exit(exit)
}

// collectWithin makes Go's collector keep the process within what it may take altogether: headers of
// files and lists of arrays would else leave as much garbage again. Runs lower the limit to their budgets.
func collectWithin(limits machine.Limits) {
	const other = 8 << 20 // than Go's heap: the kernel's share, and pages of the program
	if free, why := limits.Headroom(); why != "" {
		debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), max(free-other, other)))
	}
}

// status prints err in one line, and as an object where the command is to print JSON. It
// returns the exit status that it means.
func status(c *cobra.Command, err error) int {
	var usage usageError
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	}
	fmt.Fprintln(os.Stderr, "gonbext:", units.Line(strings.ReplaceAll(errorText(err), "\n", "; ")))
	if printsJSON(c) {
		printFailure(c.OutOrStdout(), err)
	}
	if errors.As(err, &usage) {
		return exitUsage
	}
	if errors.As(err, new(*cluster.FinalError)) {
		return exitFinal
	}
	return exitFailure
}

// errorText is what an error says to who calls the command, which may be other than to a Go program.
func errorText(err error) string {
	var other interface {
		error
		CommandText() string
	}
	if errors.As(err, &other) {
		return strings.ReplaceAll(err.Error(), other.Error(), other.CommandText())
	}
	return err.Error()
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "gonbext",
		Short: "Arrays larger than memory, in Go notebooks, with memory that you can see",
		Example: `  gonbext lab                        open the lessons in JupyterLab
  gonbext run notebooks/01-beyond-memory.ipynb`,
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				return usagef("unknown command %q; the nearest is %s", args[0], strings.Join(near, ", "))
			}
			return usagef("unknown command %q; see gonbext --help", args[0])
		},
	}
	root.Version = version()
	root.SetVersionTemplate("gonbext {{.Version}}\n")
	root.PersistentFlags().BoolVarP(&quiet, "quiet", "q", false, "print results, warnings and errors only: no progress, no summary")
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		hint := ""
		if c.Name() == "compute" && strings.HasPrefix(err.Error(), "unknown shorthand flag") {
			hint = "; an expression that begins with - stands in parentheses, as in (-x)"
		}
		if strings.Contains(err.Error(), "'?' in -?") {
			hint = "; what a pipe holds stands behind --, as in -- '-?shape=4x5&dtype=float32'"
		}
		return usagef("%s%s; see %s --help", flagError(err), hint, c.CommandPath())
	})
	for _, command := range commands {
		c := command()
		c.Args = usageArgs(c.Args)
		if c.ValidArgs == nil {
			c.ValidArgsFunction = completeWords
		}
		root.AddCommand(c)
	}
	return root
}

// flagError says in a line of bounded length what is wrong with a flag.
func flagError(err error) string {
	text := err.Error()
	if value, ok := errors.AsType[*strconv.NumError](err); ok {
		wants := "give a whole number"
		if value.Func == "ParseBool" {
			wants = "give true or false"
		}
		text = strings.TrimSuffix(text, value.Error()) + wants
	}
	const most = 200
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

// usageArgs makes a wrong number of arguments wrong usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		check = cobra.NoArgs
	}
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usagef("%w; see %s --help", err, c.CommandPath())
		}
		return nil
	}
}

// failureFigures are what --json prints of a command that fails.
type failureFigures struct {
	Status string `json:"status"` // failed, cancelled
	Error  string `json:"error"`
	Need   int64  `json:"need,omitempty"`  // bytes: the smallest budget that would do; of a plan that cannot be made, that of the run
	Limit  int64  `json:"limit,omitempty"` // bytes of the budget that is too small
}

// printsJSON reports whether a command was asked for JSON, also where another flag before
// that was wrong.
func printsJSON(c *cobra.Command) bool {
	flag := c.Flags().Lookup("json")
	return flag != nil && (flag.Value.String() == "true" || slices.Contains(os.Args[1:], "--json"))
}

// printFailure writes an error as one JSON object, unless it has been told.
func printFailure(w io.Writer, err error) {
	if _, told := errors.AsType[printedError](err); told {
		return
	}
	f := failureFigures{Status: oocore.StatusFailed, Error: errorText(err)}
	if _, ended := errors.AsType[interruptedError](err); ended {
		f.Status = oocore.StatusCancelled
	}
	if small, ok := errors.AsType[*oocore.MemoryError](err); ok {
		f.Need, f.Limit = small.Need, small.Limit
	}
	if plan, ok := errors.AsType[*unplannedError](err); ok {
		f.Need = plan.need
	}
	_ = printJSON(w, f) // which leaves the line on stderr
}
