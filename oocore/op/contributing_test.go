package op_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op"
	"github.com/gonbext/gonbext/oocore/op/compose"
)

// The example of CONTRIBUTING.md, from here to its end:

var row = op.Row{Usage: `midrange(x, axes..., "keepdims")`, NumPy: "(x.min(axes) + x.max(axes)) / 2", Passes: "1", Holds: "two accumulators for each result",
	Build: Midrange, Examples: "midrange(x, 0)", Go: "(a *Array) Midrange(axes ...int)", Doc: `Midrange returns the mean of the smallest and the largest element along the axes. One pass.`}

func Midrange(site graph.Site, x *graph.Node, axes []int, keep bool) (*graph.Node, error) {
	m := &compose.Maker{Site: site}
	o := graph.ReduceOptions{Axes: axes, KeepDims: keep}
	sum := m.Apply(kernel.Add, m.Reduce(kernel.Min, x, o), m.Reduce(kernel.Max, x, o))
	return m.Apply(kernel.Divide, sum, m.Number(2)), m.Err
}

// end

func TestTheExampleOfContributingIsAnOperation(t *testing.T) {
	here, err := os.ReadFile("contributing_test.go")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(here), "to its end:\n\n")
	example, _, _ = strings.Cut(example, "\n// end")
	var indented strings.Builder
	for line := range strings.Lines(example) {
		indented.WriteString(strings.TrimRight("    "+strings.ReplaceAll(line, "\t", "    "), " \n") + "\n")
	}
	if !strings.Contains(string(guide), indented.String()) {
		t.Errorf("oocore/CONTRIBUTING.md does not have the example:\n%s", indented.String())
	}
	all, err := op.Read(row)
	if err != nil {
		t.Fatal(err)
	}
	o := all["midrange"]
	if o.GoName() != "Array.Midrange" || o.Usage != row.Usage {
		t.Errorf("%s, %s", o.GoName(), o.Usage)
	}
	x, err := graph.FromBytes(graph.Site{}, dtype.Bytes([]float32{1, 2, 5, 4}), dtype.Float32, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.Build(graph.Site{}, nil, []any{x, []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	if text := out[0].String(); !strings.Contains(text, "min(") || !strings.HasSuffix(text, "/2") || len(out[0].Shape) != 1 {
		t.Errorf("the operation is %s of shape %v", text, out[0].Shape)
	}
}
