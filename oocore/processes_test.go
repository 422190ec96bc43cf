package oocore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// Worker processes that cannot be are one error before anything runs.
func TestProcessesRejects(t *testing.T) {
	a, _ := numbers(t, 8, 8)
	t.Setenv("PATH", t.TempDir())
	_, err := oocore.Collect[float64](t.Context(), a.Add(1.0), oocore.Processes(2))
	if err == nil || !strings.Contains(err.Error(), "go install") {
		t.Errorf("without the command: %v", err)
	}
	_, err = oocore.Collect[float64](t.Context(), a.Add(1.0), oocore.Processes(0))
	if !errors.As(err, new(*oocore.OptionError)) {
		t.Errorf("no processes: %v", err)
	}
	f := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error { copy(dst, src); return nil }, a, oocore.MapOptions{})
	if _, err = oocore.Collect[float64](t.Context(), f, oocore.Processes(2)); !errors.Is(err, plan.ErrNotPortable) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "map_chunks (processes_test.go:") {
		t.Errorf("a Go function: %v", err)
	}
	var short *oocore.MemoryError
	if _, err = oocore.Collect[float64](t.Context(), a.Add(1.0), oocore.Processes(3), oocore.Memory("32MiB")); !errors.As(err, &short) || short.Need < 3*size.WorkerOverhead {
		t.Errorf("32 MiB for three processes: %v", err)
	}
}
