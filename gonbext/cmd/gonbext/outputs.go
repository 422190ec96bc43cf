package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
)

// computeAll computes definitions, those of them that have an output, in one run.
func (j *job) computeAll(c *cobra.Command, definitions []host.Definition, inputs, to []string) error {
	paths, err := namedOutputs(definitions, to)
	if err != nil {
		return err
	}
	if err := notPiped("-o", slices.Collect(maps.Values(paths))...); err != nil {
		return err
	}
	return j.twice(c.Context(), func() error { return j.computeDefinitions(c, definitions, inputs, to, paths) })
}

func (j *job) computeDefinitions(c *cobra.Command, definitions []host.Definition, inputs, to []string, paths map[string]string) error {
	names, err := openNames(inputs, func(path string) (*oocore.Array, error) { return j.open(c, path) })
	if err != nil {
		return failure(err)
	}
	if err := checkDefinitions(definitions, names, paths); err != nil {
		return err
	}
	opts, err := j.options(c)
	if err != nil {
		return err
	}
	if j.appends {
		return usagef("--append is for one output: append one after the other")
	}
	if err := j.saveAll(c, definitions, names, paths, opts); err != nil {
		return j.unplanned(c.Context(), definitions, names, to, opts, err)
	}
	return j.tell(c.OutOrStdout(), c.ErrOrStderr(), nil)
}

// saveAll shows the progress of the outputs while they are computed.
func (j *job) saveAll(c *cobra.Command, definitions []host.Definition, names oocore.Names, paths map[string]string, opts []oocore.Option) error {
	defer showProgress(c.ErrOrStderr(), j.id)()
	outputs, err := evaluate(c.Context(), definitions, names, paths, opts)
	if err != nil {
		return err
	}
	_, err = oocore.SaveAll(c.Context(), outputs, opts...)
	return j.outcome(c, err)
}

// evaluate is the outputs of definitions, each of which can use those before it.
func evaluate(ctx context.Context, definitions []host.Definition, names oocore.Names, paths map[string]string, opts []oocore.Option) (outputs []oocore.Output, err error) {
	names = maps.Clone(names)
	for _, d := range definitions {
		a := host.Eval(ctx, d, names, opts...)
		if err := a.Err(); err != nil {
			return nil, failure(fmt.Errorf("%s: %w", d.Name, wrongUsage(err)))
		}
		names[d.Name] = a
		if path, ok := paths[d.Name]; ok {
			outputs = append(outputs, oocore.Output{Array: a, Path: path})
		}
	}
	return outputs, nil
}

// namedOutputs reads the NAME=PATH of each -o.
func namedOutputs(definitions []host.Definition, to []string) (map[string]string, error) {
	if len(to) == 0 {
		return nil, usagef("say with -o NAME=PATH where to write what is computed, as in -o %s=%s.npy", definitions[0].Name, definitions[0].Name)
	}
	paths := map[string]string{}
	for _, text := range to {
		name, path, ok := strings.Cut(text, "=")
		switch {
		case !ok || path == "" || strings.ContainsAny(name, "./?"):
			return nil, usagef("-o %s: write NAME=PATH, as in -o %s=%s.npy", text, definitions[0].Name, definitions[0].Name)
		case !slices.ContainsFunc(definitions, func(d host.Definition) bool { return d.Name == name }):
			return nil, usagef("-o %s: the expression defines no %s", text, name)
		case paths[name] != "":
			return nil, usagef("-o %s: %s has an output already, %s", text, name, paths[name])
		}
		paths[name] = path
	}
	return paths, nil
}

// checkDefinitions returns an error for names that clash, or that nothing uses.
func checkDefinitions(definitions []host.Definition, names oocore.Names, paths map[string]string) error {
	unused := map[string]bool{}
	for name := range names {
		unused[name] = true
	}
	for _, d := range definitions {
		if names[d.Name] != nil {
			return usagef("%s is defined, and is an array besides: take another name", d.Name)
		}
		if d.Decomposes() {
			return usagef("cp, tucker and hosvd are computed in an expression of their own, without a name")
		}
		known := slices.Sorted(maps.Keys(unused))
		left := d.Unused(known)
		for _, name := range known {
			if !slices.Contains(left, name) {
				delete(unused, name)
			}
		}
		if _, written := paths[d.Name]; !written {
			unused[d.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		return usagef("%s is not used: leave it out", name)
	}
	return nil
}

// oneOutput is the path of an expression alone; "" where its value is printed.
func oneOutput(to []string) (string, error) {
	switch len(to) {
	case 0:
		return "", nil
	case 1:
		if to[0] == "" {
			return "", usageError{errors.New("-o: the path is empty")}
		}
		return to[0], nil
	}
	return "", usagef("-o is given %d times: several outputs have names, as in 'm = mean(x, 0); c = x - m' -o m=m.npy -o c=c.npy", len(to))
}
