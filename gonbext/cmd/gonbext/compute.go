package main

import (
	"errors"
	"fmt"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
)

func newCompute() *cobra.Command {
	var j job
	var to []string
	var list, whole bool
	var file string
	var e each
	c := &cobra.Command{
		Use:   "compute EXPR NAME=PATH... -o DST",
		Short: "Compute an expression of stored arrays within a budget",
		Long: `Compute an expression of stored arrays within a budget of memory.

EXPR is written in Go's expression syntax over NumPy's names, with positional axes: tanh(sqrt(b)*2 + exp(-b)),
mean(x, 0), matmul(a, b), astype(x, "float16"), slice(x, "0:100, ::2"), where(x > 0, x, 0). An axis may
be named where the array has dimension names: mean(x, "time"). A result of at most 1000 elements is printed where no
-o is given.

Several results of one run are definitions, each of which can use those before it, and have an -o NAME=PATH each.
What they share is computed once.

With --each NAME=PATH are collections, and EXPR, or the last of several definitions, is computed of the arrays of each
name, in one run into one collection. NAME=PATH#PATTERN says with one * which arrays go together: those for which it stands for the same. Arrays of
the first collection without a counterpart, or that --only and --except leave out, are copied.

A PATH with a * is a pattern: its files, in the order of their names, are stacked along a new first axis, or another
with '?axis=-1' behind it; '?axis=time' names the first. '?concat=time' or '?concat=0' joins them along an axis that
they have, in the order of its labels: 'months/*.nc?concat=time#tas'.

The PATH - is standard input: an npy file, or with -?shape=4x5&dtype=float32 bare elements. -o - writes npy to standard
output, and -o '-?shape=4x5&dtype=float32' bare elements; all text goes to standard error then. What is read once, from
front to back, is computed as it comes; else it is spooled to a temporary file on disk first, as --plan says. Input that
is too short or too long is an error; what went out before an error is not taken back.

What has a length that only values know, such as mask(x, x > 0), is counted first; --plan is then an error, which has what is
needed at the most. cp, tucker and hosvd run first, too: --plan leaves their own passes out.

"need" of --json is the smallest budget that would do, of the whole process: under a memory limit of that size, and with
--memory of as many bytes, the run finishes. With --processes it is of all processes together, and "predicted_peak" is what all workers may reserve, also those for which
there is no task. gonbext fits asks for nothing else.` + ratesHelp,
		Example: `  gonbext compute 'sqrt(x)' x=acts.npy -o roots.npy --memory 256MiB
  gonbext compute 'mean(x, 0)' x=acts.npy -o means.npy --report means.html
  gonbext compute 'x - mean(x, 0)' x=acts.zarr -o centred.zarr --chunks 1024x512 --shards 16384x512 --codec blosc:lz4
  gonbext compute 'std(x)' x=acts.npy
  gonbext compute 'x*2' x=today.npy -o all.zarr --append time
  gonbext compute 'median(x, 0)' x='frames/*.npy' -o background.npy
  gonbext compute 'm = mean(x, 0); c = x - m' x=acts.npy -o m=means.npy -o c=centred.zarr
  gonbext compute 'tucker(x, 8, 8, 8, "core")' x=cube.npy -o core.npy --report core.html
  gonbext compute --each 'w + 2*(a - w)' w=base.safetensors a=tuned.safetensors -o far.safetensors
  curl -s https://host/x.npy | gonbext compute 'x*2' x=- -o - | python3 plot.py
  gonbext compute -f standardise.txt x=acts.npy -o m=means.npy -o c=centred.zarr
  gonbext compute --list`,
		Args: func(c *cobra.Command, args []string) error {
			if list {
				return cobra.NoArgs(c, args)
			}
			if file != "" {
				return nil
			}
			return cobra.MinimumNArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if list {
				return listOperations(c.OutOrStdout(), j.asJSON)
			}
			if err := j.count(c); err != nil {
				return err
			}
			if file != "" {
				text, err := expressionFrom(c, file)
				if err != nil {
					return err
				}
				if _, both := throughPipe(strings.Join(paths(args), "")); both && file == "-" {
					return usagef("-f - and an array from standard input: one of them is a file")
				}
				args = slices.Insert(slices.Clone(args), 0, text)
			}
			if whole {
				out, err := oneOutput(to)
				if err == nil {
					err = notPiped("--each", append(paths(args[1:]), out)...)
				}
				if err != nil {
					return err
				}
				e.expression = args[0]
				named := []string{out}
				for _, arg := range args[1:] {
					_, path, _ := operand(arg)
					named = append(named, path)
				}
				if err := j.checkReport(named...); err != nil {
					return err
				}
				return j.computeEach(c, args[1:], &e, out)
			}
			if e.asked() || e.dtype != "" {
				return usagef("--only, --except, --dtype, --shard-size and --template are for --each")
			}
			j.expression = args[0]
			definitions, err := host.Definitions(args[0])
			if err != nil {
				return failure(err)
			}
			alone, outputs := definitions[0], to
			if alone.Name != "" {
				outputs = paths(to)
			}
			if err := j.checkReport(slices.Concat(paths(args[1:]), outputs)...); err != nil {
				return err
			}
			if alone.Name != "" {
				return j.computeAll(c, definitions, args[1:], to)
			}
			out, err := oneOutput(to)
			if err != nil {
				return err
			}
			return j.twice(c.Context(), func() error { return j.computeOne(c, definitions, args[1:], to, out) })
		},
	}
	c.Flags().StringArrayVarP(&to, "output", "o", nil, "array to write: x.zarr, x.npy, x.safetensors#name, x.npz#name, or x.bin for bare elements; NAME=PATH for each of several")
	c.Flags().StringVar(&j.device, "device", "cpu", "cpu, cuda:0, model:8GiB for a modelled GPU of that memory, or model:H200 for one by its name; with --plan others are shown beside it")
	c.Flags().BoolVar(&whole, "each", false, "compute EXPR for each array of collections")
	c.Flags().StringVar(&e.dtype, "dtype", "", "with --each: element type of the arrays")
	e.flags(c)
	c.Flags().StringVarP(&file, "file", "f", "", "read EXPR from this file, - for standard input; the arguments are NAME=PATH. A line that begins with NAME = begins a definition, one with # is a comment")
	c.Flags().BoolVar(&list, "list", false, "print what EXPR can call, and nothing else")
	j.flags(c)
	return c
}

// computeOne computes one expression to a path, which is empty where the result is printed.
func (j *job) computeOne(c *cobra.Command, definitions []host.Definition, inputs, outputs []string, to string) error {
	alone := definitions[0]
	names, err := openNames(inputs, func(path string) (*oocore.Array, error) { return j.open(c, path) })
	if err != nil {
		return failure(err)
	}
	out, err := j.output(c, to)
	if err != nil {
		return err
	}
	opts, err := j.options(c)
	if err != nil {
		return err
	}
	j.again = true
	if alone.Decomposes() { // which takes its time: what is to be rejected after it is rejected before
		planned := append(opts[:len(opts):len(opts)], host.PlanOnly(), host.Target(out), host.Cell(record.Unreported))
		if err := j.foresee(host.Eval(c.Context(), alone, names, planned...), out, opts); err != nil {
			return failure(err)
		}
		if err := checkUsed(alone, names); err != nil {
			return err
		}
		if j.plan {
			most, err := leastOf(c.Context(), definitions, names, outputs, opts)
			if err != nil {
				return err
			}
			j.need = most.Need
		}
	}
	stop := showProgress(c.ErrOrStderr(), j.id)
	a := host.Eval(c.Context(), alone, names, append(opts[:len(opts):len(opts)], host.Target(out))...)
	stop()
	if err := j.checkOutput(a, out); err != nil {
		return j.unplanned(c.Context(), definitions, names, outputs, opts, failure(err))
	}
	if err := errors.Join(checkUsed(alone, names), agree(to, a)); err != nil {
		return err
	}
	j.again = false
	return j.do(c, a, out)
}

// foresee rejects what could not be written, of an array that was planned where it could be.
func (j *job) foresee(a *oocore.Array, out string, opts []oocore.Option) error {
	if a.Err() != nil {
		return nil
	}
	if err := j.checkOutput(a, out); err != nil {
		return err
	}
	_, err := a.Plan(out, opts...)
	return err
}

// mostPrinted is how many elements an array that is printed has at most.
const mostPrinted = 1000

// checkOutput rejects what is no array, and an array without an output path that is too
// large to print.
func (j *job) checkOutput(a *oocore.Array, out string) error {
	if err := a.Err(); err != nil {
		return err
	}
	if out == "" && j.pipes.out == "" && a.Dims() > 0 && a.Size() > mostPrinted {
		return usagef("the result has shape %s: say with -o where to write it", host.FormatShape(a.Shape()))
	}
	return nil
}

// checkUsed returns an error for an array that is given and that the expression does not name.
func checkUsed(expression host.Definition, names oocore.Names) error {
	if unused := expression.Unused(slices.Collect(maps.Keys(names))); len(unused) > 0 {
		return usagef("%s is not used in the expression: leave it out", unused[0])
	}
	return nil
}

// listOperations prints what expressions can call: usage, NumPy's name and passes.
func listOperations(w io.Writer, asJSON bool) error {
	type operation struct {
		Name   string `json:"name"`
		Usage  string `json:"usage"`
		Alias  string `json:"alias_of,omitempty"`
		NumPy  string `json:"numpy,omitempty"`
		Passes string `json:"passes,omitempty"` // over the data
		Holds  string `json:"holds,omitempty"`  // at once
	}
	all := []operation{}
	var text strings.Builder
	for _, f := range host.Operations() {
		o := operation{f.Name, f.Usage, f.Alias, f.NumPy, f.Passes, f.Holds}
		if f.Alias != "" {
			o.NumPy, o.Passes, o.Holds = "", "", ""
			fmt.Fprintf(&text, "%s\n%s", o.Usage, indented("another name of "+f.Alias))
		} else {
			fmt.Fprintf(&text, "%s\n%s", o.Usage, indented(f.NumPy+"; passes over the data: "+f.Passes+"; holds "+f.Holds))
		}
		all = append(all, o)
	}
	if asJSON {
		return printJSON(w, all)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// indented is text in lines that a terminal of 80 columns has room for.
func indented(text string) string {
	const begin, columns = "    ", 79
	line, all := begin, ""
	for _, word := range strings.Fields(text) {
		if line != begin && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			all, line = all+line+"\n", begin
		}
		if line != begin {
			line += " "
		}
		line += word
	}
	return all + line + "\n"
}

// stacked is the path of an input: what has a *, or a ? or brackets that files match, is a pattern, whose files are stacked
// along axis 0 unless it says another.
func stacked(path string) string {
	file, _, _ := strings.Cut(path, "#")
	for _, name := range []string{path, file} {
		if _, err := os.Stat(name); err == nil {
			return path
		}
	}
	raw, _, _ := strings.Cut(file, "?") // a file whose shape follows
	if st, err := os.Stat(raw); err == nil && st.Mode().IsRegular() {
		return path
	}
	if strings.Contains(path, "axis=") || strings.Contains(path, "concat=") {
		return path
	}
	if !strings.Contains(path, "*") {
		if !strings.ContainsAny(file, "?[") {
			return path
		}
		if found, err := filepath.Glob(file); err != nil || len(found) == 0 {
			return path
		}
	}
	return host.StackPath(path, 0)
}

// openNames opens the arrays of NAME=PATH arguments.
func openNames(args []string, open func(path string) (*oocore.Array, error)) (oocore.Names, error) {
	names := make(oocore.Names)
	piped := ""
	for _, arg := range args {
		name, path, ok := strings.Cut(arg, "=")
		switch {
		case !ok || path == "":
			return nil, usagef("%q does not name an array: write NAME=PATH, as in x=acts.npy", arg)
		case !token.IsIdentifier(name):
			return nil, usagef("%q cannot be a name in an expression: use letters and digits, as in x=acts.npy", name)
		case names[name] != nil:
			return nil, usagef("the name %s is given twice", name)
		}
		if _, ok := throughPipe(path); ok {
			if piped != "" {
				return nil, usagef("%s and %s: standard input is one array", piped, arg)
			}
			piped = arg
		}
		a, err := open(path)
		if err != nil {
			return nil, err
		}
		var failed *oocore.Error
		if errors.As(a.Err(), &failed) {
			return nil, failed.Err // which names the file
		}
		names[name] = a
	}
	return names, nil
}
