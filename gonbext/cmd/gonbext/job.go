package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/gonbext/internal/cards"
	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/gonbext/internal/setup"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/adapters/arrow"
	"github.com/gonbext/gonbext/oocore/adapters/csv"
	"github.com/gonbext/gonbext/oocore/cluster"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// job is one run of the command: how it is to be done, and what it tells of it.
type job struct {
	memory, device        string
	chunks, shards, codec string
	region                string
	axis                  string // to append along, where appends is set: an index or a name
	appends               bool   // to the output, which is there
	dims, fill            string
	attributes            []string // KEY=JSON
	workers, processes    int
	fresh, plan, explain  bool
	rates                 string // path of a rate card
	card                  *rateCard
	asked                 func() []record.Traffic // what object stores were asked for; nil where nobody counts
	on                    string                  // a batch system; "" for this machine
	cluster               cluster.Options
	detached              bool   // the run goes on
	report                string // path of the page
	receipt               string // path of a receipt for others
	asJSON                bool
	noClobber             bool
	pipes

	need       int64            // budget of a plan whose own runs are not planned; 0 where they are
	ran        oocore.RunReport // the last run
	warned     map[string]bool  // warnings that were printed
	id         string           // by which the run's record is found
	expression string           // that it computes, where it is one
}

// flags are those of every command that runs.
func (j *job) flags(c *cobra.Command) {
	f := c.Flags()
	c.PreRun = func(*cobra.Command, []string) { // for inputs that are opened before options checks it
		if n, err := units.ParseSize(j.memory); err == nil {
			host.LimitOpening(n)
		}
	}
	f.StringVar(&j.memory, "memory", "", "bytes that the process may take, such as 512MiB (default 70 % of what is free)")
	j.layoutFlags(f)
	f.StringVar(&j.region, "region", "", "write into this part of a stored output, such as 1000:2000")
	f.StringVar(&j.axis, "append", "", "append along this axis, an index or a dimension's name, to a stored output, which is a Zarr array")
	f.StringVar(&j.dims, "dims", "", "names of the output's dimensions, such as time,y,x (default those of the inputs)")
	f.StringArrayVar(&j.attributes, "attr", nil, "an attribute of the output as KEY=JSON, such as units='\"K\"'; may be given again")
	f.StringVar(&j.fill, "fill-value", "", "value that marks missing elements of the output, such as -9999 or NaN (default that of a copied array)")
	f.IntVar(&j.workers, "workers", 0, "tasks that compute at once (default one a core)")
	f.IntVar(&j.processes, "processes", 0, "run the tasks in this many worker processes, which share the budget (default in this one)")
	f.StringVar(&j.on, "on", "", "run the tasks on a cluster, slurm, gridengine or dask://HOST:PORT; --memory is then the budget of one worker, --processes how many run at once (default 8), --workers the cores of each")
	f.StringVar(&j.cluster.Partition, "partition", "", "with --on: the partition or queue")
	f.StringVar(&j.cluster.Account, "account", "", "with --on: the account or project")
	f.StringVar(&j.cluster.Time, "time", "", "with --on: the time limit of a job, as the cluster writes it")
	f.StringArrayVar(&j.cluster.Engine, "engine", nil, "with --on: a further option of the command that submits, such as --qos=low; may be given again")
	f.DurationVar(&j.cluster.ElementTime, "element-time", 0, "with --on: the least predicted work of one element of an array of jobs (default 30s, on Dask 1s or less)")
	f.BoolVar(&j.cluster.Detach, "detach", false, "with --on: return when all is submitted")
	f.BoolVar(&j.noClobber, "no-clobber", false, "end with an error where the output, or the file of --report, is there already")
	f.BoolVar(&j.fresh, "fresh", false, "compute anew, also where the same result, or a part of it, was saved before")
	f.BoolVar(&j.plan, "plan", false, "show the plan and run nothing")
	f.StringVar(&j.rates, "rates", "", "with --plan: prices of requests and bytes, as the command's help shows them, for what the plan would cost")
	f.BoolVar(&j.explain, "explain", false, "show the plan's stages with what each of them took, when the run has ended")
	f.StringVar(&j.receipt, "receipt", "", "write the output's receipt, with digests by SHA-256, also to this file, for others: verify and why take it")
	f.StringVar(&j.report, "report", "", "write a page with the run's charts to this file")
	f.BoolVar(&j.asJSON, "json", false, "print one JSON object: status, value and figures of the run, or its error")
}

// layoutFlags say how an output is stored.
func (j *job) layoutFlags(f *pflag.FlagSet) {
	f.StringVar(&j.chunks, "chunks", "", "chunk shape of the output, such as 1024x512")
	f.StringVar(&j.shards, "shards", "", "shape of the groups of chunks that are stored as one object, such as 16384x512")
	f.StringVar(&j.codec, "codec", "", "compression of the output: none, zstd:3, gzip:5, blosc:lz4:5:shuffle, q4_k_m, q8_0 and llama.cpp's other recipes in a GGUF file (default the format's own)")
}

// options are the flags as oocore has them. An error is wrong usage, but where
// the flags ask for what this machine or build has not.
func (j *job) options(c *cobra.Command) ([]oocore.Option, error) {
	if j.warned == nil {
		j.warned = map[string]bool{}
	}
	if j.id == "" { // an expression may run something before what it stands for is computed
		j.id = record.CommandCell + rand.Text()
		if j.on == "" {
			keepRecords()
		}
	}
	opts := []oocore.Option{host.Cell(j.id), oocore.Report(&j.ran), host.Warn(func(w string) {
		if !j.warned[w] {
			j.warned[w] = true
			fmt.Fprintln(c.ErrOrStderr(), "gonbext: warning:", units.Line(w))
		}
	})}
	if j.in != nil {
		if j.on != "" {
			return nil, usagef("--on %s: other machines cannot read this one's standard input: save it to a file first", j.on)
		}
		opts = append(opts, host.Inspect(func(p *host.Plan) error { return j.inspect(p, j.plan) }))
	}
	if j.pipes.out != "" && (j.chunks != "" || j.processes > 0 || j.on != "") {
		return nil, usagef("-o -: a pipe has no chunks, and is written by one process: leave --chunks, --processes and --on out")
	}
	if j.noClobber {
		if j.region != "" || c.Flags().Changed("append") {
			return nil, usagef("--no-clobber: --region and --append change an output that is there")
		}
		opts = append(opts, host.NoClobber())
	}
	if j.appends = c.Flags().Changed("append"); j.appends && (j.region != "" || j.chunks != "" || j.shards != "" || j.codec != "") {
		return nil, usagef("--append: the stored array has chunks, shards and a codec of its own, and grows as a whole: leave --region, --chunks, --shards and --codec out")
	}
	host.LimitOpening(0)
	if c.Flags().Changed("memory") {
		n, err := units.ParseSize(j.memory)
		if err != nil {
			return nil, usagef("--memory: %w", err)
		}
		host.LimitOpening(n)
		if strings.Trim(j.memory, "0123456789") == "" && n < 1<<20 { // no budget at all
			return nil, usagef("--memory: %s is %s, did you mean %sMiB?", j.memory, units.Exact(n), j.memory)
		}
		opts = append(opts, oocore.Memory(j.memory))
	}
	layout, err := j.layout()
	if err != nil {
		return nil, err
	}
	opts = append(opts, layout...)
	if c.Flags().Changed("workers") {
		if j.workers < 1 {
			return nil, usagef("--workers %d: give one or more", j.workers)
		}
		opts = append(opts, oocore.Workers(j.workers))
	}
	if c.Flags().Changed("processes") {
		if j.processes < 1 {
			return nil, usagef("--processes %d: give one or more", j.processes)
		}
		if j.device != "" && j.device != "cpu" {
			return nil, usagef("--processes and --device: worker processes compute on the CPU")
		}
		opts = append(opts, oocore.Processes(j.processes))
	}
	if j.device != "" && j.device != "cpu" {
		device, err := cuda.Open(j.device)
		if errors.Is(err, cuda.ErrNoDriver) {
			return nil, err
		}
		if err != nil {
			return nil, usagef("--device %s: %w", j.device, err)
		}
		opts = append(opts, oocore.On(device))
	}
	if j.on != "" {
		j.cluster.Ask = true
		j.cluster.Tell = func(line string) { fmt.Fprintln(c.ErrOrStderr(), line) }
		on, err := cluster.On(j.on, j.cluster)
		if err != nil {
			return nil, usagef("--on: %w", err)
		}
		if !c.Flags().Changed("memory") {
			return nil, usagef("--on %s: say with --memory what one worker may take, such as 2GiB", j.on)
		}
		opts = append(opts, on)
	} else {
		for _, flag := range []string{"partition", "account", "time", "engine", "element-time", "detach"} {
			if c.Flags().Changed(flag) {
				return nil, usagef("--%s: this is for a cluster, which --on names", flag)
			}
		}
	}
	if j.fresh {
		opts = append(opts, oocore.Fresh())
	}
	receipt, err := receiptOptions(c, j.receipt)
	if err != nil {
		return nil, err
	}
	opts = append(opts, receipt...)
	if j.plan {
		opts = append(opts, host.PlanOnly())
	}
	return opts, nil
}

// layout are the flags that say how the output lies.
func (j *job) layout() (opts []oocore.Option, err error) {
	chunks, err := parseLengths("--chunks", j.chunks)
	if err != nil {
		return nil, err
	}
	if chunks != nil {
		opts = append(opts, oocore.Chunks(chunks...))
	}
	shards, err := parseLengths("--shards", j.shards)
	if err != nil {
		return nil, err
	}
	if shards != nil {
		opts = append(opts, oocore.Shards(shards...))
	}
	if j.codec != "" {
		// Whether the output can have it is the format's to say; what is no codec at
		// all is wrong in any.
		if err := host.CheckCodec(j.codec); err != nil {
			return nil, usagef("--codec: %w", err)
		}
		opts = append(opts, oocore.Codec(j.codec))
	}
	details, err := j.details()
	if err != nil {
		return nil, err
	}
	opts = append(opts, details...)
	if j.region != "" {
		if err := checkRegion(j.region); err != nil {
			return nil, usagef("--region: %w", err)
		}
		opts = append(opts, oocore.Region(j.region))
	}
	return opts, nil
}

// details are the flags that give the output's dimension names, attributes and fill value.
func (j *job) details() (opts []oocore.Option, err error) {
	if j.dims != "" {
		opts = append(opts, oocore.DimNames(strings.Split(j.dims, ",")...))
	}
	if j.fill != "" {
		opts = append(opts, oocore.FillValue(j.fill))
	}
	if len(j.attributes) == 0 {
		return opts, nil
	}
	all := map[string]any{}
	for _, text := range j.attributes {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, usagef("--attr %s: write KEY=JSON, as in units='\"K\"' or levels=[1,2]", text)
		}
		if _, twice := all[key]; twice {
			return nil, usagef("--attr %s is given twice", key)
		}
		if !json.Valid([]byte(value)) {
			return nil, usagef("--attr %s: %s is not JSON: put quotes around text, as in %s='\"%s\"'", key, value, key, value)
		}
		all[key] = json.RawMessage(value)
	}
	return append(opts, oocore.Attributes(all)), nil
}

// checkRegion rejects what is a region of no array.
func checkRegion(spec string) error {
	v, err := host.ParseSlice(spec, slices.Repeat([]int{math.MaxInt32}, strings.Count(spec, ",")+1))
	if err == nil && slices.ContainsFunc(v.Step, func(step int) bool { return step != 1 }) {
		err = fmt.Errorf("%q has a step other than 1", spec)
	}
	return err
}

// parseLengths reads the shape of chunks or shards; "" is none.
func parseLengths(flag, text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	lengths, err := host.ParseShape(text)
	if err == nil && (len(lengths) == 0 || slices.Min(lengths) < 1) {
		err = fmt.Errorf("%q is not a chunk shape: each length is at least 1, as in 1024x512", text)
	}
	if err != nil {
		return nil, usagef("%s: %w", flag, err)
	}
	return lengths, nil
}

// do computes a into the file at path, or as text where path is empty, and tells
// of it on the command's outputs.
func (j *job) do(c *cobra.Command, a *oocore.Array, path string) error {
	opts, err := j.options(c)
	if err != nil {
		return err
	}
	if j.appends && path == "" {
		return usagef("--append: say with -o what to append to")
	}
	value, err := j.compute(c, a, path, opts)
	if err != nil {
		return err
	}
	if j.plan && j.on != "" && !j.asJSON {
		p, err := a.Plan(path, opts...)
		if err == nil {
			err = cluster.PrintScaling(c.OutOrStdout(), j.on, j.cluster, p)
		}
		if err != nil {
			return err
		}
	}
	return j.tell(c.OutOrStdout(), c.ErrOrStderr(), value)
}

// compute shows the progress of a while it is computed. value is the result
// where there is no path.
func (j *job) compute(c *cobra.Command, a *oocore.Array, path string, opts []oocore.Option) (value *result, err error) {
	defer showProgress(c.ErrOrStderr(), j.id)()
	ctx := c.Context()
	if j.plan && !j.appends && j.device != "" && j.device != "cpu" {
		opts = append(opts[:len(opts):len(opts)], compareCards(a, path, opts))
	}
	switch {
	case j.appends:
		var axis int
		if axis, err = j.appendAxis(ctx, path); err == nil {
			_, err = a.Append(ctx, path, axis, opts...)
		}
	case strings.EqualFold(filepath.Ext(path), ".csv"):
		err = csv.Write(ctx, a, path, opts...)
	case strings.EqualFold(filepath.Ext(path), ".parquet"):
		err = arrow.Write(ctx, a, path, opts...)
	case path != "":
		_, err = a.Save(ctx, path, opts...)
	case j.pipes.out != "":
		err = j.write(ctx, a, opts)
	default:
		value, err = collectResult(ctx, a, j.asJSON, opts)
	}
	return value, j.outcome(c, err)
}

// outcome returns the command's error for a run's. A run that was planned only is as it should be, and so is
// one that goes on by itself, of which the user is told.
func (j *job) outcome(c *cobra.Command, err error) error {
	switch {
	case errors.Is(err, oocore.ErrPlanned):
		return nil
	case errors.Is(err, errSpool):
		return err
	case !errors.Is(err, cluster.ErrDetached):
		return failure(err)
	case c.Context().Err() != nil:
		return interruptedf("interrupted: %w", err)
	}
	j.cluster.Tell(err.Error())
	j.detached = true
	return nil
}

// appendAxis is the axis of the output that --append says.
func (j *job) appendAxis(ctx context.Context, path string) (int, error) {
	if axis, err := strconv.Atoi(j.axis); err == nil {
		return axis, nil
	}
	return oocore.OpenContext(ctx, path).Axis(j.axis)
}

// compareCards plans for the GPUs that one does not have, too. What cannot be planned is
// the plan's own to say.
func compareCards(a *oocore.Array, path string, opts []oocore.Option) oocore.Option {
	planFor := func(more ...oocore.Option) (*host.Plan, error) {
		p, err := a.Plan(path, slices.Concat(opts, more)...)
		if err != nil {
			return nil, err
		}
		return host.Sized(p), nil
	}
	p, err := planFor()
	if err != nil {
		return host.PlanOnly()
	}
	return host.PlanOnly(cards.Rows(p.Device, planFor)...)
}

// failure is why an expression was not computed.
func failure(err error) error {
	if errors.Is(err, context.Canceled) {
		return interrupted(err)
	}
	return wrongUsage(err)
}

// interrupted says what a run leaves that the user has ended.
func interrupted(err error) error {
	if resumable, ok := errors.AsType[*host.ResumableError](err); ok {
		return interruptedf("interrupted: the output is as it was, and %s: the same command again resumes there", resumable.Saved())
	}
	return interruptedf("interrupted: nothing was written")
}

// wrongUsage marks what is wrong with the text of an expression or an option.
func wrongUsage(err error) error {
	var text *host.ExpressionError
	var option *oocore.OptionError
	if errors.As(err, &text) || errors.As(err, &option) {
		if rejected, ok := err.(*oocore.Error); ok {
			err = rejected.Err // of Eval, which names the line of a program
		}
		return usageError{err}
	}
	return err
}

// tell says what the run did, from its record. A run without one is done all the same:
// its value is printed, and a warning says what is missing. Of one that goes on there is nothing yet.
func (j *job) tell(w, warnings io.Writer, value *result) error {
	if j.detached {
		return nil
	}
	runs, err := runsOf(j.id, began.Add(-time.Minute)) // a clock may be set back meanwhile
	if err == nil && (len(runs) == 0 || j.asJSON && !ended(runs)) {
		err = errNoRecord
	}
	if err != nil && j.plan {
		return err
	}
	if err != nil {
		fmt.Fprintln(warnings, "gonbext: done, but there are no figures or charts of it:", err)
		runs = nil
	}
	switch {
	case j.report == "":
		err = nil
	case runs != nil:
		err = j.writeReport(runs)
	default:
		err = fmt.Errorf("the report cannot be written: %w", err)
	}
	switch {
	case j.asJSON:
		f := figuresOf(runs, &j.ran)
		j.bill(f, runs)
		f.Value, f.Need = value, max(f.Need, j.need)
		if j.in != nil {
			f.Stdin = &stdinFigures{j.in.Bytes(), j.spools}
		}
		if err != nil {
			f.Error = err.Error()
			return errors.Join(printedError{err}, printJSON(w, f))
		}
		return printJSON(w, f)
	case value != nil:
		_, failed := fmt.Fprintln(w, value)
		return errors.Join(err, failed)
	case err != nil:
		return err
	}
	if text := j.say(); text != "" && j.plan {
		fmt.Fprintln(w, text)
	}
	if j.card != nil {
		f := figures{}
		if j.bill(&f, runs); f.Cost != nil {
			defer fmt.Fprintln(w, f.Cost)
		}
	}
	for _, r := range runs {
		if quiet && !j.plan && !j.explain {
			break
		}
		out, err := chart.Report([]*record.Run{r}, chart.Options{Mode: chart.None})
		if err != nil {
			return err
		}
		text := strings.TrimRight(out.Text, "\n")
		if !j.plan {
			text, _, _ = strings.Cut(text, "\n\n") // what was done, and the verdict
		}
		if j.explain && !j.plan {
			text += "\n\n" + strings.TrimRight(record.Tree(r.Explain()), "\n")
			for _, w := range r.Header.Warnings {
				text += "\nwarning: " + units.Line(w)
			}
		}
		if _, err = fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

// checkReport rejects a report that could not be written after all has been computed, or that
// would replace an input or output.
func (j *job) checkReport(arrays ...string) error {
	if j.noClobber && j.report != "" {
		if _, err := os.Lstat(j.report); err == nil {
			return fmt.Errorf("--report %s: %w, and is not to be replaced", j.report, fs.ErrExist)
		}
	}
	return checkWritten("--report", j.report, arrays...)
}

// checkWritten rejects a file that a flag names and that could not be written, or would be
// written over an array; "" is no file.
func checkWritten(flag, path string, arrays ...string) error {
	if path == "" {
		return nil
	}
	if st, err := os.Stat(filepath.Dir(path)); err != nil || !st.IsDir() {
		return usagef("%s %s: there is no folder %s", flag, path, filepath.Dir(path))
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return usagef("%s %s: this is a folder, and it takes a file", flag, path)
	} else if err == nil && !st.Mode().IsRegular() {
		return usagef("%s %s: this is not a regular file", flag, path)
	}
	for _, array := range arrays {
		if host.Holds(array, path) {
			return usagef("%s %s: this is, or lies in, %s, which the command reads or writes: take another file", flag, path, array)
		}
	}
	return nil
}

// paths are those of NAME=PATH arguments.
func paths(args []string) (all []string) {
	for _, arg := range args {
		if _, path, ok := strings.Cut(arg, "="); ok {
			all = append(all, stacked(path))
		}
	}
	return all
}

func (j *job) writeReport(runs []*record.Run) error {
	title := "gonbext"
	switch {
	case len(runs) == 1:
		title = runs[0].Header.Title
	case j.expression != "": // of which what comes last has only a part
		title = j.expression
	}
	page, err := chart.Standalone(title, runs)
	if err != nil {
		return err
	}
	if err := writeWhole(j.report, page); err != nil {
		return fmt.Errorf("the report cannot be written: %w", err)
	}
	return nil
}

// writeWhole writes a file, whole or not at all. A file that a link names is written in its place, and the link stays.
func writeWhole(path string, data []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	} else if target, err := os.Readlink(path); err == nil { // of a file that is not there
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return setup.ReplaceFile(path, data, 0o644)
}

// temporaryRecords is the run log of a command that has no other; "" for none.
var temporaryRecords string

// keepRecords makes a run log of this command's own where the user has none, or none that can be written, or another user could have
// written what it says of outputs: summaries and reports are made of records.
func keepRecords() {
	if dir, err := record.Dir(); err == nil && os.MkdirAll(dir, 0o700) == nil && (os.Getenv("GONBEXT_RUNS") != "" || !setup.Shared(dir)) {
		if f, err := os.CreateTemp(dir, ".try-"); err == nil {
			_ = errors.Join(f.Close(), os.Remove(f.Name())) // which anyone may remove
			return
		}
	}
	dir, err := os.MkdirTemp("", "gonbext-runs-")
	if err == nil && os.Setenv("GONBEXT_RUNS", dir) == nil {
		temporaryRecords = dir
	}
}

// forgetRecords removes a temporary run log.
func forgetRecords() {
	if temporaryRecords != "" {
		_ = os.RemoveAll(temporaryRecords) // what cannot be removed is little
	}
}
