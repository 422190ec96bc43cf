package graph

import (
	"fmt"

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

func cast(site Site, n *Node, t dtype.Type) (*Node, error) {
	if !t.Known() {
		return nil, fmt.Errorf("%s is not a type of elements: use one by its name, such as Float32", t)
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
