package gonbext

import (
	"runtime"

	"github.com/gonbext/gonbext/oocore/graph"
)

// caller is the line that called Memory or Footprint.
func caller() graph.Site {
	_, file, line, _ := runtime.Caller(2)
	return graph.Site{File: file, Line: line}
}

// cellLines translates lines of the source that GoNB composes into lines of the
// cell. Main comes last in that source, as the cell has it, and begins with the
// generated call; what stands above comes from anywhere, and keeps its line.
func cellLines(call graph.Site, line int) func(graph.Site) graph.Site {
	return func(s graph.Site) graph.Site {
		if s.File != call.File || s.Line < call.Line {
			return s
		}
		return graph.Site{File: "cell", Line: s.Line - call.Line + line}
	}
}
