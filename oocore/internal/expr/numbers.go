package expr

import (
	"errors"
	"go/token"
	"math/bits"
)

var errOverflow = errors.New("the result is beyond int64")

// foldNumbers computes with two numbers as Python does, so that the result is
// still weak: 2*3*x has x's type. It returns nil for what is left to arrays.
func foldNumbers(op token.Token, a, b any) (any, error) {
	if op != token.ADD && op != token.SUB && op != token.MUL && op != token.QUO {
		return nil, nil
	}
	x, isInt := a.(int64)
	y, both := b.(int64)
	if isInt && both && op != token.QUO {
		return foldInts(op, x, y)
	}
	u, v := toComplex(a), toComplex(b)
	if op == token.QUO && v == 0 {
		return nil, errors.New("division by zero")
	}
	_, left := a.(complex128)
	_, right := b.(complex128)
	if left || right {
		switch op {
		case token.ADD:
			return u + v, nil
		case token.SUB:
			return u - v, nil
		case token.MUL:
			return u * v, nil
		}
		return u / v, nil
	}
	f, g := real(u), real(v)
	switch op {
	case token.ADD:
		return f + g, nil
	case token.SUB:
		return f - g, nil
	case token.MUL:
		return f * g, nil
	}
	return f / g, nil
}

func foldInts(op token.Token, x, y int64) (any, error) {
	switch op {
	case token.ADD:
		if s := x + y; (s > x) == (y > 0) {
			return s, nil
		}
		return nil, errOverflow
	case token.SUB:
		if d := x - y; (d < x) == (y > 0) {
			return d, nil
		}
		return nil, errOverflow
	}
	high, low := bits.Mul64(magnitude(x), magnitude(y))
	negative := (x < 0) != (y < 0)
	if high != 0 || low > 1<<63 || low == 1<<63 && !negative {
		return nil, errOverflow
	}
	if negative {
		return -int64(low), nil
	}
	return int64(low), nil
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func toComplex(v any) complex128 {
	switch v := v.(type) {
	case int64:
		return complex(float64(v), 0)
	case float64:
		return complex(v, 0)
	}
	return v.(complex128)
}
