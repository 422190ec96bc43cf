package kernel

import "math"

// singleLoop is the loop of an operation that is cheaper for float32 than the
// definition that suits all floats; nil for the others.
func singleLoop(op Op) Func {
	switch op {
	case FloorDivide:
		return mapPairs(floorDivideSingle)
	case Remainder:
		return mapPairs(remainderSingle)
	case Power:
		return mapPairs(powSingle)
	case Arctan2:
		return mapPairs(formulaArctan2Float32)
	case Hypot:
		return mapPairs(formulaHypotFloat32)
	}
	if f := singleMath(op); f != nil {
		return mapOne(f)
	}
	return nil
}

// quotientBits bounds the quotients whose whole part a float64 division gives.
// Unless it is whole, x/y of two float32 is farther than 2⁻²⁴ from any whole
// number, and a float64 below 2²² is rounded by less than 2⁻³¹.
const quotientBits = 22

// quotient is x/y where its floor can be trusted: not where it is large, nor
// where it has become zero of an x that is not.
func quotient(x, y float32) (q float64, ok bool) {
	q = float64(x) / float64(y)
	return q, math.Abs(q) < 1<<quotientBits && (q != 0 || x == 0)
}

func floorDivideSingle(x, y float32) float32 {
	q, ok := quotient(x, y)
	if !ok {
		return floorDivideFloat(x, y)
	}
	if w := math.Floor(q); w != 0 {
		return float32(w)
	}
	return float32(math.Copysign(0, q))
}

func remainderSingle(x, y float32) float32 {
	q, ok := quotient(x, y)
	if !ok {
		return remainderFloat(x, y)
	}
	var r float32
	switch w := math.Floor(q); {
	case w == 0:
		r = x
	case math.Abs(q) < 1: // of the other sign, and rounded once
		return x + y
	default:
		r = float32(float64(x) - w*float64(y)) // the product and the difference are exact
	}
	if r == 0 {
		return copysign(0, y)
	}
	return r
}

// powSingle is x to the power of y.
func powSingle(x, y float32) float32 {
	v, rare := formulaPowerFloat32(float64(x), float64(y))
	if rare {
		v = pow(float64(x), float64(y))
	}
	return float32(v)
}

// singleMath is the formula of one float32 that an operation stands for.
func singleMath(op Op) func(float32) float32 {
	switch op {
	case Exp:
		return formulaExpFloat32
	case Exp2:
		return formulaExp2Float32
	case Expm1:
		return formulaExpm1Float32
	case Sinh:
		return formulaSinhFloat32
	case Cosh:
		return formulaCoshFloat32
	case Tanh:
		return formulaTanhFloat32
	case Log:
		return formulaLogFloat32
	case Log2:
		return formulaLog2Float32
	case Log10:
		return formulaLog10Float32
	case Log1p:
		return formulaLog1pFloat32
	case Erf:
		return formulaErfFloat32
	case Sin:
		return orElse(formulaSinFloat32, sin)
	case Cos:
		return orElse(formulaCosFloat32, cos)
	case Tan:
		return orElse(formulaTanFloat32, tan)
	case Arctan:
		return formulaArctanFloat32
	case Arcsin:
		return formulaArcsinFloat32
	case Arccos:
		return formulaArccosFloat32
	case Arcsinh:
		return formulaArcsinhFloat32
	case Arccosh:
		return formulaArccoshFloat32
	case Arctanh:
		return formulaArctanhFloat32
	case Cbrt:
		return formulaCbrtFloat32
	}
	return nil
}

// orElse is f, or where its operand is rare g.
func orElse(f func(float32) (float32, bool), g func(float64) float64) func(float32) float32 {
	return func(x float32) float32 {
		y, rare := f(x)
		if rare {
			return float32(g(float64(x)))
		}
		return y
	}
}
