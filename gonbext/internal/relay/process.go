package relay

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// marker names an environment variable that everything below the kernel
// inherits: how its processes are known when GoNB is gone.
const marker = "GONBEXT_KERNEL"

// grace is what GoNB gets to end its cell and remove its folder. Jupyter itself
// kills after five seconds.
const grace = 3 * time.Second

// process is the GoNB behind the relay.
type process struct {
	cmd    *exec.Cmd
	id     string        // the marker's value
	log    tail          // the end of what it wrote
	exited chan struct{} // closed when it has ended, after err is set
	err    error
}

// startProcess starts command in the relay's process group, where Jupyter's
// signals to the group reach it.
func startProcess(command, env []string) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), id: newID(), exited: make(chan struct{})}
	p.cmd.Env = append(env, marker+"="+p.id)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	// A cell's process that outlives a killed GoNB may hold the pipe of log.
	p.cmd.WaitDelay = time.Second
	dieWithParent(p.cmd)
	started := make(chan error)
	go func() {
		// Linux ties the death signal to the thread that started the child, so
		// this thread stays for as long as the child does.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start GoNB: %w", err)
	}
	return p, nil
}

func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) } // fails only where it has ended

// end stops the process and all that it has started and left behind.
func (p *process) end() {
	p.signal(terminate)
	select {
	case <-p.exited:
	case <-time.After(grace):
		p.signal(os.Kill)
		<-p.exited
	}
	killMarked(marker + "=" + p.id)
}

// tail keeps the end of a log: quiet while all goes well, there when it is
// wanted.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 8 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if extra := len(t.buf) - tailSize; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
