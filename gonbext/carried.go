package gonbext

import (
	"github.com/gonbext/gonbext/gonbext/carry"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
)

// Arrays and collections carry over from cell to cell as the expressions that they are, and plans as what they say. What
// the budget has no room for ends the cell before it is read.
func init() {
	carry.Register(host.ExpressionOf, func(e *host.Expression, a *oocore.Array) error {
		*a = *e.Array()
		return nil
	})
	carry.Register(host.PartsOf, func(p *host.Parts, c *oocore.Collection) error {
		*c = *host.Join(p)
		return nil
	})
	carry.Register(host.PlanOf, func(s *host.Snapshot, p *oocore.Plan) error { return s.Restore(p) })
	carry.Room = func(names string, bytes int64) {
		err := host.Counted(names, func(take func(bytes int64) error) error { return take(bytes) })
		if err != nil {
			fail("values of earlier cells", err)
		}
	}
}
