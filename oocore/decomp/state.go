package decomp

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/record"
)

// keepEvery is how much work may be lost to a kill.
var keepEvery = time.Second

// afterKeep is called when an unfinished state was kept; tests set it.
var afterKeep = func() {}

// errorSeries is the name under which errors are noted in records.
const errorSeries = "relative error by iteration"

// state is what a decomposition keeps after half an iteration, to resume from or to return.
type state struct {
	Matrices [][]float64 // by mode; empty where there is none
	Weights  []float64   // of CP
	Errors   []float64
	Half     bool   // of the iteration after Errors all is done that reads the first copy of the tensor
	Core     []byte // of Tucker, where it is small
	Rand     []byte // of Tucker: the state of its random numbers
	Done     bool
}

// progress is the state of a decomposition, and where it is kept.
type progress struct {
	state
	ctx   context.Context
	store door.State
	at    time.Time // it was kept, or the decomposition began
	found bool      // an earlier program has kept it
}

// progressOf loads what an earlier program has kept of the same decomposition.
func progressOf(ctx context.Context, op string, x *oocore.Array, options any, opts []oocore.Option) (*progress, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	store, err := internals.State(ctx, op, x, options, opts)
	if err != nil {
		return nil, err
	}
	p := &progress{ctx: ctx, store: store, at: time.Now()}
	if p.found = store.Load(&p.state); !p.found {
		p.state = state{}
	}
	return p, nil
}

// skipped reports a decomposition that an earlier program has done, and records that.
func (p *progress) skipped(title string) bool {
	if p.Done {
		p.store.Skipped(title, record.Series{Name: errorSeries, Values: p.Errors})
	}
	return p.Done
}

// keep makes the state durable, if it is done or has not been for a while.
func (p *progress) keep(take func(s *state)) {
	if now := time.Now(); p.Done || now.Sub(p.at) >= keepEvery {
		take(&p.state)
		p.store.Store(p.ctx, p.state)
		p.at = now
		if !p.Done {
			afterKeep()
		}
	}
}

// elements are those of matrices, in C order; nil ones have none.
func elements(all []*mat.Dense) [][]float64 {
	out := make([][]float64, len(all))
	for i, m := range all {
		if m != nil {
			out[i] = mat.DenseCopyOf(m).RawMatrix().Data
		}
	}
	return out
}

// converged reports errors of which the last two differ by less than a tolerance.
func converged(errors []float64, tolerance float64) bool {
	n := len(errors)
	return n > 1 && math.Abs(errors[n-2]-errors[n-1]) < tolerance
}

// dataOf are the elements of an array that lies in memory; nil of any other.
func dataOf(a *oocore.Array) []byte {
	if n, err := door.Node(a); err == nil && n.Kind == graph.Inline {
		return n.Data
	}
	return nil
}

// inline is an array of elements in memory.
func inline(data []byte, t oocore.DType, shape []int) *oocore.Array {
	return door.Build[oocore.Array]("array", func(site graph.Site, _ []*graph.Node) (*graph.Node, error) {
		return graph.FromBytes(site, data, t, shape...)
	})
}

// random numbers resume from where those of the state were.
func (p *progress) random(seed uint64) (*rand.PCG, error) {
	r := rand.NewPCG(seed, 0)
	if len(p.Rand) == 0 {
		return r, nil
	}
	return r, r.UnmarshalBinary(p.Rand)
}
