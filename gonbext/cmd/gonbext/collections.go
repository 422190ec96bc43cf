package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/adapters/arrow"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/units"
)

// each is what is done to the arrays of a collection.
type each struct {
	expression   string   // of x; "" leaves them as they are
	several      bool     // that it makes, see evaluator
	only, except []string // patterns of the names of those that it is done to
	skip         []string // of those that are left out
	dtype        string
	shardSize    string
	template     string // whose metadata the output has
}

// flags are those that select arrays and lay out checkpoints.
func (e *each) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&e.only, "only", nil, "change only the arrays whose names match this pattern, such as '*.weight', and copy the others; may be given again")
	f.StringArrayVar(&e.except, "except", nil, "copy the arrays whose names match this pattern as they are; may be given again")
	f.StringArrayVar(&e.skip, "skip", nil, "leave out the arrays whose names match this pattern, such as strings in an HDF5 file; may be given again")
	f.StringVar(&e.shardSize, "shard-size", "", "most bytes of a file of NAME.safetensors.index.json, such as 2GB (default 5GB)")
	f.StringVar(&e.template, "template", "", "file whose metadata the output has, such as the key-value pairs of a GGUF file (default SRC)")
}

// asked reports whether a flag is given that only collections have.
func (e *each) asked() bool {
	return e.expression != "" || e.only != nil || e.except != nil || e.skip != nil || e.shardSize != "" || e.template != ""
}

// options are the flags as oocore has them.
func (e *each) options() ([]oocore.Option, error) {
	if e.shardSize == "" {
		return nil, nil
	}
	if _, err := units.ParseSize(e.shardSize); err != nil {
		return nil, usagef("--shard-size: %w", err)
	}
	return []oocore.Option{oocore.ShardSize(e.shardSize)}, nil
}

// selects returns whether an array of a collection is to be changed.
func (e *each) selects(of *oocore.Collection) (func(name string) bool, error) {
	matched := func(patterns []string) (map[string]bool, error) {
		all := map[string]bool{}
		for _, p := range patterns {
			m := of.Match(p)
			if m.Err() != nil {
				return nil, usagef("%.80q is no pattern of names", p)
			}
			for _, name := range m.Names() {
				all[name] = true
			}
		}
		return all, nil
	}
	only, err := matched(e.only)
	if err != nil {
		return nil, err
	}
	except, err := matched(e.except)
	return func(name string) bool { return (e.only == nil || only[name]) && !except[name] }, err
}

// made is what an expression makes of an array: one array in its place, or several, whose names have these behind its own.
type made struct {
	suffix string
	x      *oocore.Array
}

// changed is a collection with what a function makes of the arrays that the flags select, in the
// element type that they say.
func (e *each) changed(of *oocore.Collection, f func(name string, x *oocore.Array) []made) (*oocore.Collection, error) {
	n := of.Len()
	for _, p := range e.skip {
		if of = of.Without(p); of.Err() != nil {
			return nil, usagef("%.80q is no pattern of names", p)
		}
	}
	selects, err := e.selects(of)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(of.Names(), selects) {
		return nil, usagef("--only, --except and --skip leave none of %d arrays", n)
	}
	to := dtype.Invalid
	if e.dtype != "" {
		if to, err = dtype.Parse(e.dtype); err != nil {
			return nil, usagef("--dtype: %w", err)
		}
	}
	if e.several {
		if to != dtype.Invalid {
			return nil, usagef("--dtype is for one array in the place of another: convert by astype in the definitions of --each")
		}
		all := of.Match("")
		for name, x := range of.All() {
			arrays := []made{{x: x}}
			if selects(name) {
				arrays = f(name, x)
			}
			for _, m := range arrays {
				all = all.With(name+m.suffix, m.x)
			}
		}
		return all, nil
	}
	return of.Map(func(name string, x *oocore.Array) *oocore.Array {
		if !selects(name) {
			return x
		}
		if f != nil {
			x = f(name, x)[0].x
		}
		if to != dtype.Invalid {
			x = x.AsType(to)
		}
		return x
	}), nil
}

// saveCollection saves a collection, and tells of it.
func (j *job) saveCollection(c *cobra.Command, of *oocore.Collection, e *each, path string) error {
	j.asked = nil // what a collection's opening has asked for is not counted
	opts, err := j.options(c)
	if err != nil {
		return err
	}
	more, err := e.options()
	if err != nil {
		return err
	}
	if j.appends {
		return usagef("--append is for one array")
	}
	if e.template != "" {
		of = of.Like(e.template)
	}
	stop := showProgress(c.ErrOrStderr(), j.id)
	if strings.EqualFold(filepath.Ext(path), ".parquet") {
		err = arrow.WriteColumns(c.Context(), of, path, append(opts, more...)...)
	} else {
		_, err = of.Save(c.Context(), path, append(opts, more...)...)
	}
	stop()
	if outer, ok := errors.AsType[*oocore.Error](err); ok {
		if of, ok := errors.AsType[*oocore.Error](outer.Err); ok && of.Op == "open" {
			err = fmt.Errorf("%w: --skip leaves arrays out by their names", err)
		}
	}
	if err := j.outcome(c, err); err != nil {
		return err
	}
	return j.tell(c.OutOrStdout(), c.ErrOrStderr(), nil)
}

// openAll opens a collection.
func openAll(path string) (*oocore.Collection, error) {
	all := oocore.OpenAll(path)
	if open, ok := errors.AsType[*oocore.Error](all.Err()); ok {
		return nil, failure(open.Err) // which names the file
	}
	return all, nil
}

// convertAll writes a collection as another.
func (j *job) convertAll(c *cobra.Command, from, to string, e *each) error {
	all, err := openAll(from)
	if err != nil {
		return err
	}
	var f func(string, *oocore.Array) []made
	if e.expression != "" {
		j.expression = e.expression
		if f, err = e.evaluator(c, nil, nil); err != nil {
			return err
		}
	}
	changed, err := e.changed(all, f)
	if err != nil {
		return err
	}
	return j.saveCollection(c, changed, e, to)
}

// evaluator computes an expression of x, or the last of several definitions, and of the arrays of
// others that go with it. Where the name of the last begins with _, each whose name does is an array of its own.
func (e *each) evaluator(c *cobra.Command, used oocore.Names, others func(name string) oocore.Names) (func(string, *oocore.Array) []made, error) {
	definitions, err := host.Definitions(e.expression)
	if err != nil {
		return nil, failure(err)
	}
	last := definitions[len(definitions)-1].Name
	kept := map[string]string{last: "-o"}
	e.several = strings.HasPrefix(last, "_")
	for _, d := range definitions {
		if e.several && strings.HasPrefix(d.Name, "_") {
			kept[d.Name] = "-o"
		}
	}
	if err := checkDefinitions(definitions, used, kept); err != nil {
		return nil, err
	}
	return func(name string, x *oocore.Array) (all []made) {
		names := oocore.Names{"x": x}
		if others != nil {
			if names = others(name); names == nil {
				return []made{{x: x}}
			}
		}
		for _, d := range definitions {
			x = host.Eval(c.Context(), d, names)
			names[d.Name] = x
			if _, ok := kept[d.Name]; ok && e.several {
				all = append(all, made{d.Name, x})
			}
		}
		if !e.several {
			all = []made{{x: x}}
		}
		return all
	}, nil
}

// counterpart is a collection of an expression, whose arrays go with those of another by their
// names: what * stands for in the pattern of each is the same.
type counterpart struct {
	name, pattern string
	all           *oocore.Collection
	names         map[string]bool
}

// operand takes apart an argument of --each: NAME=PATH#PATTERN, or the PATH of x.
func operand(arg string) (name, path, pattern string) {
	name, path, ok := strings.Cut(arg, "=")
	if !ok {
		name, path = "x", arg
	}
	if path, pattern, ok = strings.Cut(path, "#"); !ok {
		pattern = "*"
	}
	return name, path, pattern
}

// computeEach computes an expression of arrays that go together, of each name of the first
// collection.
func (j *job) computeEach(c *cobra.Command, args []string, e *each, to string) error {
	if to == "" {
		return usagef("say with -o where to write the collection")
	}
	if len(args) == 0 {
		return usagef("name the collections, as in w=model.safetensors")
	}
	var of []counterpart
	used := oocore.Names{}
	for _, arg := range args {
		name, path, pattern := operand(arg)
		if used[name] != nil {
			return usagef("the name %s is given twice", name)
		}
		if strings.Count(pattern, "*") != 1 {
			return usagef("%s: a pattern of names has one *, for what they share", arg)
		}
		p := counterpart{name: name, pattern: pattern, names: map[string]bool{}}
		var err error
		if p.all, err = openAll(path); err != nil {
			return err
		}
		for _, name := range p.all.Names() {
			p.names[name] = true
		}
		used[name] = oocore.FromSlice([]bool{true})
		of = append(of, p)
	}
	j.expression = e.expression
	matched := 0
	var missing error
	f, err := e.evaluator(c, used, func(name string) oocore.Names {
		stem, ok := between(of[0].pattern, name)
		if !ok {
			return nil
		}
		names := oocore.Names{of[0].name: of[0].all.Get(name)}
		for _, p := range of[1:] {
			other := strings.Replace(p.pattern, "*", stem, 1)
			if !p.names[other] {
				if p.pattern == "*" && missing == nil {
					missing = fmt.Errorf("%s has no array %.80q, which %s has: say by patterns which go together, as in %s=PATH#*.weight", p.name, other, of[0].name, p.name)
				}
				return nil
			}
			names[p.name] = p.all.Get(other)
		}
		matched++
		return names
	})
	if err != nil {
		return err
	}
	changed, err := e.changed(of[0].all, f)
	if err != nil {
		return err
	}
	for range changed.All() { // finds what does not go together before anything runs
	}
	switch {
	case missing != nil:
		return missing
	case matched == 0:
		return fmt.Errorf("no array of %s has a counterpart: the patterns match no names", of[0].name)
	}
	return j.saveCollection(c, changed, e, to)
}

// between returns what * stands for in a pattern that a name matches.
func between(pattern, name string) (string, bool) {
	before, after, _ := strings.Cut(pattern, "*")
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return name[len(before) : len(name)-len(after)], true
}
