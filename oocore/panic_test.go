package oocore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
)

// A Go function that panics with an error ends the run with that error, which names the
// line that panicked, and the line of the operation beside that of Save.
func TestPanicOfFunctionNamesItsLineAndItsOperation(t *testing.T) {
	a, _ := numbers(t, 64, 64)
	line := func() int {
		_, _, line, _ := runtime.Caller(1)
		return line
	}
	panics := line() + 2
	b := oocore.MapChunks(func(_, _ []float64, _ oocore.Block) error {
		panic(fmt.Errorf("deep inside: %w", fs.ErrNotExist))
	}, a, oocore.MapOptions{Chunks: []int{8, 64}})
	made := panics - 1 // where the call begins
	_, err := oocore.Collect[float64](t.Context(), b.Add(1.0))
	collected := line() - 1
	thrown, ok := errors.AsType[*slots.PanicError](err)
	if !ok || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(string(thrown.Stack), "panic_test.go") {
		t.Fatalf("got %v", err)
	}
	for _, at := range []int{panics, made, collected} {
		if want := fmt.Sprintf("panic_test.go:%d", at); !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	var none []int
	panics = line() + 2
	c := oocore.MapChunks(func(dst, _ []float64, _ oocore.Block) error {
		dst[0] = float64(none[len(dst)])
		return nil
	}, a, oocore.MapOptions{Chunks: []int{8, 64}})
	_, err = oocore.Collect[float64](t.Context(), c)
	if want := fmt.Sprintf("panic_test.go:%d", panics); !errors.As(err, new(runtime.Error)) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not name %s", err, want)
	}
	panics = line() + 2
	d := oocore.MapChunks(func(_, _ []float64, _ oocore.Block) error {
		_ = strings.Repeat("x", -1)
		return nil
	}, a, oocore.MapOptions{Chunks: []int{8, 64}})
	_, err = oocore.Collect[float64](t.Context(), d)
	if want := fmt.Sprintf("panic_test.go:%d", panics); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not name %s", err, want)
	}
}
