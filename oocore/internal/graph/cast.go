package graph

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// AsType returns the array in another type, as NumPy's astype, save that a complex
// array is not made real in silence.
func AsType(site Site, n *Node, t dtype.Type) (*Node, error) {
	out, err := cast(site, n, t)
	if err != nil {
		return nil, reject(site, "astype", err, n)
	}
	return out, nil
}

// CheckType returns what is wrong with the first argument of a function that makes an array, where that is no type: the
// length that a program had for NumPy, mostly. The right call begins with call, and goes on with it and the numbers behind it.
func CheckType(t dtype.Type, call string, numbers ...any) error {
	if t.Known() {
		return nil
	}
	given := strings.FieldsFunc(fmt.Sprint(uint32(t), numbers), func(r rune) bool { return strings.ContainsRune("[] ", r) })
	return fmt.Errorf("%s stands where the type of the elements does: write %s, %s)", given[0], call, strings.Join(given, ", "))
}

// checkType is CheckType for what makes an array of another.
func checkType(t dtype.Type) error {
	if t.Known() {
		return nil
	}
	return fmt.Errorf("%d is no type of elements: write one by its name, such as oocore.Float64", uint32(t))
}

func cast(site Site, n *Node, t dtype.Type) (*Node, error) {
	if err := checkType(t); err != nil {
		return nil, err
	}
	if n.DType == t && !n.Weak {
		return n, nil
	}
	if n.DType.Kind() == dtype.KindComplex && t.Kind() < dtype.KindComplex && t != dtype.Bool {
		return nil, fmt.Errorf("%s to %s would drop the imaginary part: take Real, Imag or Abs", n.DType, t)
	}
	if n.Kind == Constant {
		if v, ok := n.Value.Convert(t); ok {
			return &Node{Kind: Constant, Shape: n.Shape, DType: t, Value: v, Site: n.Site}, nil
		}
		strong := *n
		strong.Weak = false
		n = &strong
	}
	return &Node{Kind: Cast, Shape: n.Shape, DType: t, In: []*Node{n}, Site: site}, nil
}
