package relay

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/gonbext/gonbext/gonbext/internal/watchdog"
)

// marker names an environment variable that everything below the kernel
// inherits: how its processes are known when GoNB is gone.
const marker = watchdog.Session

// grace is what GoNB gets to end its cell and remove its folder. Jupyter itself
// kills after five seconds.
const grace = 3 * time.Second

// process is the GoNB behind the relay.
type process struct {
	cmd      *exec.Cmd
	id       string // the marker's value
	begun    time.Time
	log      *os.File      // what it writes
	exited   chan struct{} // closed when it has ended, after err is set
	err      error
	watchdog *watchdog.Watchdog // of its cells; nil where there can be none
}

// startProcess starts command in the relay's process group, where Jupyter's
// signals to the group reach it. What it writes goes to log: a pipe would break
// when the relay is killed, and so GoNB before it has removed its folder.
func startProcess(command, env []string, log *os.File) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), id: newID(), begun: time.Now(), log: log, exited: make(chan struct{})}
	p.cmd.Env = append(env, marker+"="+p.id)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	dieWithParent(p.cmd)
	p.watchdog, _ = watchdog.New(p.id) // without it cells hold themselves to their budgets
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
		p.unwatch()
		return nil, fmt.Errorf("start GoNB: %w", err)
	}
	return p, nil
}

func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) } // fails only where it has ended

// end stops the process and removes all that it has started and left behind.
func (p *process) end() {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(grace):
		p.signal(os.Kill)
		<-p.exited
	}
	kill(p.descendants)
	sweepPipes(os.TempDir(), p.begun)
	p.unwatch()
	watchdog.Forget(p.id)
}

// kill ends what left gives until that is nothing: one may have started another meanwhile.
func kill(left func() []int) {
	for all := left(); len(all) > 0; all = left() {
		for _, pid := range all {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill() // fails where it has just ended
			}
		}
		time.Sleep(time.Millisecond)
	}
}

func (p *process) unwatch() {
	if p.watchdog != nil {
		p.watchdog.Close()
	}
}

// told is why the cell that runs ends itself; the zero Ending where it has not said so.
func (p *process) told() watchdog.Ending { return watchdog.Told(p.id, p.cmd.Process.Pid) }

// why is why gonbext has ended the cell that ran last, once; the zero Ending where it has not.
func (p *process) why() (e watchdog.Ending) {
	if p.watchdog != nil {
		e = p.watchdog.Ended()
	}
	e = cmp.Or(e, p.told())
	watchdog.Forget(p.id)
	return e
}

// lastWords is the end of the log without its information, warnings and
// colours.
func (p *process) lastWords() string {
	buf := make([]byte, 8<<10)
	at, err := p.log.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	n, _ := p.log.ReadAt(buf, max(0, at-int64(len(buf))))
	text := string(buf[:n])
	if n == len(buf) {
		_, text, _ = strings.Cut(text, "\n") // the first line is cut
	}
	var keep []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = colour.ReplaceAllString(line, ""); line != "" && !chatter.MatchString(line) {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep[max(0, len(keep)-lastLines):], "\n")
}

const lastLines = 20

var (
	colour  = regexp.MustCompile("\x1b\\[[0-9;]*m")
	chatter = regexp.MustCompile(`^[IW]\d{4} `)
)

// ending says in a few words how GoNB ended.
func (p *process) ending() string {
	if p.err == nil {
		return "GoNB ended by itself"
	}
	return "GoNB ended (" + p.err.Error() + ")"
}

// failure is the ending with what GoNB last wrote, if it was not killed.
func (p *process) failure() error {
	var exit *exec.ExitError
	if words := p.lastWords(); words != "" && errors.As(p.err, &exit) && exit.Exited() {
		return fmt.Errorf("%s; it last wrote:\n%s", p.ending(), words)
	}
	return errors.New(p.ending())
}
