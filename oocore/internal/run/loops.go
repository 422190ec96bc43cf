package run

import (
	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/types"
)

// besideLoops is the error of a run that needs a budget by itself, and has what loops leave.
// Each of these takes about half of what it finds, and the program's own memory grows meanwhile.
func besideLoops(op string, need, overhead, limit int64, loops budget.Loops) error {
	foreseen := max(overhead, budget.Foreseen(limit))
	need = foreseen + max(need-overhead+loops.Bytes, (need-overhead)<<loops.N)
	return &types.MemoryError{Op: op, Need: size.WholeMiB(need), Limit: limit, Held: loops.Bytes, Holder: loops.Name}
}
