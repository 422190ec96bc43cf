package gonbext

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/host"
)

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
