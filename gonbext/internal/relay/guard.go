package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/transport"
)

// A guard is a zmq4 transport for the sockets that face Jupyter. Any process of
// the machine can connect to them before it has shown a key, and zmq4 trusts
// what it reads: it waits without limit for one connection's greeting before it
// accepts the next, allocates whatever length a frame claims, panics on malformed
// metadata, and waits for a peer that does not read while others wait behind it.
// A guard does the greeting beside other connections and within a limit of time,
// checks lengths before zmq4 sees them, and buffers what a peer has not read yet.
type guard struct {
	transport.Transport
	network string
	limit   int64 // bytes of a message, all its frames
}

// The limits of a message. Subscriptions and heartbeats are a few bytes; a cell
// or a widget's buffer may be large.
const (
	largeMessage = 64 << 20
	smallMessage = 64 << 10
)

const (
	greetingLimit = 5 * time.Second  // for a connection's greeting
	greetingsMost = 64               // connections that greet at once; the oldest gives way
	stallLimit    = 10 * time.Second // without a byte taken, by a peer that has more to read
	unreadMost    = 16 << 20         // bytes buffered for one peer before writers wait for it
)

func init() {
	for scheme, g := range map[string]guard{
		"tcp-large": {transport.New("tcp"), "tcp", largeMessage},
		"tcp-small": {transport.New("tcp"), "tcp", smallMessage},
		"ipc-large": {transport.New("unix"), "unix", largeMessage},
		"ipc-small": {transport.New("unix"), "unix", smallMessage},
	} {
		if err := zmq4.RegisterTransport(scheme, g); err != nil {
			panic(err) // two of one name
		}
	}
}

// Listen replaces the socket file that a killed kernel left: a restarted one gets
// the same connection file.
func (g guard) Listen(_ context.Context, address string) (net.Listener, error) {
	if st, err := os.Lstat(address); g.network == "unix" && err == nil && st.Mode().Type() == os.ModeSocket {
		c, err := net.Dial(g.network, address)
		if err == nil {
			c.Close()
			return nil, fmt.Errorf("%s is in use by another process", address)
		}
		if err := os.Remove(address); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen(g.network, address)
	if err != nil {
		return nil, err
	}
	x := &guardedListener{Listener: l, limit: g.limit, ready: make(chan *guardedConn), closed: make(chan struct{})}
	go x.run()
	return x, nil
}

// guardedListener accepts connections that have greeted.
type guardedListener struct {
	net.Listener
	limit  int64
	ready  chan *guardedConn
	closed chan struct{}

	mu       sync.Mutex
	greeting []net.Conn     // the oldest first
	offered  []*guardedConn // to zmq4 a moment ago, which may not have taken them yet
}

func (l *guardedListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		l.offer(c)
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// offer notes a connection that zmq4 gets. It reads on from one that it takes, and forgets
// one that it does not, as that of a socket of another kind, without closing it.
func (l *guardedListener) offer(c *guardedConn) {
	l.mu.Lock()
	l.offered = append(l.offered, c)
	l.mu.Unlock()
	time.AfterFunc(greetingLimit, func() {
		c.hangUpUnlessTaken()
		l.mu.Lock()
		l.offered = slices.DeleteFunc(l.offered, func(x *guardedConn) bool { return x == c })
		l.mu.Unlock()
	})
}

func (l *guardedListener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return nil
	default:
	}
	close(l.closed)
	for _, c := range l.greeting {
		c.Close()
	}
	for _, c := range l.offered {
		c.hangUpUnlessTaken()
	}
	return l.Listener.Close()
}

func (l *guardedListener) run() {
	for {
		c, err := l.Listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // out of descriptors, for one: it may pass
			time.Sleep(10 * time.Millisecond)
			continue
		}
		l.mu.Lock()
		l.greeting = append(l.greeting, c)
		if len(l.greeting) > greetingsMost {
			l.greeting[0].Close()
		}
		l.mu.Unlock()
		go l.greet(c)
	}
}

func (l *guardedListener) greet(raw net.Conn) {
	c, err := greet(raw, l.limit)
	l.mu.Lock()
	l.greeting = slices.DeleteFunc(l.greeting, func(x net.Conn) bool { return x == raw })
	l.mu.Unlock()
	if err != nil {
		raw.Close()
		return
	}
	select {
	case l.ready <- c:
	case <-l.closed:
		c.Close()
	}
}

// greetingBytes is the length of ZMTP's greeting (https://rfc.zeromq.org/spec/23).
const greetingBytes = 64

// ourGreeting is what zmq4 sends too: ZMTP 3.0, no security.
var ourGreeting = func() []byte {
	g := make([]byte, greetingBytes)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}()

// greet exchanges greetings and reads the peer's READY command, which zmq4 gets
// once all of it is there.
func greet(raw net.Conn, limit int64) (*guardedConn, error) {
	if err := raw.SetDeadline(time.Now().Add(greetingLimit)); err != nil {
		return nil, err
	}
	if _, err := raw.Write(ourGreeting); err != nil {
		return nil, err
	}
	head := make([]byte, greetingBytes+2)
	if _, err := io.ReadFull(raw, head); err != nil {
		return nil, err
	}
	flags, size := head[greetingBytes], int(head[greetingBytes+1])
	switch flags {
	case commandFrame:
	case commandFrame | longFrame:
		length := make([]byte, 8)
		length[0] = byte(size)
		if _, err := io.ReadFull(raw, length[1:]); err != nil {
			return nil, err
		}
		if n := binary.BigEndian.Uint64(length); n > smallMessage {
			return nil, errOversized
		}
		size = int(binary.BigEndian.Uint64(length))
		head = append(head, length[1:]...)
	default:
		return nil, errors.New("the first frame is no command")
	}
	at := len(head)
	head = append(head, make([]byte, size)...)
	if _, err := io.ReadFull(raw, head[at:]); err != nil {
		return nil, err
	}
	if !readyCommand(head[at:]) {
		return nil, errors.New("the first command is not READY")
	}
	if err := raw.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	c := &guardedConn{
		Conn: raw, head: head, ours: greetingBytes, frames: frameChecker{limit: limit, message: limit},
		more: make(chan struct{}, 1), room: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go c.drain()
	return c, nil
}

// socketTypes are those of ZMTP; zmq4 panics at others.
var socketTypes = []string{"PAIR", "PUB", "SUB", "REQ", "REP", "DEALER", "ROUTER", "PULL", "PUSH", "XPUB", "XSUB"}

// readyCommand reports whether body is a READY command with well-formed metadata, of a
// socket of ZMTP's.
func readyCommand(body []byte) bool {
	const name = "\x05READY"
	if len(body) < len(name) || string(body[:len(name)]) != name {
		return false
	}
	for rest := body[len(name):]; len(rest) > 0; {
		key := int(rest[0])
		if key == 0 || len(rest) < 1+key+4 {
			return false
		}
		value := uint64(binary.BigEndian.Uint32(rest[1+key:]))
		rest = rest[1+key+4:]
		if value > uint64(len(rest)) {
			return false
		}
		rest = rest[value:]
	}
	meta := zmq4.Metadata{}
	return meta.UnmarshalZMTP(body[len(name):]) == nil && slices.Contains(socketTypes, meta["Socket-Type"])
}

// guardedConn is a connection that has greeted.
type guardedConn struct {
	net.Conn
	head   []byte // read while greeting, and not by zmq4 yet
	ours   int    // bytes of zmq4's own greeting that are still to come, and were sent
	frames frameChecker
	taken  atomic.Bool // zmq4 reads more than the greeting

	more, room chan struct{} // the queue grew; it was taken
	done       chan struct{} // closed when drain has ended
	mu         sync.Mutex
	queue      []byte
	closing    bool
}

func (c *guardedConn) Read(p []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	c.taken.Store(true)
	n, err := c.Conn.Read(p)
	if bad := c.frames.check(p[:n]); bad != nil {
		c.Conn.Close()
		n, err = 0, &net.OpError{Op: "read", Net: "zmtp", Err: bad}
	}
	if err != nil {
		c.hangUp() // zmq4 forgets a connection that fails, and does not close it
	}
	return n, err
}

func (c *guardedConn) hangUpUnlessTaken() {
	if !c.taken.Load() {
		c.hangUp()
	}
}

// hangUp lets drain send what is queued and close the connection.
func (c *guardedConn) hangUp() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	notify(c.more)
}

// Write queues p; it waits only where the peer has left unreadMost unread.
func (c *guardedConn) Write(p []byte) (int, error) {
	if c.ours > 0 {
		n := min(c.ours, len(p))
		c.ours -= n
		if n == len(p) {
			return n, nil
		}
		m, err := c.Write(p[n:])
		return n + m, err
	}
	for {
		c.mu.Lock()
		if c.closing {
			c.mu.Unlock()
			return 0, &net.OpError{Op: "write", Net: "zmtp", Err: net.ErrClosed}
		}
		if len(c.queue) == 0 || len(c.queue)+len(p) <= unreadMost {
			c.queue = append(c.queue, p...)
			c.mu.Unlock()
			notify(c.more)
			return len(p), nil
		}
		c.mu.Unlock()
		select {
		case <-c.room:
		case <-c.done:
		}
	}
}

// drain sends what is queued, and ends the connection of a peer that does not
// take it.
func (c *guardedConn) drain() {
	defer close(c.done)
	defer c.Conn.Close()
	for {
		c.mu.Lock()
		batch, closing := c.queue, c.closing
		c.queue = nil
		c.mu.Unlock()
		if len(batch) == 0 {
			if closing {
				return
			}
			<-c.more
			continue
		}
		notify(c.room)
		for len(batch) > 0 {
			n := min(len(batch), 256<<10) // a stall is seen by the piece
			err := c.SetWriteDeadline(time.Now().Add(stallLimit))
			if err == nil {
				_, err = c.Conn.Write(batch[:n])
			}
			if err != nil {
				c.mu.Lock()
				c.closing, c.queue = true, nil
				c.mu.Unlock()
				return
			}
			batch = batch[n:]
		}
	}
}

// Close sends what is queued first, for a moment.
func (c *guardedConn) Close() error {
	c.hangUp()
	select {
	case <-c.done:
	case <-time.After(time.Second):
	}
	return c.Conn.Close()
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

var errOversized = errors.New("a message is larger than a kernel takes")

// frameChecker follows ZMTP's frames in a stream of bytes.
type frameChecker struct {
	limit, message int64 // of a message; what is left of this one
	body           int64 // bytes of the frame that are to come
	header         []byte
}

// ZMTP's flags of a frame.
const (
	moreFrames   = 1
	longFrame    = 2
	commandFrame = 4
)

// check returns an error where a frame in p, or begun before it, makes its
// message larger than the limit. A frame counts a few bytes more than it has:
// there may be many that are empty.
func (f *frameChecker) check(p []byte) error {
	const perFrame = 64
	for len(p) > 0 {
		if f.body > 0 {
			n := min(f.body, int64(len(p)))
			f.body -= n
			p = p[n:]
			continue
		}
		f.header, p = append(f.header, p[0]), p[1:]
		flags, size := f.header[0], uint64(0)
		switch n := len(f.header); {
		case flags&longFrame == 0 && n == 2:
			size = uint64(f.header[1])
		case n == 9:
			size = binary.BigEndian.Uint64(f.header[1:])
		default:
			continue
		}
		f.header = f.header[:0]
		if size > uint64(f.limit) || int64(size)+perFrame > f.message {
			return errOversized
		}
		f.body, f.message = int64(size), f.message-int64(size)-perFrame
		if flags&moreFrames == 0 {
			f.message = f.limit
		}
	}
	return nil
}

// dropped counts the messages that reach nobody. Whoever can connect may send any number
// of them, so they are said once a minute and not each.
type dropped struct {
	mu   sync.Mutex
	n    int
	said time.Time
}

const sayDroppedEvery = time.Minute

// add notes one message and why it is dropped, and says so to w when it is time.
func (d *dropped) add(w io.Writer, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	if time.Since(d.said) < sayDroppedEvery {
		return
	}
	messages := "a message"
	if d.n > 1 {
		messages = fmt.Sprintf("%d messages, the last of them", d.n)
	}
	fmt.Fprintf(w, "gonbext kernel: dropped %s %s\n", messages, why)
	d.n, d.said = 0, time.Now()
}
