package elements

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Power is NumPy's power. A negative exponent of integers is an error, which for an array
// of exponents comes when it is computed.
func Power(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
	if dtype.Promote(a.DType, b.DType).Integer() && b.DType.Kind() == dtype.KindInt && b.Kind != graph.Constant {
		m := &graph.Maker{Site: site}
		if b = m.FailIf(m.Apply(kernel.Less, b, m.Number(0)), b, "integers have no negative integer powers: bring either side to float64 with AsType"); m.Err != nil {
			return nil, m.Err
		}
	}
	return graph.Apply(site, kernel.Power, a, b)
}
