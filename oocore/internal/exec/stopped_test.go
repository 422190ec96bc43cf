//go:build unix

package exec_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/remote"
	"github.com/gonbext/gonbext/oocore/internal/testkit/exectest"
)

// stopping stops worker processes, once some tasks are done.
func stopping(t *testing.T, most int, then func()) func(exec.Progress) {
	var once sync.Once
	return func(p exec.Progress) {
		if p.Computed == 0 {
			return
		}
		once.Do(func() {
			for i, line := range leftOver(t) {
				if pid, err := strconv.Atoi(strings.Fields(line)[0]); err == nil && i < most {
					syscall.Kill(pid, syscall.SIGSTOP)
				}
			}
			then()
		})
	}
}

// A worker process that is stopped is given up, and its tasks go to another.
func TestProcessesGiveUpStoppedWorker(t *testing.T) {
	waitForWorkers(t, time.Second, 2)
	dir := t.TempDir()
	p, want := strangely(t, dir, strange{Nap: 20})
	if _, err := inWorkers(t.Context(), p, exec.Env{Checkpoint: keepOf(t, p), Progress: stopping(t, 1, func() {})}, workers(2)); err != nil {
		t.Fatal(err)
	}
	if got := must[[]byte](t)(exectest.Elements(filepath.Join(dir, "o.npy"))); !bytes.Equal(got, want) {
		t.Error("the result is another")
	}
	if left := leftOver(t); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// An interrupt ends a run although all its worker processes are stopped.
func TestInterruptEndsRunOfStoppedWorkers(t *testing.T) {
	waitForWorkers(t, time.Second, 1_000_000)
	p, _ := strangely(t, t.TempDir(), strange{Nap: 20})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := inWorkers(ctx, p, exec.Env{Checkpoint: keepOf(t, p), Progress: stopping(t, 2, cancel)}, workers(2))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := leftOver(t); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// waitForWorkers sets how long workers may take to end, and how many seconds they may be silent.
func waitForWorkers(t *testing.T, toEnd time.Duration, quiet int) {
	before, was := remote.Patience, remote.Silence
	remote.Patience, remote.Silence = toEnd, quiet
	t.Cleanup(func() { remote.Patience, remote.Silence = before, was })
}
