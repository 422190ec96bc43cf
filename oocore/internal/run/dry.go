package run

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/types"
)

// Dry is an algorithm whose runs are planned and not made.
type Dry struct {
	budget  int64              // that the algorithm is to think it has
	count   int                // of elements, at the most, where it follows from values
	counted bool               // it was asked for
	naming  bool               // the budget is too small, and one that will do is looked for
	most    *types.MemoryError // of the run that needs the most; nil where there was none
}

// Counts returns what a run has counted of a node, or where it was only planned, what others are planned with in its place.
func (o *Options) Counts(n *graph.Node, counted []int64) []int64 {
	if o.Dry == nil || n.Blocks == nil {
		return counted
	}
	if c, ok := n.Blocks.Op.(interface{ Foreseen(most int) []int64 }); ok {
		o.Dry.counted = true
		return c.Foreseen(o.Dry.count)
	}
	return counted
}

func (d *Dry) note(short *types.MemoryError) {
	if d.most == nil || short.Need > d.most.Need {
		d.most = short
	}
}

// dry makes nothing and says nothing of it: what is returned is zero.
func dry(Runner) Runner {
	return func(_ context.Context, j *Job) (Result, error) {
		if j.allocate != nil {
			j.allocate(grid.Size(j.Roots[0].Shape))
		}
		return Result{Foreseen: j.storedInfos()}, nil
	}
}

// dryMemory is as much as a plan needs, which it notes.
type dryMemory struct{ *Options }

func (m *dryMemory) check(string, []compile.Output) error { return nil }

func (m *dryMemory) fit(j *Job, p *plan.Plan) error {
	o := m.resources()
	o.Overhead = m.Foreseen + m.Held + p.OpenBytes()
	_, _, err := m.sizeFiles(p, o)
	if short, ok := errors.AsType[*types.MemoryError](err); ok {
		m.Dry.note(short)
	}
	o.Budget = math.MaxInt64 / 16
	if j.Plan, err = size.New(p, o); err == nil {
		j.Plan.Budget = m.Dry.budget
	}
	return err
}

// SomeFile is where a result may be saved of which nobody has said where. What a rejection names will do in memory too, where
// that is where temporary files lie.
func (o *Options) SomeFile(name string) string {
	if _, inMemory := storage.InMemory(""); inMemory && o.Dry != nil && o.Dry.naming {
		return filepath.Join(os.TempDir(), name+".zarr") // in many files, which take more
	}
	return name + ".npy"
}
