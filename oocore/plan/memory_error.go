package plan

import (
	"cmp"
	"fmt"

	"github.com/gonbext/gonbext/oocore/units"
)

// MemoryError is returned when a budget is too small, before anything is read.
// A budget of Need bytes works.
type MemoryError struct {
	Op          string
	Need, Limit int64
	Held        int64  // part of Need that is held already; 0 where that is little
	Holder      string // what holds it; "" for the program itself
}

func (e *MemoryError) Error() string {
	held := ""
	if e.Held > 0 {
		held = fmt.Sprintf(", %s of it for %s,", mib(e.Held), cmp.Or(e.Holder, "what the program itself holds"))
	}
	return fmt.Sprintf("%s needs a budget of %s (%s)%s and has %s (%s)",
		e.Op, mib(e.Need), units.Exact(e.Need), cmp.Or(held, ","), mib(e.Limit), units.Exact(e.Limit))
}

// mib writes a size in a form that a budget can be given in.
func mib(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%dMiB", n>>20)
	}
	if n%(1<<10) == 0 {
		return fmt.Sprintf("%dKiB", n>>10)
	}
	return fmt.Sprintf("%dB", n)
}
