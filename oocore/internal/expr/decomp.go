package expr

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/decompose"
)

// Decomposes reports whether the expression calls what runs an algorithm.
func (t *Text) Decomposes() (found bool) {
	if t.err != nil {
		return false
	}
	ast.Inspect(t.tree, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			id, named := call.Fun.(*ast.Ident)
			found = found || named && slices.ContainsFunc(decompose.Rows, func(r op.Row) bool { return r.Name == id.Name })
		}
		return true
	})
	return found
}

// decompositionKey tells apart what is decomposed in one expression. It holds the array,
// so that no other one is at its address.
type decompositionKey struct {
	x    *graph.Node
	rest string
}

func keyOf(d op.Decomposition) decompositionKey {
	x := d.X
	d.X, d.Site = nil, graph.Site{}
	return decompositionKey{x, fmt.Sprintf("%+v", d)}
}

// decomposed runs a decomposition, once for all its parts that an expression takes of one
// array: a named one, for what is computed is another at each place where it is written.
func (p *reader) decomposed(d op.Decomposition) (*op.Decomposed, error) {
	key := keyOf(d)
	if out := p.parts[key]; out != nil {
		return out, nil
	}
	out, err := p.host.Decompose(d)
	if err == nil {
		p.parts[key] = out
	}
	return out, err
}
