package exec

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// process is one worker process.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines lines
	words *lastWords
	gone  chan struct{} // closed when the process has ended and was waited for
	ended error         // how, once gone is closed
}

// startProcess starts a worker. Its answer that it is ready is still to be read.
func startProcess(command []string) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), words: &lastWords{}, gone: make(chan struct{})}
	p.cmd.Stderr = p.words
	p.cmd.SysProcAttr = childAttributes()
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.lines = in, newLines(out, in)
	started := make(chan error)
	go func() {
		// The kernel ends the child with the thread that started it, so that the thread
		// has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			<-p.gone
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("the worker %s cannot be started: %w", command[0], err)
	}
	return p, nil
}

// ask sends a request and waits for its answer. An error means that the process has
// ended, or is to be.
func (p *process) ask(q request) (a answer, err error) {
	if err := p.lines.Encode(q); err != nil {
		return a, err
	}
	err = p.lines.Decode(&a)
	return a, err
}

// hang ends what the worker does: it answers once more, and exits.
func (p *process) hang() { _ = p.in.Close() }

// patience is how long a worker may take to end by itself.
const patience = 10 * time.Second

// wait ends the process, by force where it does not end by itself, and returns how it
// ended.
func (p *process) wait() error {
	p.hang()
	select {
	case <-p.gone:
		return p.ended
	default:
	}
	timer := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	p.ended = p.cmd.Wait()
	timer.Stop()
	close(p.gone)
	return p.ended
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
