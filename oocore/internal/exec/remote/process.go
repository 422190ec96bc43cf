package remote

import (
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
)

// process is one worker process.
type process struct {
	cmd   *osexec.Cmd
	in    io.WriteCloser
	out   *os.File
	lines lines
	words *lastWords
	ended error         // how, once gone is closed
	gone  chan struct{} // closed when the process has ended and was waited for
	end   sync.Once     // of its input
}

var (
	// Patience is how long a worker may take to end by itself. Tests shorten it, and Silence.
	Patience = 10 * time.Second
	// Silence is how many seconds a worker may be without a sign of life.
	Silence = 20
)

// sign is how often a busy worker gives a sign of life.
const sign = time.Second

// startProcess starts a worker. Its report that it is ready is still to be read.
func startProcess(command []string) (*process, error) {
	p := &process{cmd: osexec.Command(command[0], command[1:]...), words: &lastWords{}, gone: make(chan struct{})}
	p.cmd.Stderr, p.cmd.WaitDelay = p.words, time.Second
	p.cmd.SysProcAttr = childAttributes()
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe() // which stays open for the last report when the process has ended
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout = theirs
	p.in, p.out, p.lines = in, out, newLines(out, in)
	started := make(chan error)
	go func() {
		// The kernel ends the child with the thread that started it, so that the thread
		// has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := errors.Join(p.cmd.Start(), theirs.Close())
		started <- err
		if err == nil {
			p.ended = p.cmd.Wait()
			close(p.gone)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("the worker %s cannot be started: %w", command[0], errors.Join(err, out.Close()))
	}
	return p, nil
}

// ask sends a request and waits for its report. An error means that the process has
// ended, or is to be.
func (p *process) ask(q request) (exec.Report, error) {
	if err := p.lines.Encode(q); err != nil {
		return exec.Report{}, err
	}
	return p.answer()
}

// answer waits for a report. A process that gives no sign of life is killed: it may be stopped,
// and others do its tasks.
func (p *process) answer() (a exec.Report, err error) {
	heard, most := make(chan struct{}, 1), Silence
	defer close(heard)
	go func() {
		tick := time.NewTicker(sign)
		defer tick.Stop()
		for quiet := 0; quiet < most; quiet++ { // ticks, not time: this process may have been stopped too
			select {
			case _, more := <-heard:
				if !more {
					return
				}
				quiet = -1
			case <-tick.C:
			}
		}
		fmt.Fprintf(p.words, "\nno sign of life for %d s", most)
		p.kill()
		for range heard {
		}
	}()
	for {
		a = exec.Report{}
		if err := p.lines.Decode(&a); err != nil || !a.Busy {
			return a, err
		}
		heard <- struct{}{}
	}
}

// hang ends what the worker does: it reports once more, and exits. One that does not in time
// is killed.
func (p *process) hang() {
	p.end.Do(func() {
		p.in.Close()
		timer := time.AfterFunc(Patience, p.kill)
		go func() {
			<-p.gone
			timer.Stop()
		}()
	})
}

// kill ends the process at once. A child of it that still has its output keeps nobody waiting.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.out.SetReadDeadline(time.Now().Add(time.Second))
}

// wait ends the process, by force where it does not end by itself, and returns how it
// ended.
func (p *process) wait() error {
	p.hang()
	defer p.out.Close()
	select {
	case <-p.gone:
		return p.ended
	case <-time.After(2 * Patience): // such as one whose disk does not answer
		return fmt.Errorf("process %d cannot be ended", p.cmd.Process.Pid)
	}
}

// lastWords keeps the end of what a process writes to its standard error.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

const maxWords = 1 << 10

func (w *lastWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	if n := len(w.text) - maxWords; n > 0 {
		w.text = append(w.text[:0], w.text[n:]...)
	}
	return len(b), nil
}

// String is the last words in one line; "" where there are none.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(strings.Fields(string(w.text)), " ")
}
