package relay

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestSweepLeavesPipesInUse(t *testing.T) {
	dir := t.TempDir()
	begun := time.Now()
	pipe := func(name string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stale, used, back := pipe("gonb_pipe_1"), pipe("gonb_pipe_2"), pipe("gonb_pipe_3")
	old, other, file := pipe("gonb_pipe_4"), pipe("pipe"), filepath.Join(dir, "gonb_pipe_5")
	if err := os.Chtimes(old, time.Time{}, begun.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, file, nil, 0o600)
	cell := exec.Command("sleep", "60")
	cell.Env = []string{"GONB_PIPE=" + used, "GONB_PIPE_BACK=" + back}
	if err := cell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cell.Process.Kill()
		cell.Wait()
	}()
	sweepPipes(dir, begun)
	if _, err := os.Lstat(stale); !os.IsNotExist(err) {
		t.Errorf("a pipe that nobody uses is still there: %v", err)
	}
	for _, path := range []string{used, back, old, other, file} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("removed what is not to be: %v", err)
		}
	}
}

// lastLook is a Watcher that sees, when it reports, whether the cell still runs.
type lastLook struct {
	counter
	running, done atomic.Bool
}

func (l *lastLook) Report(ending string) (Bundle, bool) {
	pipe := filepath.Join(os.TempDir(), "gonb_pipe_0") // start has set the folder
	for _, environ := range environs() {
		for _, v := range environ {
			if string(v) == "GONB_PIPE="+pipe {
				l.running.Store(true)
			}
		}
	}
	l.done.Store(true)
	return l.counter.Report(ending)
}

func TestCellEndsBeforeItsReportWhenGoNBIsKilled(t *testing.T) {
	var l lastLook
	x := start(t, words{}, func(Cell, string) Watcher { return &l })
	x.ask(x.shell, "execute_request", executeContent("%watch\nleave\ndie"))
	err := <-x.ended
	x.ended <- err
	if !l.done.Load() || l.running.Load() {
		t.Errorf("reported: %t, while the cell was running: %t", l.done.Load(), l.running.Load())
	}
}
