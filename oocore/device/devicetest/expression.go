package devicetest

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/expr"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// Plan is what an expression was planned to for a device.
type Plan = plan.Sized

// Options are the resources of a run.
type Options = plan.Options

// Array is an input of expressions, or the result of one.
type Array struct{ node *graph.Node }

// Uniform returns random numbers from 0 to below 1 that are generated where they are computed.
func Uniform(t testing.TB, of dtype.Type, seed uint64, shape ...int) Array {
	t.Helper()
	return Array{must[*graph.Node](t)(graph.Uniform(site, of, seed, shape...))}
}

// Read returns an array of the given elements, which a device has to be sent.
func Read[T dtype.Element](t testing.TB, values []T, shape ...int) Array {
	t.Helper()
	return Array{must[*graph.Node](t)(graph.FromBytes(site, dtype.Bytes(values), dtype.Of[T](), shape...))}
}

// Parse reads an expression in text, as oocore.Eval does.
func Parse(t testing.TB, text string, names map[string]Array) Array {
	t.Helper()
	nodes := map[string]*graph.Node{}
	for name, a := range names {
		nodes[name] = a.node
	}
	return Array{must[*graph.Node](t)(expr.Parse(text, nodes, nil))}
}

// Expression is what a device and the CPU compute.
type Expression struct {
	Name   string
	Root   Array
	Side   []Array // reductions that are computed beside
	Exact  bool    // the bits are the CPU's
	Chunks []int   // of the result; nil for those that the planner chooses

	Record *record.Run // of the last run
}

// Plan plans for the given resources.
func (e *Expression) Plan(t testing.TB, o Options) *Plan {
	t.Helper()
	target := plan.Target{Chunks: e.Chunks}
	for _, a := range e.Side {
		target.SideReductions = append(target.SideReductions, a.node)
	}
	return must[*plan.Sized](t)(must[*plan.Plan](t)(plan.New(e.Root.node, target)).Size(o))
}

// Run computes, on the CPU where d is nil. It returns the elements of the result and of the
// side reductions.
func (e *Expression) Run(t testing.TB, d device.Device, o Options) ([]byte, *Plan, record.End, error) {
	t.Helper()
	if d != nil && o.Device.Name == "" {
		o.Device = d.Spec()
	}
	p := e.Plan(t, o)
	env := exec.Env{Executor: exec.OnDevice{Device: d}, Into: make([]byte, p.Arrays[p.Output].Bytes())}
	for _, a := range e.Side {
		env.SideReductions = append(env.SideReductions, make([]byte, a.node.DType.Size()))
	}
	env.Record = must[*record.Writer](t)(record.Create(t.TempDir(), p.Header()))
	end, err := exec.Run(context.Background(), p, env)
	e.Record = must[*record.Run](t)(record.Read(env.Record.Path()))
	e.Record.End = &end
	return append(env.Into, bytes.Join(env.SideReductions, nil)...), p, end, err
}

// Same compares bytes, or float32 values to what reordered sums may differ by.
func (e *Expression) Same(got, want []byte) bool {
	if e.Exact {
		return bytes.Equal(got, want)
	}
	g, w := dtype.Slice[float32](got), dtype.Slice[float32](want)
	for i := range w {
		if math.Abs(float64(g[i]-w[i])) > 1e-5*(1+math.Abs(float64(w[i]))) {
			return false
		}
	}
	return true
}
