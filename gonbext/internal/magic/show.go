package magic

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/units"
)

// show answers a magic that needs no Go.
func (r *rewriting) show(m *magic, given []setting, operands []string) error {
	switch m.name {
	case "%footprint":
		return r.footprint(given, operands)
	case "%chunks":
		return r.chunks(operands)
	case "%runs":
		return r.runs(operands)
	case "%report":
		return r.report(given, operands)
	case "%compare":
		return r.compare(given, operands)
	case "%budget":
		return r.budget(operands)
	case "%device":
		return r.device(operands)
	case "%disk":
		return r.disk(operands)
	case "%who", "%whos":
		return r.who(operands, r.session, m.name == "%whos")
	}
	if m.name == "%help" && len(operands) == 1 {
		return r.helpOn(operands[0])
	}
	if len(operands) > 0 {
		return fmt.Errorf("it takes no words, and got %q", operands[0])
	}
	r.explain(help(), helpPage())
	return nil
}

// say shows plain text.
func (r *rewriting) say(text string) {
	r.Displays = append(r.Displays, relay.Bundle{
		Data:     map[string]any{"text/plain": text},
		Metadata: map[string]any{},
	})
}

// explain shows a text that has a form for notebooks.
func (r *rewriting) explain(text, markdown string) {
	r.Displays = append(r.Displays, relay.Bundle{
		Data:     map[string]any{"text/plain": text, "text/markdown": markdown},
		Metadata: map[string]any{},
	})
}

// later shows what is known when the cell's turn has come: the cells before it may
// make what it speaks of.
func (r *rewriting) later(name string, show relay.Late) {
	r.Late = append(r.Late, func(ctx context.Context, now relay.Now) (chart.Output, error) {
		out, err := show(ctx, now)
		if err != nil {
			err = plainError(fmt.Errorf("%s: %w", name, err))
		}
		return out, err
	})
}

// unset takes a setting back.
const unset = "none"

func (r *rewriting) budget(operands []string) error {
	if len(operands) == 2 {
		if size := inOneWord(operands[0], operands[1]); size != "" {
			return fmt.Errorf("write the size in one word: %%budget %s", size)
		}
	}
	if err := inherit(&r.inherited.budget, operands, "size", checkSize); err != nil {
		return err
	}
	if r.inherited.budget == "" {
		n, why := machine.Read().DefaultBudget()
		r.say(fmt.Sprintf("No budget is set, so a run takes up to %s: %s.", units.Bytes(n), why))
		return nil
	}
	n, err := units.ParseSize(r.inherited.budget)
	if err != nil {
		return err
	}
	r.say(fmt.Sprintf("Budget of the cells that follow: %s (%s).", units.Bytes(n), units.Exact(n)))
	return nil
}

// inherit sets what later cells inherit to an operand, if there is one and a check lets it pass, or takes it back.
func inherit(to *string, operands []string, what string, check func(string) error) error {
	if err := atMostOne(operands, what); err != nil || len(operands) == 0 {
		return err
	}
	if operands[0] == unset {
		*to = ""
		return nil
	}
	if err := check(operands[0]); err != nil {
		return err
	}
	*to = operands[0]
	return nil
}

func atMostOne(operands []string, what string) error {
	if len(operands) > 1 {
		return fmt.Errorf("it takes one %s, and got %q and %q", what, operands[0], operands[1])
	}
	return nil
}
