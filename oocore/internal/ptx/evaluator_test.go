//go:build unix

package ptx_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/ptx"
)

var compiled struct {
	sync.Once
	folder string
	err    error
	order  func(lastFirst int32) // of the warps of a block
	launch func(text, entry unsafe.Pointer, gx, gy, gz, bx, by, bz uint32, params, why unsafe.Pointer, whyLen int32) int32
}

func TestMain(m *testing.M) {
	code := m.Run()
	if compiled.folder != "" {
		os.RemoveAll(compiled.folder)
	}
	os.Exit(code)
}

// evaluates reports whether testdata/ptx.c could be compiled, and loads it, or whether there
// is a card. Without a C compiler it says so in the test's log.
func evaluates(t *testing.T) bool {
	t.Helper()
	if onMachine() {
		return true
	}
	compiler, err := exec.LookPath("cc")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Log("no kernel is evaluated: there is no C compiler, cc")
		return false
	}
	compiled.Do(func() {
		if compiled.folder, compiled.err = os.MkdirTemp("", "ptx"); compiled.err != nil {
			return
		}
		library := filepath.Join(compiled.folder, "ptx.so")
		cc := exec.Command(compiler, "-shared", "-fPIC", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-o", library, "../../../cuda/testdata/ptx.c", "-lm", "-lpthread")
		var out []byte
		if out, compiled.err = cc.CombinedOutput(); compiled.err != nil {
			compiled.err = fmt.Errorf("%w: %s", compiled.err, out)
			return
		}
		var handle uintptr
		if handle, compiled.err = purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL); compiled.err == nil {
			purego.RegisterLibFunc(&compiled.launch, handle, "ptx_launch")
			purego.RegisterLibFunc(&compiled.order, handle, "ptx_order")
		}
	})
	if compiled.err != nil {
		t.Fatal(compiled.err)
	}
	return true
}

// memory is n bytes aligned to 16, which a kernel reads and writes.
func memory(n int) []byte {
	words := make([]complex128, n/16+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*16)[:n]
}

// launch evaluates a kernel of a module, or runs it on the machine's card. Arguments are
// numbers or memory.
func launch(m ptx.Module, name string, grid, block [3]uint32, args ...any) error {
	if onMachine() {
		return launchOnCard(m, name, grid, block, args...)
	}
	words, params := make([]uint64, len(args)), make([]unsafe.Pointer, len(args)+1)
	for i, a := range args {
		switch a := a.(type) {
		case int:
			words[i] = uint64(a)
		case []byte:
			if a != nil {
				words[i] = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(a))))
			}
		default:
			return fmt.Errorf("argument %d is a %T", i, a)
		}
		params[i] = unsafe.Pointer(&words[i])
	}
	text, entry, why := []byte(m.Text), append([]byte(name), 0), make([]byte, 400)
	var pinned runtime.Pinner
	defer pinned.Unpin()
	for i := range words {
		pinned.Pin(&words[i])
	}
	failed := compiled.launch(unsafe.Pointer(&text[0]), unsafe.Pointer(&entry[0]), grid[0], grid[1], grid[2], block[0], block[1], block[2],
		unsafe.Pointer(&params[0]), unsafe.Pointer(&why[0]), int32(len(why)))
	runtime.KeepAlive(args)
	if failed != 0 {
		return fmt.Errorf("%s", why[:bytes.IndexByte(why, 0)])
	}
	return nil
}

// run launches a kernel as its module says.
func run(t *testing.T, m ptx.Module, name string, lengths [][]int, args ...any) {
	t.Helper()
	if err := try(m, name, lengths, args...); err != nil {
		t.Fatalf("%v in\n%s", err, excerpt(m.Text, err.Error()))
	}
}

// try is run with the evaluator's error.
func try(m ptx.Module, name string, lengths [][]int, args ...any) error {
	for i := range m.Kernels {
		k := &m.Kernels[i]
		if k.Name != name {
			continue
		}
		if len(args) != len(k.Params) {
			return fmt.Errorf("%d arguments for the parameters %v", len(args), k.Params)
		}
		grid, block := k.Launch(lengths...)
		return launch(m, name, grid, block, args...)
	}
	return fmt.Errorf("the module has no kernel %s", name)
}

// excerpt is the line of a text that an error names, and those around it.
func excerpt(text, why string) string {
	lines := strings.Split(strings.TrimRight(text, "\x00"), "\n")
	var n int
	if _, after, ok := strings.Cut(why, "line "); ok {
		fmt.Sscanf(after, "%d", &n)
	}
	return strings.Join(lines[max(0, min(n-4, len(lines))):min(n+2, len(lines))], "\n")
}

// alike reports whether two elements have the same bits, or are both NaN.
func alike(t dtype.Type, a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := number(t, a), number(t, b)
	return x != x && y != y
}

// number is a float element; 0 for other types.
func number(t dtype.Type, b []byte) float64 {
	switch t {
	case dtype.Float16:
		return float64((*(*dtype.Float16Bits)(unsafe.Pointer(&b[0]))).Float32())
	case dtype.BFloat16:
		return float64((*(*dtype.BFloat16Bits)(unsafe.Pointer(&b[0]))).Float32())
	case dtype.Float32:
		return float64(*(*float32)(unsafe.Pointer(&b[0])))
	case dtype.Float64:
		return *(*float64)(unsafe.Pointer(&b[0]))
	}
	return 0
}
