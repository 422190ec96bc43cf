package main

import (
	"errors"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore/cluster"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/units"
)

func newTask() *cobra.Command {
	var file, memory, text string
	var stage, workers, round, element, merge int
	var probe bool
	c := &cobra.Command{
		Use:   "task --plan P [--stage S --tasks I..J] --memory SIZE",
		Short: "Run tasks of a plan that another process coordinates",
		Long: `Run tasks of a plan that another process coordinates, and write what they compute into the
staging folder that the plan lies in. compute --processes starts such workers by itself.

With --stage and --tasks it runs the tasks I to J-1 of the stage, both numbered from 0, prints one JSON object of
what was done, also where it fails, and exits. Without them it takes ranges of tasks as lines of JSON on standard input,
{"stage":0,"tasks":{"first":0,"end":8}}, and answers each with a line, until standard input ends.`,
		Example: `  gonbext task --plan .roots.npy.gonbext/plan --stage 0 --tasks 0..64 --memory 256MiB`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch changed := c.Flags().Changed; {
			case file != "" && probe:
				return cluster.Probe(c.Context(), file)
			case file != "" && changed("merge"):
				return cluster.Merge(c.Context(), file, merge)
			}
			if file == "" || memory == "" {
				return usagef("say with --plan which plan, and with --memory how many bytes this process may take")
			}
			budget, err := units.ParseSize(memory)
			if err != nil {
				return usagef("--memory: %w", err)
			}
			if workers < 1 {
				return usagef("--workers %d: give one or more", workers)
			}
			if c.Flags().Changed("element") {
				return cluster.Element(c.Context(), file, budget, workers, stage, round, element)
			}
			if c.Flags().Changed("stage") != c.Flags().Changed("tasks") {
				return usagef("--stage and --tasks belong together")
			}
			if !c.Flags().Changed("stage") {
				return host.Serve(c.Context(), file, budget, workers, os.Stdin, os.Stdout)
			}
			tasks, err := parseTasks(text)
			if err != nil {
				return err
			}
			return runTasks(c, file, budget, workers, stage, tasks)
		},
	}
	f := c.Flags()
	f.StringVar(&file, "plan", "", "the plan, in the staging folder of its output")
	f.StringVar(&memory, "memory", "", "bytes that this process may take, such as 512MiB")
	f.IntVar(&stage, "stage", 0, "the stage whose tasks are to be run, from 0")
	f.StringVar(&text, "tasks", "", "the tasks to be run, such as 0..64: the end is not among them")
	f.IntVar(&workers, "workers", machine.Cores(), "tasks that compute at once")
	f.IntVar(&element, "element", 0, "of a run on a cluster: the element of the round whose tasks are to be run")
	f.IntVar(&round, "round", 0, "of a run on a cluster: the round of the stage")
	f.IntVar(&merge, "merge", 0, "of a run on a cluster: complete this stage, and prepare the next")
	f.BoolVar(&probe, "probe", false, "of a run on a cluster: look for what all machines must see")
	for _, name := range []string{"element", "round", "merge", "probe"} {
		f.Lookup(name).Hidden = true
	}
	return c
}

// parseTasks reads a range such as 0..64.
func parseTasks(text string) (r host.Tasks, err error) {
	from, to, ok := strings.Cut(text, "..")
	first, err1 := strconv.ParseInt(from, 10, 64)
	end, err2 := strconv.ParseInt(to, 10, 64)
	if !ok || err1 != nil || err2 != nil || first < 0 || end <= first || end > math.MaxInt {
		return r, usagef("--tasks %q: give the first task and the one behind the last, as in 0..64", text)
	}
	return host.Tasks{First: int(first), End: int(end)}, nil
}

// runTasks runs one range of tasks, and prints what was done.
func runTasks(c *cobra.Command, file string, budget int64, workers, stage int, tasks host.Tasks) (err error) {
	w, err := host.NewWorker(file, budget, workers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	done, err := w.Run(c.Context(), stage, tasks)
	return errors.Join(err, printJSON(c.OutOrStdout(), w.Report(done, err)))
}
