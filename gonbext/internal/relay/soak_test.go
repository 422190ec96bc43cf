package relay

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// soak is how long the relay is attacked: messages and sessions.
func soak() (messages, sessions int) {
	switch {
	case testcases.All():
		return 1_000_000, 500
	case testcases.Full():
		return 100_000, 20
	}
	return 4_000, 2
}

// A session has at least leastCells cells, and each interruptEvery-th is interrupted.
const (
	leastCells     = 20
	interruptEvery = 10
)

// attacker sends what nobody should, from clients that have no key, or have listened.
type attacker struct {
	x      *client
	random *rand.Rand
	dealer zmq4.Socket

	mu   sync.Mutex
	sent []message // valid requests that were executed
	hung []net.Conn
}

// attack sends one message of a kind that is drawn.
func (a *attacker) attack() error {
	x, r := a.x, a.random
	evil := newMessage("execute_request", x.session, nil, executeContent("print acted on"))
	send := func(frames ...[]byte) error { return a.dealer.SendMulti(zmq4.NewMsgFrom(frames...)) }
	switch kind := r.IntN(100); {
	case kind < 25: // not signed, or with another key
		if r.IntN(2) == 0 {
			evil = signer("another key").sign(evil)
		}
		return send(evil.frames()...)
	case kind < 45: // signed, then changed
		m := x.key.sign(newMessage("execute_request", x.session, nil, executeContent("print harmless")))
		m.content = bytes.Replace(m.content, []byte("harmless"), []byte("acted on"), 1)
		return send(m.frames()...)
	case kind < 65: // malformed
		frames := evil.frames()
		switch r.IntN(4) {
		case 0:
			frames = frames[:1+r.IntN(len(frames)-1)]
		case 1:
			frames = frames[1:]
		case 2:
			frames = [][]byte{bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(1000))}
		case 3:
			frames[r.IntN(len(frames))] = nil
		}
		return send(frames...)
	case kind < 96: // sent before
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.sent) == 0 {
			return nil
		}
		return send(a.sent[r.IntN(len(a.sent))].frames()...)
	case kind < 97: // oversized
		return a.hang(ourGreeting, readyFrame("DEALER"), giant)
	case kind < 98: // frames of any kind
		parts := [][]byte{ourGreeting, readyFrame(socketTypes[r.IntN(len(socketTypes))])}
		for range 1 + r.IntN(4) {
			body := make([]byte, r.IntN(20))
			for i := range body {
				body[i] = byte(r.IntN(256))
			}
			parts = append(parts, zmtpFrame(byte(r.IntN(256)), string(body)))
		}
		return a.hang(parts...)
	default: // half-open
		greeting := append(bytes.Clone(ourGreeting), readyFrame("SUB")...)
		return a.hang(greeting[:r.IntN(len(greeting))])
	}
}

// hang sends parts to one of the sockets, and leaves the connection open while others come.
func (a *attacker) hang(parts ...[]byte) error {
	port := a.x.ports()[a.random.IntN(5)]
	c, err := net.Dial("unix", strings.TrimPrefix(a.x.at.address(port), "ipc://"))
	if err != nil {
		return err
	}
	for _, b := range parts {
		_, _ = c.Write(b) // fails where the relay has closed the connection
	}
	a.hung = append(a.hung, c)
	if len(a.hung) > 100 {
		a.hung[0].Close()
		a.hung = a.hung[1:]
	}
	return nil
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

// Nothing that comes without the key, or comes again, is acted on or holds up the cells
// between, which the user interrupts now and then, and whose kernel is restarted.
func TestSoak(t *testing.T) {
	messages, sessions := soak()
	random := testcases.Rand(t)
	each, cells, interrupts := messages/sessions, 0, 0
	begun := time.Now()
	for session := range sessions {
		t.Run(fmt.Sprint(session), func(t *testing.T) {
			n := soakSession(t, random, each)
			cells, interrupts = cells+n, interrupts+n/interruptEvery
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d messages, %d cells, %d of them interrupted, %d restarts in %v", each*sessions, cells, interrupts, sessions, time.Since(begun).Round(time.Millisecond))
}

func soakSession(t *testing.T, random *rand.Rand, messages int) (cells int) {
	x := start(t, words{}, nil)
	dealer := zmq4.NewDealer(t.Context(), zmq4.WithID(zmq4.SocketIdentity(newID())))
	defer dealer.Close()
	if err := dealer.Dial(x.at.address(x.at.Shell)); err != nil {
		t.Fatal(err)
	}
	a := &attacker{x: x, random: rand.New(rand.NewPCG(random.Uint64(), random.Uint64())), dealer: dealer}
	half, done := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < messages && err == nil; i++ {
			if i == messages/2 {
				close(half)
			}
			err = a.attack()
		}
		done <- err
	}()
	var middle int64
	for attacked := true; attacked || cells < leastCells; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			attacked = false
		case <-half:
			middle, half = heapInUse(), nil
		default:
		}
		cells++
		code := fmt.Sprintf("print cell %d", cells)
		interrupted := cells%interruptEvery == 0
		if interrupted {
			code = "wait\n" + code
		}
		m := x.key.sign(newMessage("execute_request", x.session, nil, executeContent(code)))
		if err := x.shell.SendMulti(zmq4.NewMsgFrom(m.frames()...)); err != nil {
			t.Fatal(err)
		}
		if interrupted {
			interrupt(t)
		}
		outputs := summary(x.until(m.head().ID))
		if want := fmt.Sprintf("input %d %q\n", cells, code); !strings.Contains(outputs, want) || !strings.Contains(outputs, fmt.Sprintf("\"cell %d\"", cells)) {
			t.Fatalf("want %q in\n%s", want, outputs)
		}
		x.reply()
		a.mu.Lock()
		if a.sent = append(a.sent, m); len(a.sent) > 64 {
			a.sent = a.sent[1:]
		}
		a.mu.Unlock()
	}
	for _, c := range a.hung {
		c.Close()
	}
	const room = 16 << 20 // signatures that are kept, and messages on their way
	if grown := heapInUse() - middle; middle > 0 && grown > room {
		t.Errorf("the heap grew by %d bytes in the second half", grown)
	}
	// The restart is a shutdown that is answered, and a new kernel.
	id := x.ask(x.control, "shutdown_request", map[string]any{"restart": true})
	for m := x.reply(); m.parentHead().ID != id; m = x.reply() {
	}
	select {
	case err := <-x.ended:
		x.ended <- err
		if err != nil {
			t.Errorf("after a restart: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the kernel does not end")
	}
	return cells
}

// A page that is loaded anew during a run gets the run's bar, its report, and a word that
// the page before would have shown it.
func TestReportReachesPageReloadedDuringRun(t *testing.T) {
	runs := 3
	if testcases.All() {
		runs = 50
	}
	x := start(t, words{}, func(Cell, string) Watcher { return &counter{} })
	for run := range runs {
		id := x.ask(x.shell, "execute_request", executeContent("%watch\nwait"))
		page, outputs := zmq4.NewSub(t.Context()), make(chan message, 1000)
		if err := errors.Join(page.Dial(x.at.address(x.at.IOPub)), page.SetOption(zmq4.OptionSubscribe, "")); err != nil {
			t.Fatal(err)
		}
		go collect(page, outputs, "iopub")
		x.session = newID()
		x.ask(x.shell, "kernel_info_request", map[string]any{})
		x.ask(x.shell, "is_complete_request", map[string]any{}) // answered at once, when the one before has passed
		x.answered("is_complete_reply", "shell")
		var shown []string
		for idle, interrupted := false, false; !idle; {
			select {
			case m := <-outputs:
				if m.parentHead().ID != id {
					continue
				}
				if content := string(m.content); strings.Contains(content, "text/plain") {
					shown = append(shown, content)
				} else {
					idle = strings.Contains(content, "idle")
				}
				if len(shown) == 1 && !interrupted { // the page shows the bar
					interrupted = true
					interrupt(t)
				}
			case <-time.After(time.Minute):
				t.Fatalf("run %d: no end on the new page, but %v", run, shown)
			}
		}
		if !strings.Contains(shown[0], "progress") || !strings.Contains(shown[len(shown)-1], "report, exit status 0") {
			t.Errorf("run %d: the new page shows %v", run, shown)
		}
		if old := summary(x.until(id)); !strings.Contains(old, "report, exit status 0") {
			t.Errorf("run %d: the old page shows %s", run, old)
		}
		if _, next := x.execute("print on"); !strings.Contains(next, "%report shows it") {
			t.Errorf("run %d: the next cell shows %s", run, next)
		}
		page.Close()
	}
}

func TestDroppedMessagesAreSaidOnceAMinute(t *testing.T) {
	var d dropped
	var said bytes.Buffer
	for range 1000 {
		d.add(&said, "malformed")
	}
	if want := "gonbext kernel: dropped a message malformed\n"; said.String() != want {
		t.Errorf("said %q", said.String())
	}
	d.said = time.Now().Add(-sayDroppedEvery)
	d.add(&said, "malformed")
	if !strings.HasSuffix(said.String(), "gonbext kernel: dropped 1000 messages, the last of them malformed\n") {
		t.Errorf("said %q", said.String())
	}
}
