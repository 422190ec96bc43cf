package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Fingerprint identifies what a plan computes and where to: two runs with the same one
// write the same bytes to the same place. Budget, workers and where temporary arrays lie
// are not in it. The zero one is that of a plan with Go functions and no version of them,
// or with an input whose version cannot be known, which is like no other.
type Fingerprint struct {
	Revisions  string `json:"engine"`     // of the operations and algorithms that the plan uses
	Arithmetic string `json:"arithmetic"` // of this machine, as far as the bits depend on it
	Output     string `json:"output"`     // place and layout
	Inputs     string `json:"inputs"`     // places and versions of what is read
	Expression string `json:"expression"`
}

// Difference says why a run with one fingerprint cannot resume one with another; ""
// where it can.
func (f Fingerprint) Difference(earlier Fingerprint) string {
	switch {
	case f == Fingerprint{}:
		return "a Go function or an input of it has no version"
	case f == earlier:
		return ""
	case f.Revisions != earlier.Revisions:
		return revisionDifference(f.Revisions, earlier.Revisions)
	case f.Output != earlier.Output:
		return "it is to be stored in another way"
	case f.Inputs != earlier.Inputs:
		return "an input has changed"
	case f.Expression != earlier.Expression:
		return "the expression is another"
	}
	return "it was begun with another BLAS library, or on another processor or device, which round in another way"
}

// OtherInputs reports that of two fingerprints only the inputs differ, which may be other versions of the same.
func (f Fingerprint) OtherInputs(earlier Fingerprint) bool {
	same := f
	same.Inputs = earlier.Inputs
	return f.Inputs != earlier.Inputs && same == earlier
}

// Fingerprint is the plan's. version stands for the Go functions that take part; inputs
// are the versions of the stored arrays that are read, by their index in Arrays.
func (p *Plan) Fingerprint(version string, inputs map[int]storage.Version) Fingerprint {
	if p.Function != "" && version == "" {
		return Fingerprint{}
	}
	type input struct {
		Place   string
		Version storage.Version
	}
	var read []input
	for i := range p.Arrays {
		if p.Arrays[i].Place != InFile {
			continue
		}
		if inputs[i].Unknown {
			return Fingerprint{}
		}
		read = append(read, input{absolute(p.Arrays[i].Path), inputs[i]})
	}
	what, outputs := p.bare()
	return Fingerprint{Revisions: p.Revisions, Arithmetic: p.arithmetic(), Output: digest(outputsOf(outputs, p.Collections)), Inputs: digest(read), Expression: digest([]any{what, version})}
}

// bare is what the bits of results depend on, apart from inputs, and how the outputs are stored.
func (p *Plan) bare() (what *Plan, outputs []Array) {
	what = &Plan{Arrays: slices.Clone(p.Arrays), Output: p.Output, Others: p.Others}
	for i := range what.Arrays {
		a := &what.Arrays[i]
		a.Work, a.Layout.Work = store.Work{}, store.Work{} // this machine's
		switch a.Place {
		case InFile:
			*a = Array{Place: InFile, Shape: a.Shape, DType: a.DType, Chunks: a.Chunks}
		case InData:
			data := sha256.Sum256(a.Data)
			*a = Array{Place: InData, Shape: a.Shape, DType: a.DType, Data: data[:]}
		case InResult:
			out := *a
			out.Name, out.Path = "", absolute(out.Path)
			if c := out.Collection; c > 0 && p.Collections[c-1].Add { // its path says as much
				out.Collection, out.Member = 0, ""
			}
			outputs = append(outputs, out)
			*a = Array{Place: InResult, Shape: a.Shape, DType: a.DType}
		default: // where a temporary array lies, and in which blocks, changes no bits
			*a = Array{Place: InTemp, Shape: a.Shape, DType: a.DType}
		}
	}
	for _, s := range p.Stages {
		one := Stage{Kind: s.Kind, Grid: s.Grid, Programs: s.Programs, Outputs: s.Outputs, Folds: s.Folds, MatMul: s.MatMul,
			FoldTile: s.FoldTile, FoldBlock: s.FoldBlock}
		what.Stages = append(what.Stages, one)
	}
	return what, outputs
}

// outputsOf is what says where outputs go and how they are stored.
func outputsOf(arrays []Array, collections []storage.CollectionMeta) any {
	all := slices.DeleteFunc(slices.Clone(collections), func(m storage.CollectionMeta) bool { return m.Add })
	if len(all) == 0 {
		return arrays
	}
	for i := range all {
		all[i].Path = absolute(all[i].Path)
	}
	return []any{arrays, all}
}

func absolute(path string) string {
	if whole, err := storage.Absolute(path); err == nil {
		return whole
	}
	return path
}

// arithmetic names what besides the plan the bits of its results depend on: ""
// where they are the same on every machine.
func (p *Plan) arithmetic() string {
	switch p.rounding() {
	case exact:
		return ""
	case loops:
		return kernel.Vectors()
	}
	return kernel.Vectors() + ", " + kernel.Multiplier()
}

// rounding says which of this machine's arithmetic the bits of a result depend on.
type rounding int

// The kinds of rounding, each of which includes those before.
const (
	exact    rounding = iota
	loops             // the width of vectors
	products          // the library that multiplies matrices
)

// rounding is that of all stages.
func (p *Plan) rounding() (most rounding) {
	for i := range p.Stages {
		s := &p.Stages[i]
		for k := range s.Programs {
			most = max(most, s.Programs[k].rounding())
		}
		for k := range s.Folds {
			most = max(most, s.foldRounding(k))
		}
		if s.MatMul != nil && s.MatMul.Type.Kind() >= dtype.KindFloat {
			most = products
		}
	}
	return most
}

// rounding is that of the operations among the loads: what is computed element by element has
// the same bits everywhere.
func (p *Program) rounding() (most rounding) {
	for i := range p.Loads {
		l := &p.Loads[i]
		r, rows := l.Rows()
		switch {
		case rows:
			most = max(most, r.Plan.rounding())
		case l.Kind != LoadBlocks || blockwise.Has(l.Op.Op, blockwise.Exact):
		case blockwise.Has(l.Op.Op, blockwise.Products):
			most = products
		default:
			most = max(most, loops)
		}
		for k := range l.Inputs {
			most = max(most, l.Inputs[k].rounding())
		}
	}
	return most
}

// RoundsFold reports a fold whose bits depend on how its additions are grouped.
func (s *Stage) RoundsFold(i int) bool { return s.foldRounding(i) > exact }

func (s *Stage) foldRounding(i int) rounding {
	prog := &s.Programs[0]
	if prog.Type(prog.Out[s.FoldOut(i)]).Kind() < dtype.KindFloat && s.Folds[i].Kind.Row().Family == kernel.Total {
		return exact
	}
	switch s.Folds[i].Kind {
	case kernel.Sum, kernel.Prod, kernel.Mean, kernel.Var, kernel.Std:
		return loops
	}
	return exact
}

// digest is of what a value is written as.
func digest(v any) string {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(v); err != nil {
		panic("plan: a plan cannot be written: " + err.Error()) // all of it are plain values
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
