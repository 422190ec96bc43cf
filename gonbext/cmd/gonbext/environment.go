package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/units"
)

// folderLists are the variables with folders in which programs, libraries, modules of Python, kernels and settings are looked for that
// this process, or one that it starts, runs.
var folderLists = []string{"PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "JUPYTER_PATH", "JUPYTER_CONFIG_PATH", "HOME",
	"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"}

// leavePresentFolder takes relative and empty folders out of these lists. They mean the present folder, mostly by an accident, such as
// PATH=$PATH:$UNSET, and whoever made what is in it would decide what runs. It reports whether a list has changed that the system
// has read already for this process.
func leavePresentFolder() (again bool, err error) {
	for _, name := range folderLists {
		list, ok := os.LookupEnv(name)
		if !ok {
			continue
		}
		all := filepath.SplitList(list)
		kept := slices.DeleteFunc(slices.Clone(all), func(dir string) bool { return !filepath.IsAbs(dir) })
		if len(kept) == len(all) && len(all) > 0 {
			continue
		}
		again = again || len(all) > 0 && strings.Contains(name, "LIBRARY")
		if len(kept) == 0 { // an empty list is the present folder for some
			err = os.Unsetenv(name)
		} else {
			err = os.Setenv(name, strings.Join(kept, string(filepath.ListSeparator)))
		}
		if err != nil {
			return again, err
		}
	}
	return again, nil
}

// python is a command that ends with ctx: asked to, so that it ends its kernels
// too, and killed where it does not. It has a process group of its own, since a
// terminal's Ctrl-C would reach it beside the request.
func python(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	apart(cmd)
	cmd.Cancel = func() error { return askToEnd(cmd.Process) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// plain is a standard stream that takes text, with what comes from files: names, attributes, logs, errors of programs. A
// terminal finds nothing in it that it obeys.
type plain struct{ *os.File }

// Write writes whole lines or words, as package fmt does.
func (p plain) Write(b []byte) (int, error) {
	w := io.Writer(p.File)
	if p.File == os.Stdout {
		w = &standardOutput
	}
	if _, err := io.WriteString(w, units.Text(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
