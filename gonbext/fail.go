package gonbext

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"

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

// caller returns the line that called Memory or Footprint.
func caller() host.Site {
	_, file, line, _ := runtime.Caller(2)
	return host.Site{File: file, Line: line}
}

// cellLines translates lines of the source that GoNB composes into lines of the cell. Main
// comes last in that source, as the cell has it, and begins with the generated call. Functions
// of the cell stand above it in GoNB's own order, each with its own lines: funcs are the lines
// of the cell that they begin at. What comes from other cells keeps its line.
func cellLines(call host.Site, line int, funcs map[string]int) func(host.Site) host.Site {
	source := sync.OnceValue(func() []string {
		text, _ := os.ReadFile(call.File) // without it all lines of functions are the program's
		return strings.Split(string(text), "\n")
	})
	return func(s host.Site) host.Site {
		switch {
		case s.File != call.File:
			return s
		case s.Line >= call.Line:
			return host.Site{File: "cell", Line: s.Line - call.Line + line}
		case len(funcs) == 0:
			return s
		}
		for at := min(s.Line, len(source())); at > 0; at-- {
			if head := funcHead.FindStringSubmatch(source()[at-1]); head != nil {
				if begins, ok := funcs[strings.TrimPrefix(head[1]+"."+head[2], ".")]; ok {
					return host.Site{File: "cell", Line: s.Line - at + begins}
				}
				return s
			}
		}
		return s
	}
}

// funcHead begins a function, with the type that it is a method of, and its name.
var funcHead = regexp.MustCompile(`^func (?:\((?:\w+ )?\*?(\w+)[^)]*\) )?(\w+)[[(]`)
