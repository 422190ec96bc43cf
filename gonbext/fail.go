package gonbext

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gonbext/gonbext/gonbext/internal/watchdog"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/units"
)

// fail ends the cell with an error in one line. The cell's deferred functions do
// not run, as after log.Fatal; the report comes all the same.
func fail(op string, err error) {
	text := explain(op, err, host.Caller())
	say("Error", text)
	current.why = text
	current.end()
	os.Exit(1)
}

// say says why the cell ends: the kernel shows it as the cell's error.
func say(name, text string) {
	watchdog.Tell(watchdog.Ending{Name: name, Text: text})
	fmt.Fprintln(os.Stderr, units.Text(text))
}

// leave ends a cell whose next line needs values that a footprint does not compute.
func leave(op string) {
	fmt.Printf("%s (%s) needs values, and a footprint computes none: the cell ends there.\n", op, host.Caller())
	current.end()
	os.Exit(0)
}

// explain returns an error as a cell shows it, in one line: what failed, why, and
// where in the cell.
func explain(op string, err error, at host.Site) string {
	text := err.Error()
	if _, named := errors.AsType[*oocore.Error](err); !named {
		text = fmt.Sprintf("%s: %s (%s)", op, text, at)
	}
	if errors.Is(err, context.Canceled) && current.on == "" { // of a cluster it says what becomes of the run
		text = fmt.Sprintf("%s: interrupted (%s)", op, at)
	}
	return strings.ReplaceAll(text, "\n", "; ")
}
