package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/units"
)

// nominalEnv tells a kernel that is started by check to plan cells only: the budget in
// bytes, and the workers.
const nominalEnv = "GONBEXT_CHECK"

func newCheck() *cobra.Command {
	k := checking{}
	c := &cobra.Command{
		Use:   "check NOTEBOOK|EXPR [NAME=PATH...] --against PLAN.json",
		Short: "Compare plans with those of a baseline: a test of memory that reads headers only",
		Long: `Compare the plans of an expression, or of a notebook's cells, with those of a baseline.

The exit status is 1 where a plan's peak of memory, its passes over the data or its bytes read and written have
grown, by however little; what has grown, and in which stage, is printed. Nothing is computed: of arrays the
headers are read. --write makes the baseline, a JSON file to be committed beside the code: of each plan, and of each
of its stages, the peak, the bytes read and written and the chunks, as integers in a fixed order.

Budget and workers are those of the baseline, whatever the machine has, and plans are those of a program that
holds nothing else. Of a notebook, the cells with %%memory or %%footprint are planned, as %%footprint does;
other cells run as they are, and a cell that needs values ends there. An expression without -o is planned with its
whole result in memory. Matrix products are the one thing whose peak
depends on the processor and on a BLAS library.`,
		Example: `  gonbext check 'x - mean(x, 0)' x=acts.npy -o centred.zarr --memory 512MiB --against plan.json --write
  gonbext check 'x - mean(x, 0)' x=acts.npy -o centred.zarr --against plan.json
  gonbext check lesson.ipynb --against lesson.plan.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return k.run(c, args) },
	}
	f := c.Flags()
	f.StringVar(&k.against, "against", "", "the `PLAN.json` of the baseline")
	f.BoolVar(&k.job.asJSON, "json", false, "print one JSON object: whether a plan grew, what changed, and the plans")
	f.BoolVar(&k.write, "write", false, "write the baseline anew")
	f.StringArrayVarP(&k.to, "output", "o", nil, "array that would be written; NAME=PATH for each of several")
	f.StringVar(&k.job.memory, "memory", "", "budget of a new baseline, such as 512MiB (default that of the one before, or 70 % of what is free)")
	f.IntVar(&k.job.workers, "workers", 0, "tasks that would compute at once, of a new baseline (default those of the one before, or one a core)")
	k.job.layoutFlags(f)
	return c
}

// checking is one call of check.
type checking struct {
	job     job
	to      []string
	against string
	write   bool
}

func (k *checking) run(c *cobra.Command, args []string) error {
	if k.against == "" {
		return usagef("say with --against PLAN.json which baseline to compare with, or to --write")
	}
	outputs := append(slices.Clone(k.to), paths(k.to)...) // of an expression, or of definitions
	if err := checkWritten("--against", k.against, slices.Concat(args, paths(args[1:]), outputs)...); err != nil {
		return err
	}
	before, err := k.baseline(c)
	if err != nil {
		return err
	}
	log, err := os.MkdirTemp("", "gonbext-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(log)
	if err := os.Setenv("GONBEXT_RUNS", log); err != nil { // plans are recorded there, and not among the user's runs
		return err
	}
	now := &baseline{Format: baselineFormat, Budget: before.Budget, Workers: before.Workers}
	if len(args) == 1 && strings.HasSuffix(args[0], ".ipynb") {
		err = k.notebook(c, args[0], now)
	} else {
		err = k.expression(c, args, now)
	}
	if err != nil {
		return err
	}
	if now.Plans, err = recorded(log); err != nil {
		return err
	}
	if len(now.Plans) == 0 {
		return fmt.Errorf("%s plans nothing: there is nothing to compare", args[0])
	}
	if k.write {
		if err := now.save(k.against); err != nil {
			return err
		}
		if k.job.asJSON {
			return printJSON(c.OutOrStdout(), map[string]any{"wrote": k.against, "plans": now.Plans})
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "wrote %s: %s\n", k.against, plural(len(now.Plans), "plan"))
		return err
	}
	var text strings.Builder
	grew, err := now.compare(&text, before)
	switch {
	case err != nil:
	case k.job.asJSON:
		err = printJSON(c.OutOrStdout(), map[string]any{"grew": grew, "changes": strings.Split(strings.TrimSpace(text.String()), "\n"), "plans": now.Plans})
	default:
		_, err = io.WriteString(c.OutOrStdout(), text.String())
	}
	if err == nil && grew {
		err = exitError(exitFailure)
	}
	return err
}

// baseline is what to compare with; with --write, its budget and workers only.
func (k *checking) baseline(c *cobra.Command) (*baseline, error) {
	given := &baseline{Workers: k.job.workers}
	if c.Flags().Changed("memory") {
		n, err := units.ParseSize(k.job.memory)
		if err != nil {
			return nil, usagef("--memory: %w", err)
		}
		given.Budget = n
	}
	if c.Flags().Changed("workers") && k.job.workers < 1 {
		return nil, usagef("--workers %d: give one or more", k.job.workers)
	}
	if !k.write {
		before, err := readBaseline(k.against)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("there is no baseline %s: --write makes it", k.against)
		case err != nil:
			return nil, err
		case given.Budget != 0 && given.Budget != before.Budget:
			return nil, usagef("--memory is %s, and the baseline is of %s: leave it out, or --write the baseline anew", units.Bytes(given.Budget), units.Bytes(before.Budget))
		case given.Workers != 0 && given.Workers != before.Workers:
			return nil, usagef("--workers is %d, and the baseline is of %d: leave it out, or --write the baseline anew", given.Workers, before.Workers)
		}
		return before, nil
	}
	if before, err := readBaseline(k.against); err == nil { // or plans of two machines would be compared
		given.Budget, given.Workers = cmp.Or(given.Budget, before.Budget), cmp.Or(given.Workers, before.Workers)
	}
	if given.Budget == 0 {
		given.Budget, _ = machine.Read().DefaultBudget()
	}
	if given.Workers == 0 {
		given.Workers = machine.Cores()
	}
	return given, nil
}

// notebook plans a notebook's cells.
func (k *checking) notebook(c *cobra.Command, path string, now *baseline) error {
	if len(k.to) > 0 || k.job.chunks != "" || k.job.shards != "" || k.job.codec != "" {
		return usagef("-o, --chunks, --shards and --codec are of an expression: a notebook's cells say their own")
	}
	if err := checkNotebook(path); err != nil {
		return err
	}
	if err := os.Setenv(nominalEnv, fmt.Sprintf("%d %d", now.Budget, now.Workers)); err != nil {
		return err
	}
	return execute(c.Context(), io.Discard, path)
}

// expression plans an expression, or definitions.
func (k *checking) expression(c *cobra.Command, args []string, now *baseline) error {
	j := &k.job
	j.plan = true
	definitions, err := host.Definitions(args[0])
	if err != nil {
		return failure(err)
	}
	names, err := openNames(args[1:], files(c))
	if err != nil {
		return failure(err)
	}
	memory, workers := j.memory, j.workers
	j.memory, j.workers = strconv.FormatInt(now.Budget, 10), now.Workers // also where flags were given as other texts
	defer func() { j.memory, j.workers = memory, workers }()
	opts, err := j.options(c)
	if err != nil {
		return err
	}
	opts = append(opts, oocore.Memory(j.memory), oocore.Workers(j.workers), host.Nominal())
	err = planOnly(c.Context(), definitions, names, k.to, opts, math.MaxInt)
	if errors.Is(err, oocore.ErrPlanned) {
		return nil
	}
	return err
}

func plural(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return units.Count(int64(n)) + " " + what + "s"
}
