package gonbext

import (
	"os"
	"runtime"
	"strings"

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
			return composed(s)
		}
		return graph.Site{File: "cell", Line: s.Line - call.Line + line}
	}
}

func init() {
	if os.Getenv("GONB_PIPE") != "" { // which GoNB gives to its cells
		graph.Relocate(composed)
	}
}

// composed names a line of the source that GoNB composes without its file's
// extension: GoNB takes "main.go:7" in what a cell prints for a compile error,
// and dies of one that has colons before it, as in "open: x.npy: … (main.go:7)".
func composed(s graph.Site) graph.Site {
	if strings.HasSuffix(s.File, "main.go") || strings.HasSuffix(s.File, "main_test.go") { // so does GoNB
		s.File = strings.TrimSuffix(s.File, ".go")
	}
	return s
}
