package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

func newFits() *cobra.Command {
	var j job
	var to []string
	c := &cobra.Command{
		Use:   "fits EXPR NAME=PATH... --memory SIZE",
		Short: "Tell whether an expression can be computed within a budget: one sentence, and the exit status",
		Long: `Tell whether an expression can be computed within a budget of memory, in one sentence.

The exit status is 0 where it fits, 1 where it does not, and 2 where the command is wrong or something cannot be read.
Nothing is computed: of arrays the headers are read.

What it needs is the smallest budget that would do, of the whole process: under a memory limit of that size, as in a
container or a job of a cluster, and with --memory of as many bytes, gonbext compute finishes. With --processes it is of
all processes together. Files that compute writes to a tmpfs lie in memory and are part of it, as the sentence says.
"need" of gonbext compute --plan --json is the same number; gonbext/WORKFLOWS.md has rules for Snakemake and Nextflow. Of what has a length that only values know, such as
mask(x, x > 0), it is for the longest that there can be.`,
		Example: `  gonbext fits 'x - mean(x, 0)' x=acts.npy -o centred.zarr --memory 512MiB
  gonbext fits 'sort(x, 0)' x=acts.npy --memory 2GiB --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			err := j.fits(c, args, to)
			if _, told := errors.AsType[exitError](err); err != nil && !told {
				err = usageError{err}
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&j.memory, "memory", "", "the budget, such as 512MiB (default 70 % of what is free)")
	f.StringVar(&j.device, "device", "cpu", "cpu, cuda:0, or model:8GiB for a modelled GPU of that memory")
	f.StringArrayVarP(&to, "output", "o", nil, "array that would be written; NAME=PATH for each of several (default an npy file here, or printed)")
	j.layoutFlags(f)
	f.IntVar(&j.processes, "processes", 0, "worker processes that would share the budget")
	f.BoolVar(&j.asJSON, "json", false, "print one JSON object: fits, need, budget and the sentence")
	return c
}

// fitting is what fits prints as JSON. Sizes are bytes.
type fitting struct {
	Fits     bool   `json:"fits"`
	Need     int64  `json:"need"` // the smallest budget that would do, and the limit of a process with it
	Budget   int64  `json:"budget"`
	Sentence string `json:"sentence"`
}

func (j *job) fits(c *cobra.Command, args, to []string) error {
	definitions, err := host.Definitions(args[0])
	if err != nil {
		return failure(err)
	}
	opts, err := j.options(c)
	if err != nil {
		return err
	}
	names, err := openNames(args[1:], files(c))
	if err != nil {
		return failure(err)
	}
	most, err := leastOf(c.Context(), definitions, names, to, opts)
	if err != nil {
		return err
	}
	f := fitting{Need: most.Need}
	if f.Budget, _ = machine.Read().DefaultBudget(); c.Flags().Changed("memory") {
		f.Budget, _ = units.ParseSize(j.memory) // which options has read
	}
	f.Fits = f.Need <= f.Budget
	f.Sentence = f.sentence(most, j.processes)
	if j.asJSON {
		err = printJSON(c.OutOrStdout(), f)
	} else {
		_, err = fmt.Fprintln(c.OutOrStdout(), f.Sentence)
	}
	if err == nil && !f.Fits {
		return exitError(exitFailure)
	}
	return err
}

func (f *fitting) sentence(most *oocore.MemoryError, processes int) string {
	verdict := "fits within %s (%s): it needs %s (%s)"
	if !f.Fits {
		verdict = "does not fit within %s (%s): the smallest budget that would do is %s (%s)"
	}
	text := fmt.Sprintf("the run "+verdict, units.Bytes(f.Budget), units.Exact(f.Budget), units.Bytes(f.Need), units.Exact(f.Need))
	if processes > 0 {
		text += fmt.Sprintf(", of all processes together, %d workers and the one that starts them", processes)
	}
	if most.Holder != "" {
		text += fmt.Sprintf(", %s of it for %s", units.Bytes(most.Held), most.Holder)
	}
	return text
}

// least returns the error of a budget that is too small for what is planned, whose Need would do. Each plan has its
// options after its own. What was computed before is planned all the same, since it may not be there where the run is made.
func least(planned func(more ...oocore.Option) error) (most *oocore.MemoryError, err error) {
	for budget := int64(1); ; budget = most.Need {
		err := planned(oocore.Memory(strconv.FormatInt(budget, 10)), host.PlanOnly(), oocore.Fresh(), host.Cell(record.Unreported))
		small, ok := errors.AsType[*oocore.MemoryError](err)
		switch {
		case ok && (most == nil || small.Need > most.Need):
			most = small
		case most != nil: // what is wrong else is that this machine has no such budget, or that values are wanted
			return most, nil
		case err == nil:
			return nil, errors.New("nothing is computed: there is nothing to fit")
		default:
			return nil, err
		}
	}
}

// planOnly plans an expression, or definitions, as compute runs them, under options that have PlanOnly. The array of one
// expression without an output is planned into memory, and if it has more elements than that into an npy file.
func planOnly(ctx context.Context, definitions []host.Definition, names oocore.Names, to []string, opts []oocore.Option, inMemory int) error {
	alone := definitions[0]
	if alone.Name != "" {
		paths, err := namedOutputs(definitions, to)
		if err == nil {
			err = checkDefinitions(definitions, names, paths)
		}
		if err != nil {
			return err
		}
		outputs, err := evaluate(ctx, definitions, names, paths, opts)
		if err == nil {
			_, err = oocore.SaveAll(ctx, outputs, opts...)
		}
		return failure(err)
	}
	out, err := oneOutput(to)
	if err != nil {
		return err
	}
	evalOpts := opts
	if out != "" {
		evalOpts = append(opts[:len(opts):len(opts)], host.Target(out))
	}
	a := host.Eval(ctx, alone, names, evalOpts...)
	if err := a.Err(); err != nil {
		return failure(err)
	}
	if err := checkUsed(alone, names); err != nil {
		return err
	}
	switch {
	case out != "":
		_, err = a.Save(ctx, out, opts...)
	case a.Size() > inMemory:
		_, err = a.Save(ctx, "result.npy", opts...)
	default:
		_, err = collectResult(ctx, a, true, opts)
	}
	return failure(err)
}

// unplannedError is of a plan that follows from values.
type unplannedError struct {
	error
	need int64 // budget that would do, whatever the values are
}

func (e *unplannedError) Unwrap() error { return e.error }

// unplanned returns the error of definitions under --plan, with what they need where that is all that can be planned.
func (j *job) unplanned(ctx context.Context, definitions []host.Definition, names oocore.Names, to []string, opts []oocore.Option, err error) error {
	if !j.plan || !errors.Is(err, oocore.ErrPlanned) {
		return err
	}
	most, failed := leastOf(ctx, definitions, names, to, opts)
	if failed != nil {
		return err
	}
	return &unplannedError{fmt.Errorf("%w; whatever the values are, a budget of %s would do", err, units.Exact(most.Need)), most.Need}
}

// leastOf is least of definitions.
func leastOf(ctx context.Context, definitions []host.Definition, names oocore.Names, to []string, opts []oocore.Option) (*oocore.MemoryError, error) {
	return least(func(more ...oocore.Option) error {
		return planOnly(ctx, definitions, names, to, append(opts[:len(opts):len(opts)], more...), mostPrinted)
	})
}
