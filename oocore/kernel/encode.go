package kernel

import (
	"fmt"
	"strconv"
	"strings"
)

// Plans and fingerprints hold operations and reductions as JSON: those of the release that
// first kept results by a number, their place in these lists, all others by their name. So
// neither a new operation nor the order of the constants changes what is written of another.
const (
	numberedOps = " add subtract multiply divide floor_divide remainder power minimum maximum fmin fmax arctan2 hypot copysign" +
		" logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift equal not_equal less less_equal" +
		" greater greater_equal negative abs sign square sqrt cbrt reciprocal exp exp2 expm1 log log2 log10 log1p erf sin cos tan" +
		" arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh floor ceil trunc rint invert logical_not isnan isinf isfinite" +
		" real imag conjugate where multiply_add"
	numberedReductions = " sum prod mean var std min max argmin argmax any all count_nonzero"
)

// encoding is how the constants of a type are written. The zero one is 0.
type encoding[T comparable] struct {
	text map[T]string
	of   map[string]T
}

func encodingOf[T interface {
	~uint8
	fmt.Stringer
}](numbered string, end T) encoding[T] {
	numbers := map[string]int{}
	for i, name := range strings.Split(numbered, " ") {
		numbers[name] = i
	}
	e := encoding[T]{text: map[T]string{0: "0"}, of: map[string]T{"0": 0}}
	for v := T(1); v < end; v++ {
		text := strconv.Quote(v.String())
		if n, ok := numbers[v.String()]; ok {
			text = strconv.Itoa(n)
		}
		e.text[v], e.of[text] = text, v
	}
	return e
}

func (e *encoding[T]) marshal(v T) ([]byte, error) {
	if text, ok := e.text[v]; ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("there is no operation %v", v)
}

func (e *encoding[T]) unmarshal(b []byte, v *T) error {
	known, ok := e.of[string(b)]
	if !ok {
		return fmt.Errorf("there is no operation %s in this program", b)
	}
	*v = known
	return nil
}

var (
	opEncoding        = encodingOf(numberedOps, lastOp)
	reductionEncoding = encodingOf(numberedReductions, Reduction(len(reductionNames)))
)

// MarshalJSON writes the operation for plans and fingerprints.
func (o Op) MarshalJSON() ([]byte, error) { return opEncoding.marshal(o) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (o *Op) UnmarshalJSON(b []byte) error { return opEncoding.unmarshal(b, o) }

// MarshalJSON writes the reduction for plans and fingerprints.
func (r Reduction) MarshalJSON() ([]byte, error) { return reductionEncoding.marshal(r) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Reduction) UnmarshalJSON(b []byte) error { return reductionEncoding.unmarshal(b, r) }
