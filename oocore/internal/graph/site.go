package graph

import (
	"os"
	"runtime"
	"strings"
	"sync/atomic"
)

const (
	module  = "github.com/gonbext/gonbext"
	command = "/gonbext/cmd/gonbext/" // in the paths of the command's own files
)

// oocoreFiles and gonbextFiles are the folders of this module's sources when it was compiled.
var oocoreFiles, gonbextFiles = func() (string, string) {
	_, file, _, _ := runtime.Caller(0)
	module := strings.TrimSuffix(file, "oocore/internal/graph/site.go")
	return module + "oocore/", module + "gonbext/"
}()

// own reports a line of this module. A function literal of it that is inlined has the name of the user's function.
func own(f runtime.Frame) bool {
	return strings.HasPrefix(f.Function, module+"/") || strings.HasPrefix(f.Function, module+".") ||
		strings.HasPrefix(f.File, oocoreFiles) || strings.HasPrefix(f.File, gonbextFiles)
}

// Caller returns the innermost line of the user's own program on the stack: the
// first outside this module, whose tests count as users. Where the user's
// program is the gonbext command there is none. It takes about a microsecond.
func Caller() Site {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.Contains(f.File, command) && !strings.HasSuffix(f.File, "_test.go") {
			return Site{}
		}
		if f.File != "" && (!own(f) || strings.HasSuffix(f.File, "_test.go")) {
			return shown(f)
		}
		if !more {
			return Site{}
		}
	}
}

// shown is a frame's line as the user knows it.
func shown(f runtime.Frame) Site {
	site := Site{File: f.File, Line: f.Line}
	if f := relocation.Load(); f != nil {
		site = (*f)(site)
	}
	if inGoNB {
		site = composed(site)
	}
	return site
}

// Panicked returns the line at which a function panicked: the innermost one that is not of
// Go's own packages. A deferred function that has recovered calls it.
func Panicked() Site {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var last runtime.Frame
	panicking := false
	for {
		f, more := frames.Next()
		switch first, _, _ := strings.Cut(f.Function, "/"); {
		case strings.HasPrefix(f.Function, "runtime."):
			panicking = panicking || f.Function == "runtime.gopanic"
		case !panicking: // the deferred functions
		case strings.Contains(first, ".") && strings.Contains(f.Function, "/"), strings.HasPrefix(f.Function, "main."), strings.HasSuffix(f.File, "_test.go"):
			return shown(f)
		case last.File == "":
			last = f
		}
		if !more {
			return shown(last) // a module whose path is like that of Go's own packages
		}
	}
}

// inGoNB reports a cell's process: GoNB gives cells a pipe for rich output.
var inGoNB = os.Getenv("GONB_PIPE") != ""

// composed names a line of the source that GoNB composes without its file's
// extension: GoNB takes "main.go:7" in what a cell prints for a compile error,
// and dies of one that has colons before it, as in "open: x.npy: … (main.go:7)".
func composed(s Site) Site {
	if strings.HasSuffix(s.File, "main.go") || strings.HasSuffix(s.File, "main_test.go") { // so does GoNB
		s.File = strings.TrimSuffix(s.File, ".go")
	}
	return s
}

var relocation atomic.Pointer[func(Site) Site]

// Relocate sets what Caller makes of a line. Notebooks compile a file of their
// own making, whose lines are not those of the cell that the user sees.
func Relocate(f func(Site) Site) { relocation.Store(&f) }
