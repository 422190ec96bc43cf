package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/gonbext/gonbext/oocore/store"
)

// Fingerprint identifies what a plan computes and where to, whatever its budget: two
// plans with the same one write the same bytes to the same place. The zero one is
// that of a plan with Go functions and no version of them, which is like no other.
type Fingerprint struct {
	Engine     string `json:"engine"`
	Output     string `json:"output"` // place and layout
	Inputs     string `json:"inputs"` // versions of the files that are read
	Expression string `json:"expression"`
}

// Difference says why a run with one fingerprint cannot go on where one with another
// stopped; "" where it can.
func (f Fingerprint) Difference(earlier Fingerprint) string {
	switch {
	case f == Fingerprint{}:
		return "its Go function has no version"
	case f == earlier:
		return ""
	case f.Engine != earlier.Engine:
		return "it was begun by another version of gonbext"
	case f.Output != earlier.Output:
		return "it is to be stored in another way"
	case f.Inputs != earlier.Inputs:
		return "an input has changed"
	}
	return "the expression is another"
}

// Fingerprint is the plan's. version stands for the Go functions that take part.
// digests identify the stored chunks of inputs that have them, by their index in
// Arrays.
func (p *Plan) Fingerprint(version string, digests map[int]string) Fingerprint {
	if p.bound && version == "" {
		return Fingerprint{}
	}
	type input struct {
		ID     store.Identity
		Name   string // of the array in its file
		Digest string
	}
	var inputs []input
	what := Plan{Arrays: slices.Clone(p.Arrays), Output: p.Output}
	var out Array
	for i := range what.Arrays {
		a := &what.Arrays[i]
		a.Work, a.Layout.Work = store.Work{}, store.Work{} // this machine's
		switch a.Place {
		case InFile:
			inputs = append(inputs, input{a.ID, filepath.Base(a.Path), digests[i]})
			a.Path, a.ID, a.Name = "", store.Identity{}, ""
		case InResult:
			out = *a
			out.Name = "" // which is the expression
			*a = Array{Place: InResult, Shape: a.Shape, DType: a.DType}
		}
	}
	if whole, err := store.Absolute(out.Path); err == nil {
		out.Path = whole
	}
	for _, s := range p.Stages {
		one := Stage{Kind: s.Kind, Grid: s.Grid, Programs: s.Programs, Outputs: s.Outputs, Folds: s.Folds, MatMul: s.MatMul,
			FoldTile: s.FoldTile, FoldBlock: s.FoldBlock}
		what.Stages = append(what.Stages, one)
	}
	return Fingerprint{Engine: p.Engine, Output: sum(out), Inputs: sum(inputs), Expression: sum([]any{&what, version})}
}

// sum is a digest of what a value is written as.
func sum(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("plan: a plan cannot be written: " + err.Error()) // all of it are plain values
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:16])
}
