package surface

import (
	"flag"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

var update = flag.Bool("update", false, "write testdata/api.txt anew")

// compatible are the packages whose exported names, once published, keep their types.
var compatible = []string{"oocore", "oocore/linalg", "oocore/fft", "oocore/filter", "oocore/decomp", "oocore/nn"}

// unnamed is a signature without the names of its parameters, which callers do not write.
func unnamed(s *types.Signature) *types.Signature {
	tuple := func(t *types.Tuple) *types.Tuple {
		var vars []*types.Var
		for v := range t.Variables() {
			vars = append(vars, types.NewParam(0, nil, "", v.Type()))
		}
		return types.NewTuple(vars...)
	}
	return types.NewSignatureType(nil, nil, nil, tuple(s.Params()), tuple(s.Results()), s.Variadic())
}

// api lists the exported names of packages with their types, a line each.
func api(packages []*types.Package) (lines []string) {
	short := func(p *types.Package) string { return p.Name() }
	add := func(name string, t types.Type) {
		if s, ok := t.(*types.Signature); ok {
			t = unnamed(s)
		}
		lines = append(lines, name+" "+types.TypeString(t, short))
	}
	for _, p := range packages {
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			name = p.Name() + "." + name
			if _, is := o.(*types.TypeName); !is {
				add(name, o.Type())
				continue
			}
			switch under := o.Type().Underlying().(type) {
			case *types.Struct:
				lines = append(lines, name+" struct")
				for f := range under.Fields() {
					if f.Exported() {
						add(name+"."+f.Name(), f.Type())
					}
				}
			default:
				add(name, under)
			}
			methods := types.NewMethodSet(types.NewPointer(o.Type()))
			for i := range methods.Len() {
				if m := methods.At(i).Obj(); m.Exported() {
					add(name+"."+m.Name(), m.Type())
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// A program that compiled with these packages compiles with them still: no name of the list
// is gone or has another type. New names join it by go test -update.
func TestExportedNamesKeepTheirTypes(t *testing.T) {
	const golden = "testdata/api.txt"
	paths := make([]string, len(compatible))
	for i, p := range compatible {
		paths[i] = module + p
	}
	now := api(load(t, paths))
	if *update {
		testcases.WriteFile(t, golden, []byte(strings.Join(now, "\n")+"\n"), 0o644)
	}
	text := testcases.ReadFile(t, golden)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if _, found := slices.BinarySearch(now, line); !found {
			t.Errorf("gone or changed: %s", line)
		}
	}
	if len(now) < 500 {
		t.Errorf("only %d names were found", len(now))
	}
}
