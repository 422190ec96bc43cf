package oocore

import (
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/elements"
)

// Operations of two operands take an array or a number of Go, and broadcast.

// Add returns a + b.
func (a *Array) Add(b any) *Array { return apply(kernel.Add, a, b) }

// Sub returns a - b.
func (a *Array) Sub(b any) *Array { return apply(kernel.Subtract, a, b) }

// Mul returns a * b, element by element.
func (a *Array) Mul(b any) *Array { return apply(kernel.Multiply, a, b) }

// Div returns a / b, of integers in float64.
func (a *Array) Div(b any) *Array { return apply(kernel.Divide, a, b) }

// FloorDiv returns the largest integer below or equal to a / b.
func (a *Array) FloorDiv(b any) *Array { return apply(kernel.FloorDivide, a, b) }

// Mod returns what FloorDiv leaves, with the sign of b.
func (a *Array) Mod(b any) *Array { return apply(kernel.Remainder, a, b) }

// Pow returns a to the power of b. A negative exponent of integers is an error, which for an
// array of exponents comes when it is computed.
func (a *Array) Pow(b any) *Array { return both("power", elements.Power, a, b) }

// Minimum returns the smaller of a and b; NaN where one is NaN.
func (a *Array) Minimum(b any) *Array { return apply(kernel.Minimum, a, b) }

// Maximum returns the larger of a and b; NaN where one is NaN.
func (a *Array) Maximum(b any) *Array { return apply(kernel.Maximum, a, b) }

// Fmin returns the smaller of a and b; the other where one is NaN.
func (a *Array) Fmin(b any) *Array { return apply(kernel.Fmin, a, b) }

// Fmax returns the larger of a and b; the other where one is NaN.
func (a *Array) Fmax(b any) *Array { return apply(kernel.Fmax, a, b) }

// Arctan2 returns the angle of the point (b, a).
func (a *Array) Arctan2(b any) *Array { return apply(kernel.Arctan2, a, b) }

// Hypot returns the square root of a² + b², without overflow between.
func (a *Array) Hypot(b any) *Array { return apply(kernel.Hypot, a, b) }

// Copysign returns a with the sign of b.
func (a *Array) Copysign(b any) *Array { return apply(kernel.Copysign, a, b) }

// Equal returns whether a = b.
func (a *Array) Equal(b any) *Array { return apply(kernel.Equal, a, b) }

// NotEqual returns whether a ≠ b.
func (a *Array) NotEqual(b any) *Array { return apply(kernel.NotEqual, a, b) }

// Less returns whether a < b.
func (a *Array) Less(b any) *Array { return apply(kernel.Less, a, b) }

// LessEqual returns whether a ≤ b.
func (a *Array) LessEqual(b any) *Array { return apply(kernel.LessEqual, a, b) }

// Greater returns whether a > b.
func (a *Array) Greater(b any) *Array { return apply(kernel.Greater, a, b) }

// GreaterEqual returns whether a ≥ b.
func (a *Array) GreaterEqual(b any) *Array { return apply(kernel.GreaterEqual, a, b) }

// LogicalAnd returns whether both are true, that is, not zero.
func (a *Array) LogicalAnd(b any) *Array { return apply(kernel.LogicalAnd, a, b) }

// LogicalOr returns whether one is true.
func (a *Array) LogicalOr(b any) *Array { return apply(kernel.LogicalOr, a, b) }

// LogicalXor returns whether exactly one is true.
func (a *Array) LogicalXor(b any) *Array { return apply(kernel.LogicalXor, a, b) }

// BitwiseAnd returns the bits that both integers have.
func (a *Array) BitwiseAnd(b any) *Array { return apply(kernel.BitAnd, a, b) }

// BitwiseOr returns the bits that one of the integers has.
func (a *Array) BitwiseOr(b any) *Array { return apply(kernel.BitOr, a, b) }

// BitwiseXor returns the bits that exactly one of the integers has.
func (a *Array) BitwiseXor(b any) *Array { return apply(kernel.BitXor, a, b) }

// LeftShift returns the bits of a moved up by b places.
func (a *Array) LeftShift(b any) *Array { return apply(kernel.LeftShift, a, b) }

// RightShift returns the bits of a moved down by b places, keeping the sign.
func (a *Array) RightShift(b any) *Array { return apply(kernel.RightShift, a, b) }

// Where returns x where the condition is true, that is, not zero, and y elsewhere.
func Where(condition *Array, x, y any) *Array { return apply(kernel.Where, condition, x, y) }
