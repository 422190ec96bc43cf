package op_test

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// The example of CONTRIBUTING.md, from here to its end:

var row = op.Row{Name: "midrange", NumPy: "(x.min(axes) + x.max(axes)) / 2", Passes: "1", Holds: "two accumulators for each result",
	Build: op.Build(Midrange), Examples: "midrange(x, 0)", Go: "(a *Array) Midrange(axes ...int)", Doc: `Midrange returns the mean of the smallest and the largest element along the axes.`}

type MidrangeArgs struct {
	X        *graph.Node
	Axes     []int
	KeepDims bool
}

func Midrange(site graph.Site, a MidrangeArgs) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	o := graph.ReduceOptions{Axes: a.Axes, KeepDims: a.KeepDims}
	sum := m.Apply(kernel.Add, m.Reduce(kernel.Min, a.X, o), m.Reduce(kernel.Max, a.X, o))
	return m.Apply(kernel.Divide, sum, m.Number(2)), m.Err
}

// end

func TestMidrangeIsMadeOfOthers(t *testing.T) {
	out := example(t, "contributing_test.go", `midrange(x, axes..., "keepdims")`, row, op.Value{Node: node(t, []float32{1, 2, 5, 4}, 2, 2)}, op.Int(0))
	if text := out.String(); !strings.Contains(text, "min(") || !strings.HasSuffix(text, "/2") || len(out.Shape) != 1 {
		t.Errorf("the operation is %s of shape %v", text, out.Shape)
	}
}

// example returns the result of a row, which CONTRIBUTING shows as it stands in a file.
func example(t *testing.T, file, usage string, row op.Row, values ...op.Value) *graph.Node {
	here := testcases.ReadFile(t, file)
	guide := testcases.ReadFile(t, "../../CONTRIBUTING.md")
	_, text, _ := strings.Cut(string(here), "to its end:\n\n")
	text, _, _ = strings.Cut(text, "\n// end")
	var indented strings.Builder
	for line := range strings.Lines(text) {
		indented.WriteString(strings.TrimRight("    "+strings.ReplaceAll(line, "\t", "    "), " \n") + "\n")
	}
	if !strings.Contains(string(guide), indented.String()) {
		t.Errorf("oocore/CONTRIBUTING.md does not have the example:\n%s", indented.String())
	}
	all, err := op.Read(row)
	if err != nil {
		t.Fatal(err)
	}
	o := all[row.Name]
	if o.GoName() != "Array."+strings.ToUpper(row.Name[:1])+row.Name[1:] || o.Usage != usage {
		t.Errorf("%s, %s", o.GoName(), o.Usage)
	}
	out, err := (&op.Call{Operation: o, Values: values}).Build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func node[T dtype.Element](t *testing.T, elements []T, shape ...int) *graph.Node {
	n, err := graph.FromBytes(graph.Site{}, dtype.Bytes(elements), dtype.Of[T](), shape...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
