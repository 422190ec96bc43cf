package devicetest

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

type (
	// Plan is what an expression was planned to for a device.
	Plan = size.Plan
	// Options are the resources of a run.
	Options = size.Options
	// Fingerprint is what tells whether a run is resumed.
	Fingerprint = plan.Fingerprint
)

// LoadBlocks is the kind of what a program reads of an array in blocks.
const LoadBlocks = plan.LoadBlocks

// Rand returns random numbers by Seed, which a test that fails is to name.
func Rand(t testing.TB) *rand.Rand { return testcases.Rand(t) }

// Seed is that of this run of the tests: GONBEXT_SEED, where it is set.
func Seed(t testing.TB) uint64 { return testcases.Seed(t) }

// All reports whether random tests try thousands of cases.
func All() bool { return testcases.All() }

// Unwritten returns an array of a file that there is not: for plans, which look into none.
func Unwritten(of dtype.Type, shape ...int) *oocore.Array {
	return door.Build[oocore.Array]("open", func(site graph.Site, _ []*graph.Node) (*graph.Node, error) {
		return graph.Open(site, store.Info{Path: "x.npy", Shape: shape, DType: of}, "x")
	})
}

// Expression is what a device and the CPU compute.
type Expression struct {
	Name   string
	Root   *oocore.Array
	Side   []*oocore.Array // side reductions
	Exact  bool            // the bits are the CPU's
	Path   string          // of the result; "" for memory
	Chunks []int           // of the result; nil for those that the planner chooses

	Record *record.Run // of the last run
}

// node is the engine's form of an array.
func node(t testing.TB, a *oocore.Array) *graph.Node {
	t.Helper()
	return testcases.Must[*graph.Node](t)(door.Node(a))
}

// logical is the expression's plan for any resources.
func (e *Expression) logical(t testing.TB) *plan.Plan {
	t.Helper()
	target := compile.Target{Path: e.Path, Chunks: e.Chunks}
	for _, a := range e.Side {
		target.SideReductions = append(target.SideReductions, node(t, a))
	}
	return testcases.Must[*plan.Plan](t)(compile.New(node(t, e.Root), target))
}

// Size plans for the given resources. The error is an *oocore.MemoryError where they do not
// suffice.
func (e *Expression) Size(t testing.TB, o Options) (*Plan, error) {
	t.Helper()
	return size.New(e.logical(t), o)
}

// Plan is Size where the resources suffice.
func (e *Expression) Plan(t testing.TB, o Options) *Plan {
	t.Helper()
	return testcases.Must[*Plan](t)(e.Size(t, o))
}

// environment is where a run of a plan on a device leaves its results.
func (e *Expression) environment(d device.Device, p *Plan) exec.Env {
	env := exec.Env{Executor: exec.OnDevice{Device: d}, Into: make([]byte, p.Arrays[p.Output].Bytes())}
	for _, a := range e.Side {
		env.SideReductions = append(env.SideReductions, make([]byte, a.DType().Size()))
	}
	return env
}

// Run computes, on the CPU where d is nil. It returns the elements of the result and of the
// side reductions.
func (e *Expression) Run(t testing.TB, d device.Device, o Options) ([]byte, *Plan, record.End, error) {
	t.Helper()
	if d != nil && o.Device.Name == "" {
		o.Device = d.Spec()
	}
	p := e.Plan(t, o)
	env := e.environment(d, p)
	env.Record = testcases.Must[*record.Writer](t)(record.Create(t.TempDir(), p.Header()))
	end, err := exec.Run(context.Background(), p, env)
	e.Record = testcases.Must[*record.Run](t)(record.Read(env.Record.Path()))
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
