package graph

import (
	"github.com/gonbext/gonbext/oocore/types"
)

// Error is an operation that was rejected.
type Error = types.Error

func reject(site Site, op string, err error, in ...*Node) error {
	e := &Error{Op: op, Site: site, Err: err}
	for _, n := range in {
		if n == nil { // an operand that could not be made is what err is about
			continue
		}
		e.Shapes = append(e.Shapes, n.Shape)
		e.Types = append(e.Types, n.DType)
	}
	return e
}
