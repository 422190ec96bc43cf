package main

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// gpus finds what a device computes of each operation: it plans an example of each for the
// modelled device, whose own list of operations and types decides.
type gpus struct {
	names  map[string]*graph.Node
	device device.Spec
}

func newGPUs() (*gpus, error) {
	g := &gpus{names: map[string]*graph.Node{}, device: cuda.Model("1GiB").Spec()}
	for _, a := range []struct {
		name  string
		t     dtype.Type
		shape []int
	}{
		{"x", dtype.Float32, []int{64, 64}}, {"i", dtype.Int64, []int{64, 64}}, {"v", dtype.Float32, []int{64}}, {"w", dtype.Int64, []int{64}}, {"c", dtype.Float32, []int{2, 8, 8, 8}},
		{"y", dtype.Float32, []int{64, 64}}, {"s", dtype.Float32, []int{64, 64}}, {"n", dtype.Float32, []int{64, 8}}, {"t", dtype.Float32, []int{8, 8, 8}}, {"j", dtype.Int64, []int{64, 64}},
		{"z", dtype.Complex64, []int{64, 64}},
		{"b", dtype.Bool, []int{64, 64}},
	} {
		node, err := graph.FromBytes(graph.Site{}, values(a.t, grid.Size(a.shape)), a.t, a.shape...)
		if err != nil {
			return nil, err
		}
		g.names[a.name] = node
	}
	return g, nil
}

// values are n elements of a type, different and small.
func values(t dtype.Type, n int) []byte {
	from := make([]float64, n)
	for i := range from {
		from[i] = 1 + float64(i*7919%31)
		if t == dtype.Float32 {
			from[i] /= 40
		}
	}
	to := make([]byte, n*t.Size())
	if cast, ok := kernel.Cast(dtype.Float64, t); ok {
		cast(n, to, dtype.Bytes(from), nil, nil)
	}
	return to
}

// arguments are what is tried as each argument of an operation, in this order.
var arguments = []string{"x", "i", "b", "v", "w", "c", "0", "2"}

// example is an expression that calls an operation, and computes something.
func (g *gpus) example(f *op.Operation) (*graph.Node, bool) {
	if text, _, _ := strings.Cut(f.Examples, ";"); text != "" {
		n, err := expr.Parse(text, g.names, nil)
		return n, err == nil
	}
	texts := []string{""}
	for range 4 {
		var longer []string
		for _, t := range texts {
			for _, a := range arguments {
				list := strings.TrimPrefix(t+", "+a, ", ")
				if n, err := expr.Parse(f.Name+"("+list+")", g.names, nil); err == nil {
					return n, true
				}
				longer = append(longer, list)
			}
		}
		texts = longer
	}
	return nil, false
}

// computes says how much of an operation a device computes. What only moves elements is
// part of what reads them, and so of a program on the device.
func (g *gpus) computes(f *op.Operation) (string, error) {
	n, ok := g.example(f)
	if !ok {
		return "", nil // it is several runs, or has no device's types
	}
	for range 2 {
		s, err := g.plan(n)
		if err != nil {
			return "", fmt.Errorf("%s: %w", n, err)
		}
		on, off := placed(s)
		switch {
		case on && off:
			return "in part", nil
		case on:
			return "yes", nil
		case off:
			return "", nil
		}
		if n, err = graph.Apply(graph.Site{}, kernel.Equal, n, n); err != nil {
			return "", err
		}
	}
	return "yes", nil // constants, of which nothing has to be computed
}

func (g *gpus) plan(n *graph.Node) (*size.Plan, error) {
	p, err := compile.New(n, compile.Target{})
	if err != nil {
		return nil, err
	}
	return size.New(p, size.Options{Budget: 1 << 30, Workers: 1, Device: g.device})
}

// placed reports whether a plan has stages that the device computes, and parts that it
// leaves to the CPU.
func placed(s *size.Plan) (on, off bool) {
	for i := range s.Stages {
		st := &s.Stages[i]
		on, off = on || s.OnDevice[i] != nil, off || st.Lacks != ""
		for k := range s.Placed(i).Programs {
			for _, l := range s.Placed(i).Programs[k].Loads {
				off = off || s.OnDevice[i] != nil && l.Kind == plan.LoadBlocks && !l.Moves()
			}
			off = off || st.Kind == plan.MatMulStage && len(st.Programs[k].Code) > 0
		}
	}
	return on, off
}
