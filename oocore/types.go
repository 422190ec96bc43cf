package oocore

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/types"
)

// DType is the type of an array's elements. Its String is NumPy's name.
type DType = dtype.Type

// The types of elements.
const (
	Bool       = dtype.Bool
	Int8       = dtype.Int8
	Int16      = dtype.Int16
	Int32      = dtype.Int32
	Int64      = dtype.Int64
	Uint8      = dtype.Uint8
	Uint16     = dtype.Uint16
	Uint32     = dtype.Uint32
	Uint64     = dtype.Uint64
	Float16    = dtype.Float16
	BFloat16   = dtype.BFloat16
	Float32    = dtype.Float32
	Float64    = dtype.Float64
	Complex64  = dtype.Complex64
	Complex128 = dtype.Complex128

	Float8E4M3FN = dtype.Float8E4M3FN // stored only: operations take it as float32
	Float8E5M2   = dtype.Float8E5M2
)

// Element is a Go type that elements can have.
type Element = dtype.Element

// The two floats of 16 bits, in their bits; package dtype has those of 8.
type (
	Float16Bits  = dtype.Float16Bits
	BFloat16Bits = dtype.BFloat16Bits
)

// Block is a part of an array: Start included, Start+Shape excluded.
type Block = types.Box

// internals are what other packages of this module use and programs do not: those with
// internals = door.Get(oocore.Plan{}).
type internals struct{}

type carrier = door.Carrier[internals]
