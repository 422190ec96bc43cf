package relay

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// raw connects to one of the relay's sockets without ZeroMQ.
func (x *client) raw(port int, send ...[]byte) net.Conn {
	x.t.Helper()
	c, err := net.Dial("unix", strings.TrimPrefix(x.at.address(port), "ipc://"))
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { c.Close() })
	for _, b := range send {
		if _, err := c.Write(b); err != nil {
			x.t.Fatal(err)
		}
	}
	return c
}

func (x *client) ports() []int {
	return []int{x.at.Shell, x.at.Control, x.at.Stdin, x.at.IOPub, x.at.Heartbeat}
}

// zmtpFrame is a short frame of ZMTP.
func zmtpFrame(flags byte, body string) []byte {
	return append([]byte{flags, byte(len(body))}, body...)
}

func readyFrame(socket string) []byte {
	return zmtpFrame(commandFrame, "\x05READY\x0bSocket-Type\x00\x00\x00"+string(rune(len(socket)))+socket)
}

// giant is a frame's header with a length that nobody has.
var giant = append([]byte{longFrame}, binary.BigEndian.AppendUint64(nil, 1<<40)...)

// alive executes a cell by a client that connects anew.
func (x *client) alive() {
	x.t.Helper()
	late := zmq4.NewDealer(x.t.Context(), zmq4.WithID(zmq4.SocketIdentity(newID())))
	defer late.Close()
	if err := late.Dial(x.at.address(x.at.Shell)); err != nil {
		x.t.Fatal(err)
	}
	m := x.key.sign(newMessage("kernel_info_request", "late", nil, map[string]any{}))
	if err := late.SendMulti(zmq4.NewMsgFrom(m.frames()...)); err != nil {
		x.t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := late.Recv()
		answered <- err
	}()
	select {
	case err := <-answered:
		if err != nil {
			x.t.Fatal(err)
		}
	case <-time.After(time.Minute):
		x.t.Fatal("a new client gets no answer")
	}
	if err := x.beat.Send(zmq4.NewMsgString("ping")); err != nil {
		x.t.Fatal(err)
	}
	if m, err := x.beat.Recv(); err != nil || string(m.Bytes()) != "ping" {
		x.t.Fatalf("heartbeat answers %q, %v", m.Bytes(), err)
	}
	if _, outputs := x.execute("print alive"); !strings.Contains(outputs, `"alive"`) {
		x.t.Fatal(outputs)
	}
}

func TestSilentConnectionsBlockNobody(t *testing.T) {
	x := start(t, words{}, nil)
	for _, port := range x.ports() {
		x.raw(port)
		x.raw(port, ourGreeting[:11])
		x.raw(port, ourGreeting)
		x.raw(port, ourGreeting, readyFrame("DEALER")[:5])
	}
	x.alive()
}

func TestManySilentConnectionsBlockNobody(t *testing.T) {
	x := start(t, words{}, nil)
	for range 3 * greetingsMost {
		x.raw(x.at.Shell)
	}
	x.alive()
}

func TestMalformedPeersEndOnlyTheirConnection(t *testing.T) {
	x := start(t, words{}, nil)
	var peers sync.WaitGroup
	for name, sent := range map[string][][]byte{
		"giant command":      {ourGreeting, append([]byte{commandFrame | longFrame}, giant[1:]...)},
		"no command":         {ourGreeting, zmtpFrame(0, "hello")},
		"another command":    {ourGreeting, zmtpFrame(commandFrame, "\x05HELLO")},
		"key cut off":        {ourGreeting, zmtpFrame(commandFrame, "\x05READY\x0bSocket")},
		"value cut off":      {ourGreeting, zmtpFrame(commandFrame, "\x05READY\x0bSocket-Type\x00\x00")},
		"value too long":     {ourGreeting, zmtpFrame(commandFrame, "\x05READY\x0bSocket-Type\xff\xff\xff\xffDEALER")},
		"unknown socket":     {ourGreeting, readyFrame("SOCKET")},
		"no socket":          {ourGreeting, zmtpFrame(commandFrame, "\x05READY")},
		"socket of a title":  {ourGreeting, zmtpFrame(commandFrame, "\x05READY\x0bsocket-type\x00\x00\x00\x01x")},
		"other socket":       {ourGreeting, readyFrame("PUSH")},
		"no greeting":        {bytes.Repeat([]byte{1}, greetingBytes), readyFrame("DEALER")},
		"giant frame":        {ourGreeting, readyFrame("DEALER"), giant},
		"largest frame":      {ourGreeting, readyFrame("DEALER"), append([]byte{longFrame}, bytes.Repeat([]byte{255}, 8)...)},
		"frames without end": {ourGreeting, readyFrame("SUB"), bytes.Repeat(zmtpFrame(moreFrames, ""), smallMessage/64+1)},
	} {
		c := x.raw(map[bool]int{true: x.at.IOPub, false: x.at.Shell}[name == "frames without end"])
		go func() {
			for _, b := range sent {
				_, _ = c.Write(b) // fails where the relay has closed the connection
			}
		}()
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		peers.Go(func() {
			if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
				t.Errorf("%s: the connection stays", name)
			}
		})
	}
	peers.Wait()
	x.raw(x.at.IOPub, ourGreeting, readyFrame("SUB"), giant)
	x.raw(x.at.Heartbeat, ourGreeting, readyFrame("REQ"), zmtpFrame(0, "no delimiter"))
	x.raw(x.at.Heartbeat, ourGreeting, readyFrame("REQ"), giant)
	x.alive()
}

// A subscriber that stops reading holds up neither the others nor the cell.
// zmq4 takes no connection of a socket of another kind. Whoever can connect may make any
// number of them: they are hung up, and nothing of them is kept.
func TestConnectionsThatNobodyTakesAreForgotten(t *testing.T) {
	t.Parallel()
	l := &guardedListener{ready: make(chan *guardedConn), closed: make(chan struct{})}
	var conns []*guardedConn
	for range 3 {
		near, far := net.Pipe()
		defer far.Close()
		c := &guardedConn{Conn: near, more: make(chan struct{}, 1), room: make(chan struct{}, 1), done: make(chan struct{})}
		go c.drain()
		go func() { l.ready <- c }()
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		select {
		case <-c.done:
		case <-time.After(greetingLimit + time.Minute):
			t.Fatal("a connection that nobody takes stays")
		}
	}
	for range 1000 {
		l.mu.Lock()
		n := len(l.offered)
		l.mu.Unlock()
		if n == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("connections that were hung up are kept")
}

func TestSubscriberThatDoesNotReadBlocksNobody(t *testing.T) {
	x := start(t, words{}, nil)
	x.raw(x.at.IOPub, ourGreeting, readyFrame("SUB"), zmtpFrame(0, "\x01"))
	line := "print " + strings.Repeat("x", 64<<10) + "\n"
	if _, outputs := x.execute(strings.Repeat(line, 64)); strings.Count(outputs, "stdout") != 64 {
		t.Errorf("%d outputs of 64", strings.Count(outputs, "stdout"))
	}
}

func TestRequestSentAgainIsNotAnswered(t *testing.T) {
	x := start(t, words{}, nil)
	m := x.key.sign(newMessage("execute_request", x.session, nil, executeContent("print once")))
	other := m
	other.metadata = []byte(`{"changed":true}`)
	for _, sent := range []message{m, m, other} {
		if err := x.shell.SendMulti(zmq4.NewMsgFrom(sent.frames()...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.control.SendMulti(zmq4.NewMsgFrom(m.frames()...)); err != nil {
		t.Fatal(err)
	}
	x.until(m.head().ID)
	x.reply()
	if _, outputs := x.execute("print next"); !strings.Contains(outputs, "input 2 ") {
		t.Errorf("after one cell: %s", outputs)
	}
}

func TestSeenKnowsTheLatestSignatures(t *testing.T) {
	key := signer("k")
	signature := func(i int) []byte {
		return key.signature(message{content: binary.AppendUvarint(nil, uint64(i))})
	}
	var s seen
	const all = 5 * seenMost / 2
	for i := range all {
		if !s.first(signature(i)) {
			t.Fatalf("signature %d is new", i)
		}
		if s.first(signature(i)) {
			t.Fatalf("signature %d came before", i)
		}
	}
	for i := all - seenMost; i < all; i++ {
		if s.first(signature(i)) {
			t.Fatalf("signature %d of %d is forgotten", i, all)
		}
	}
	if n := len(s.now) + len(s.before); n > 2*seenMost {
		t.Errorf("%d signatures are kept", n)
	}
	if !s.first(nil) || !s.first(nil) {
		t.Error("where nobody signs, nothing came before")
	}
}

// Messages in any pieces pass if and only if each has at most the limit.
func TestFrameCheckerLimitsMessages(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		const limit = 2000
		var stream []byte
		fits := true
		for range rapid.IntRange(1, 5).Draw(t, "messages") {
			sum := 0
			frames := rapid.IntRange(1, 6).Draw(t, "frames")
			for i := range frames {
				size := rapid.IntRange(0, 700).Draw(t, "size")
				flags := byte(0)
				if i < frames-1 {
					flags = moreFrames
				}
				if size > 255 || rapid.Bool().Draw(t, "long") {
					stream = append(stream, flags|longFrame)
					stream = binary.BigEndian.AppendUint64(stream, uint64(size))
				} else {
					stream = append(stream, flags, byte(size))
				}
				stream = append(stream, make([]byte, size)...)
				sum += size + 64
			}
			fits = fits && sum <= limit
		}
		f := frameChecker{limit: limit, message: limit}
		var err error
		for len(stream) > 0 && err == nil {
			n := rapid.IntRange(1, len(stream)).Draw(t, "piece")
			err = f.check(stream[:n])
			stream = stream[n:]
		}
		if (err == nil) != fits {
			t.Fatalf("fits: %v, %v", fits, err)
		}
	})
}
