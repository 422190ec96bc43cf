package gonbext_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/gonbext"
	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/oocore"
)

// death is a way in which a cell's process ends before its cell is done: what its body does
// after it has saved an array and holds values of Go, and what is done to it from outside.
type death struct {
	does   func()
	signal syscall.Signal
	says   string // in the verdict
}

var deaths = map[string]death{
	"panic":                     {does: func() { panic("of the cell's own") }, says: "panicked"},
	"panic in a deferred call":  {does: func() { defer panic("second"); panic("first") }, says: "panicked"},
	"panic with an error":       {does: func() { panic(errors.New("the cell's own")) }, says: "panicked"},
	"nil map":                   {does: func() { m := map[string]map[string]int{}; m["x"]["y"] = 1 }, says: "panicked"},
	"nil pointer":               {does: func() { var p *struct{ x int }; p.x = 1 }, says: "panicked"},
	"index out of range":        {does: func() { v := []int{1}; println(v[len(os.Args)]) }, says: "panicked"},
	"division by zero":          {does: func() { println(1 / len(os.Getenv("NOTHING"))) }, says: "panicked"},
	"type assertion":            {does: func() { var v any = 1; println(v.(string)) }, says: "panicked"},
	"closed channel":            {does: func() { c := make(chan int); close(c); c <- 1 }, says: "panicked"},
	"negative length":           {does: func() { println(len(make([]int, len(os.Getenv("NOTHING"))-1))) }, says: "panicked"},
	"panic in a goroutine":      {does: func() { go panic("of a goroutine"); time.Sleep(time.Minute) }, says: "exit status 2"},
	"concurrent map writes":     {does: concurrentWrites, says: "exit status 2"},
	"unlocked mutex":            {does: func() { var m sync.Mutex; m.Unlock() }, says: "exit status 2"},
	"stack overflow":            {does: func() { println(deepForever(0)) }, says: ""}, // by Go or by the budget
	"values over the budget":    {does: keepForever, says: "over the budget"},
	"goroutines' values":        {does: func() { go keepForever(); keepForever() }, says: "over the budget"},
	"one value over the budget": {does: func() { kept = append(kept, touched(4<<30)) }, says: "over the budget"},
	"10 GB/s by C":              {does: func() { bySystem(4<<30, syscall.MADV_HUGEPAGE) }, says: "over the budget"},
	"no memory to be had":       {does: func() { kept = append(kept, make([]byte, 1<<47-1<<32)) }, says: "exit status 2"},
	"address space":             {does: func() { limit(syscall.RLIMIT_AS, 1<<20); kept = append(kept, make([]byte, 1<<30)) }, says: "exit status 2"},
	"processor time":            {does: func() { limit(syscall.RLIMIT_CPU, 1); spin() }, says: "killed"},
	"os.Exit(0)":                {does: func() { os.Exit(0) }, says: "exit status 0"},
	"os.Exit(3)":                {does: func() { os.Exit(3) }, says: "exit status 3"},
	"log.Fatal":                 {does: func() { log.Fatal("the cell's own") }, says: "exit status 1"},
	"Goexit":                    {does: runtime.Goexit, signal: syscall.SIGKILL, says: "Goexit"}, // other goroutines go on until it is killed,
	"deadlock, interrupted":     {does: func() { <-make(chan int) }, signal: syscall.SIGINT, says: "interrupted"},
	"interrupt":                 {does: spin, signal: syscall.SIGINT, says: "interrupted"},
	"kill":                      {does: spin, signal: syscall.SIGKILL, says: "killed"},
	"terminate":                 {does: spin, signal: syscall.SIGTERM, says: "signal: terminated"},
	"abort":                     {does: spin, signal: syscall.SIGABRT, says: "exit status 2"},
	"quit":                      {does: spin, signal: syscall.SIGQUIT, says: "exit status 2"},
	"hangup":                    {does: spin, signal: syscall.SIGHUP, says: "signal: hangup"},
	"segmentation fault":        {does: spin, signal: syscall.SIGSEGV, says: "exit status 2"},
	"bus error":                 {does: spin, signal: syscall.SIGBUS, says: "exit status 2"},
	"killed by itself":          {does: func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); spin() }, says: "killed"},
	"another program":           {does: func() { _ = syscall.Exec("/bin/false", []string{"false"}, nil) }, says: "exit status 1"},
	"closed output":             {does: closedOutput, says: "signal: broken pipe"},
	"budget too small":          {does: func() { save("y.npy", oocore.Memory("1KiB")) }, says: "needs a budget of"},
	"wrong shape":               {does: func() { gonbext.Collect[float64](oocore.Ones(oocore.Float64, 3).Add(oocore.Ones(oocore.Float64, 4))) }, says: "do not broadcast"},
	"missing file":              {does: func() { gonbext.Collect[float64](oocore.Open("missing.npy")) }, says: "missing.npy"},
	"no permission":             {does: func() { save("/proc/1/none/y.npy") }, says: "/proc/1/none"},
	"full disk":                 {does: func() { limit(syscall.RLIMIT_FSIZE, 64<<10); save("y.npy") }, says: "file too large"},
	"panic in Save's function":  {does: func() { inFunction(func() { panic("of the function") }) }, says: "the function panicked"},
	"exit in Save's function":   {does: func() { inFunction(func() { os.Exit(4) }) }, says: "exit status 4"},
	"interrupt in a Save":       {does: func() { inFunction(sleeping(2 * time.Second)) }, signal: syscall.SIGINT, says: "Cancelled"},
	"kill in a Save":            {does: func() { inFunction(sleeping(time.Minute)) }, signal: syscall.SIGKILL, says: "killed"},
}

func init() {
	for name, d := range deaths {
		cells["death: "+name] = func() {
			defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("96MiB"))()
			save("x.npy")
			for range 24 {
				held = append(held, touched(1<<20))
				time.Sleep(5 * time.Millisecond)
			}
			fmt.Println("dies")
			d.does()
		}
	}
}

func save(path string, opts ...oocore.Option) {
	gonbext.Save(oocore.Random(oocore.Float32, 1, 1000, 200), path, opts...)
}

// inFunction saves an array that a Go function computes, which does what is given.
func inFunction(do func()) {
	f := func(dst, src []float32, _ oocore.Block) error { do(); return nil }
	gonbext.Save(oocore.MapChunks(f, oocore.Random(oocore.Float32, 1, 1000, 200), oocore.MapOptions{}), "y.npy")
}

// sleeping returns a function that says that it was called, by a file, and sleeps.
func sleeping(d time.Duration) func() {
	return func() {
		if err := os.WriteFile("called", nil, 0o600); err != nil {
			panic(err)
		}
		time.Sleep(d)
	}
}

// held are values that nothing frees.
var held [][]byte

func keepForever() {
	for {
		held = append(held, touched(1<<20))
	}
}

func deepForever(n int) int { return deep(n) }

func spin() {
	for begun := time.Now(); time.Since(begun) < time.Minute; {
	}
}

func limit(resource int, most uint64) {
	if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most + 1}); err != nil {
		panic(err)
	}
}

func concurrentWrites() {
	runtime.GOMAXPROCS(8) // the system changes threads within a write, Go itself does not change goroutines there
	m := map[int]int{}
	for range 8 {
		go func() {
			for i := range 1 << 30 {
				m[i%1000] = i
			}
		}()
	}
	time.Sleep(time.Minute)
}

func closedOutput() {
	for {
		fmt.Println(strings.Repeat("x", 1<<10))
	}
}

var (
	timelinePicture = regexp.MustCompile(`alt="Memory over ([0-9.]+) (ms|s): at most`)
	verdictMark     = regexp.MustCompile(`<strong>(.) ([^<]*)</strong>`)
)

// However a cell dies, the kernel draws its report: above all how it died, and under that a
// timeline from the cell's first moment to its last.
func TestEveryDeathLeavesATimeline(t *testing.T) {
	heeded := make(chan os.Signal, 1) // where this process ignores it, as those of nohup do, cells would too
	signal.Notify(heeded, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heeded) })
	for name, d := range deaths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			runs := filepath.Join(dir, "runs")
			watcher := relay.NewRuns(runs, "", &relay.Library{}).Watch(relay.Cell{ID: "CELL", Watch: true}, "")
			defer watcher.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
			defer cancel()
			c := exec.CommandContext(ctx, os.Args[0])
			c.Dir, c.Env = dir, append(os.Environ(), "GONBEXT_TEST_CELL=death: "+name, "GONBEXT_RUNS="+runs, "PATH="+dir)
			stdout, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr strings.Builder
			c.Stderr = &stderr
			begun := time.Now()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			line := make([]byte, 5)
			if _, err := io.ReadFull(stdout, line); err != nil {
				t.Fatalf("it died too early: %v\n%s", err, stderr.String())
			}
			switch {
			case d.signal != 0:
				for strings.HasSuffix(name, "in a Save") && ctx.Err() == nil {
					if _, err := os.Stat(filepath.Join(dir, "called")); err == nil {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(300 * time.Millisecond)
				_ = c.Process.Signal(d.signal)
			case name == "closed output":
				stdout.Close()
			}
			ending := "exit status 0"
			if err := c.Wait(); err != nil {
				ending = err.Error()
			}
			lived := time.Since(begun)
			b, ok := watcher.Report(strings.TrimSuffix(ending, " (core dumped)"))
			html, _ := b.Data["text/html"].(string)
			if !ok || html == "" {
				t.Fatalf("%s: no report\n%s", ending, stderr.String())
			}
			m := verdictMark.FindStringSubmatch(html)
			if m == nil || m[1] == "✓" || !strings.Contains(m[2], d.says) {
				t.Errorf("%s: the verdict is %q\n%.500s", ending, m, stderr.String())
			}
			at := timelinePicture.FindStringSubmatch(html)
			if at == nil {
				t.Fatalf("%s: no timeline in %.2000s", ending, html)
			}
			seen, err := time.ParseDuration(at[1] + at[2])
			if err != nil || seen < 120*time.Millisecond || seen > lived+lived/20 {
				t.Errorf("%s: a timeline of %v, of a process of %v", ending, seen, lived)
			}
			if !strings.Contains(html, "x.npy from ") {
				t.Errorf("%s: the timeline has no span of the Save", ending)
			}
			if _, err := os.Stat(filepath.Join(dir, "x.npy")); err != nil {
				t.Error(err)
			}
		})
	}
}
