package gonbext

import (
	"errors"

	"github.com/gonbext/gonbext/gonbext/carry"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
)

// Arrays and collections carry over from cell to cell as the expressions that they are.
func init() {
	carry.Register(host.ExpressionOf, func(e *host.Expression, a *oocore.Array) error {
		*a = *e.Array()
		return nil
	})
	carry.Register(host.PartsOf, func(p *host.Parts, c *oocore.Collection) error {
		*c = *host.Join(p)
		return nil
	})
	carry.Register(func(*oocore.Plan) (*struct{}, error) {
		return nil, errors.New("a plan belongs to the program that made it: call Plan again")
	}, func(*struct{}, *oocore.Plan) error { return nil })
}
