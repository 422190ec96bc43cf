package graph

import (
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Error is an operation that was rejected: which, on what, where in the user's
// program, and why. Its text is one line.
type Error struct {
	Op     string
	Shapes [][]int      // of the operands
	Types  []dtype.Type // of the operands
	Site   Site
	Err    error
}

func (e *Error) Error() string {
	text := e.Op + ": " + e.Err.Error()
	if at := e.Site.String(); at != "" && !strings.HasSuffix(text, " ("+at+")") { // which an operation that this one is made of has said
		text += " (" + at + ")"
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

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
