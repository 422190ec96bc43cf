package gonbext

import (
	"fmt"
	"time"

	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Time is Plain for a cell that prints how long it took as its last line. Defer the function that it
// returns.
func Time(opts ...Option) func() {
	end := begin(&cell{plain: true}, caller(), opts)
	begun, cpu := time.Now(), machine.CPUTime()
	return func() {
		end()
		said := record.Card{Text: fmt.Sprintf("Wall time %s · CPU time %s\n", units.Duration(time.Since(begun)), units.Duration(machine.CPUTime()-cpu))}
		if !drawn(&said) {
			fmt.Print(said.Text)
		}
	}
}
