package watchdog

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
)

// request is what a cell asks for: to be ended above so many bytes, and that its record says so.
type request struct {
	Most, Budget int64
	Record       string
	Begun        time.Time
}

// address is a socket without a file. Its name, which all users can list, does not tell the session's, by which told names a file.
func address(session string) *syscall.SockaddrUnix {
	return &syscall.SockaddrUnix{Name: fmt.Sprintf("@gonbext-%x", sha256.Sum256([]byte(session)))}
}

// Ask has the kernel above, if there is one, end this process when it takes more than most.
func Ask(most, budget int64, record string, begun time.Time) {
	session := os.Getenv(Session)
	if session == "" {
		return
	}
	// By calls of the system: package net would be in every cell.
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	text, err := json.Marshal(request{most, budget, record, begun})
	if err == nil {
		err = syscall.Connect(fd, address(session))
	}
	if err == nil {
		_, err = syscall.Write(fd, text) // and stays open for as long as the process lives
	}
	if err != nil {
		syscall.Close(fd)
	}
}

// Watchdog watches the cells that ask for it.
type Watchdog struct {
	fd   int
	once sync.Once  // closes it
	mu   sync.Mutex // held from before a kill until its record says so
	why  Ending
}

// New listens for the cells of a session.
func New(session string) (*Watchdog, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err = syscall.Bind(fd, address(session)); err == nil {
		err = syscall.Listen(fd, 16)
	}
	if err != nil {
		syscall.Close(fd)
		return nil, err
	}
	w := &Watchdog{fd: fd}
	go func() {
		for {
			c, _, err := syscall.Accept4(fd, syscall.SOCK_CLOEXEC)
			switch {
			case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.ECONNABORTED):
			case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOBUFS), errors.Is(err, syscall.ENOMEM):
				time.Sleep(seldom) // it may pass
			case err != nil:
				return
			default:
				go w.watch(c)
			}
		}
	}()
	return w, nil
}

// Close ends the watch. Later calls do nothing: the descriptor may be another's by then.
func (w *Watchdog) Close() {
	w.once.Do(func() { _ = syscall.Shutdown(w.fd, syscall.SHUT_RDWR); _ = syscall.Close(w.fd) })
}

// Ended is what is to be said of the cell that was ended last, once; the zero Ending of none. The cell's
// record says so then.
func (w *Watchdog) Ended() (why Ending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	why, w.why = w.why, Ending{}
	return why
}

func (w *Watchdog) watch(fd int) {
	defer syscall.Close(fd)
	peer, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil || int(peer.Uid) != os.Getuid() {
		return
	}
	buf := make([]byte, 8<<10)
	n, err := syscall.Read(fd, buf)
	var r request
	if err != nil || json.Unmarshal(buf[:n], &r) != nil {
		return
	}
	memory, err := machine.OpenResident(strconv.Itoa(int(peer.Pid)))
	if err != nil {
		return
	}
	defer memory.Close()
	for {
		held, err := memory.Read()
		if err != nil || held == 0 { // it has ended
			return
		}
		if held > r.Most {
			w.mu.Lock()
			defer w.mu.Unlock()
			_ = syscall.Kill(int(peer.Pid), syscall.SIGKILL)
			var top record.Line
			for begun := time.Now(); time.Since(begun) < time.Second; time.Sleep(time.Millisecond) { // until its files are closed
				run, err := record.Read(r.Record)
				if err == nil && run.Alive {
					continue
				}
				if err == nil {
					for l := range run.Lines() {
						if l.At > top.At || l.At == top.At && l.Live > top.Live {
							top = *l
						}
					}
				}
				break
			}
			w.why = Ending{OutOfMemory, Complaint(held, r.Budget, top)}
			_ = record.Conclude(r.Record, record.End{Status: record.Failed, Error: w.why.Text, ProcessPeak: held, Duration: time.Since(r.Begun)})
			return
		}
		time.Sleep(Wait(r.Most - held))
	}
}
