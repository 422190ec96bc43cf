// Package device says what a device can do of a plan: which kernels it has, and at which rates.
package device

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// Spec is a device as the planner sees it. It is data, so that a plan can be sized
// for a device that this machine does not have.
type Spec struct {
	Name     string
	Memory   int64 // bytes that a run may take; 0 for the CPU
	OnHost   bool  // it is the host's memory: a modelled device's counts in the budget
	Computes Capabilities
	Rates    Rates
	Scratch  int64 // bytes of scratch that kernels of a map or a reduce stage need
	// Parameters are those of a kernel that evaluates a program, at the most; 0 for any number.
	Parameters int
	Partials   int // partial results of a task to which blocks are added in turn, at the most; 0 for one of each accumulator
	// Workspace is the bytes that a product needs besides its panels and accumulators.
	Workspace int64
	// Arithmetic names what rounds reductions and products; "" where they have the CPU's bits.
	Arithmetic string
}

// Capabilities are what a device has kernels for.
type Capabilities struct {
	Elementwise map[kernel.Op]Types // by the type of the operands; of Where, of the last two
	Casts       Types               // both of them
	Folds       map[kernel.Reduction]Types
	Products    Types // of the operands
}

// Rates are those of a device in a second. One that is 0 is not known.
type Rates struct {
	Upload, Download float64 // bytes, while the other continues
	Memory           float64 // bytes
	Arithmetic       float64 // operations of float32
	Float64, Float16 float64 // operations of these types; of those that are not known, as of float32
}

// ArithmeticOf is the rate of operations of a type.
func (r *Rates) ArithmeticOf(t dtype.Type) float64 {
	switch {
	case t == dtype.Float64 && r.Float64 > 0:
		return r.Float64
	case (t == dtype.Float16 || t == dtype.BFloat16) && r.Float16 > 0:
		return r.Float16
	}
	return r.Arithmetic
}

// Types is a set of element types.
type Types uint32

// TypesOf returns the set of those types that keep reports.
func TypesOf(keep func(dtype.Type) bool) (set Types) {
	for t := dtype.Bool; t <= dtype.Complex128; t++ {
		if keep(t) {
			set |= setOf(t)
		}
	}
	return set
}

// Has reports whether a type is in the set.
func (s Types) Has(t dtype.Type) bool { return s&setOf(t) != 0 }

// setOf is the set of one type: bits are the types' places in their list, from 1, which processes tell each other.
func setOf(t dtype.Type) Types { return 2 << (t - dtype.Bool) }

// Lacks says what of a stage the device has no kernel for; "" where it has all.
func (d *Spec) Lacks(s *plan.Stage) string {
	prog := &s.Programs[0]
	if s.Kind == plan.MatMulStage {
		if t := prog.Type(prog.Out[0]); !d.Computes.Products.Has(t) {
			return fmt.Sprintf("has no products of %s", t)
		}
		return ""
	}
	if s.FixedChunks || prog.Plain() && prog.HasBlocks() && len(s.Folds) == 0 {
		return "has no kernel for it"
	}
	if n := prog.KernelParameters(); d.Parameters > 0 && n > d.Parameters {
		return fmt.Sprintf("has kernels of %d parameters, and it takes %d", d.Parameters, n)
	}
	for _, in := range prog.Code {
		switch {
		case in.Op == kernel.Invalid:
			if !d.Computes.Casts.Has(in.Type) || !d.Computes.Casts.Has(in.To) {
				return fmt.Sprintf("does not convert %s to %s", in.Type, in.To)
			}
		case !d.Computes.Elementwise[in.Op].Has(in.Type):
			return fmt.Sprintf("has no %s of %s", in.Op, in.Type)
		}
	}
	for v := range prog.Loads { // views and copies are conversions to the same type
		if t := prog.Type(v); !d.Computes.Casts.Has(t) {
			return fmt.Sprintf("has no kernels for %s", t)
		}
	}
	for i, f := range s.Folds {
		if t := prog.Type(prog.Out[s.FoldOut(i)]); !d.Computes.Folds[f.Kind].Has(t) {
			return fmt.Sprintf("has no %s of %s", f.Kind, t)
		}
	}
	return ""
}

// Rounds reports a stage that the device has kernels for, of which some have other bits than
// the CPU's: sums of floats, products of them, and extremes, of which either zero may be
// one. Whether the stage fits is not asked: a fingerprint is the same for each budget.
func (d *Spec) Rounds(s plan.Stage) bool {
	if d.Memory == 0 || d.Arithmetic == "" || d.Lacks(&s) != "" {
		return false
	}
	if s.MatMul != nil {
		return s.MatMul.Type.Kind() >= dtype.KindFloat
	}
	prog := &s.Programs[0]
	for i, f := range s.Folds {
		extreme := f.Kind == kernel.Min || f.Kind == kernel.Max
		if s.RoundsFold(i) || extreme && prog.Type(prog.Out[s.FoldOut(i)]).Kind() >= dtype.KindFloat {
			return true
		}
	}
	return false
}
