package host

import (
	"encoding/json"
	"errors"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// Expression is an array for another process: what is computed, of which files, and elements of the program's own.
type Expression struct {
	graph  *graph.Portable
	chunks []int // that Rechunk has asked for
}

// ExpressionOf returns an array for another process. The error is the array's own, or of what exists in this
// process only, such as a Go function.
func ExpressionOf(a *oocore.Array) (*Expression, error) {
	n, err := door.Node(a)
	if err != nil {
		return nil, err
	}
	p, err := graph.Pack(n)
	if err != nil {
		return nil, err
	}
	e := &Expression{graph: p}
	if n.Kind != graph.Source {
		e.chunks = a.Chunks()
	}
	return e, nil
}

// Array returns the array. Where a file has changed since, that is the array's error.
func (e *Expression) Array() *oocore.Array {
	if e == nil || e.graph == nil {
		return new(oocore.Array)
	}
	a := door.Made[oocore.Array](e.graph.Unpack())
	if e.chunks != nil && a.Err() == nil {
		a = a.Rechunk(e.chunks...)
	}
	return a
}

// Parts are a collection for another process.
type Parts = door.Parts[oocore.Array]

// PartsOf returns a collection for another process. What Map and its like have made of arrays is computed by the
// time that its arrays are.
func PartsOf(c *oocore.Collection) (*Parts, error) { return internals.Parts(c) }

// Join returns the collection of parts.
func Join(p *Parts) *oocore.Collection { return internals.Join(p) }

// Snapshot is a plan for another process: its figures, its text, and what Encode returns. It is not planned again.
type Snapshot struct {
	figures []byte
	says    *door.PlanCopy
}

// PlanOf returns a plan for another process. The error is of a nil plan.
func PlanOf(p *oocore.Plan) (*Snapshot, error) {
	if p == nil {
		return nil, errors.New("there is no plan")
	}
	figures := *p
	figures.Plan = nil //lint:ignore SA1019 it leads to itself, which JSON cannot write
	b, err := json.Marshal(figures)
	return &Snapshot{b, door.CopyOf(p)}, err
}

// Restore makes p the plan of the snapshot.
func (s *Snapshot) Restore(p *oocore.Plan) error {
	if s == nil || p == nil {
		return errors.New("there is no plan")
	}
	if err := json.Unmarshal(s.figures, p); err != nil {
		return err
	}
	p.Plan = p //lint:ignore SA1019 programs that use it find it
	door.SetCopy(p, s.says)
	return nil
}
