package relay

import (
	"context"
	"fmt"
	"io"
	"log"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// socket is a ZeroMQ socket that several goroutines may send on.
type socket struct {
	zmq4.Socket
	mu sync.Mutex
}

func (s *socket) send(frames [][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.SendMulti(zmq4.NewMsgFrom(frames...))
}

// receive blocks until a message or the socket's end.
func (s *socket) receive() ([][]byte, error) {
	m, err := s.Recv()
	return m.Frames, err
}

// sockets are one side's channels. Of the side behind, the heartbeat stays
// unused: the relay watches GoNB's process itself.
type sockets struct {
	shell, control, stdin, iopub, heartbeat *socket
}

func (s *sockets) close() {
	for _, x := range []*socket{s.shell, s.control, s.stdin, s.iopub, s.heartbeat} {
		if x != nil {
			x.Close()
		}
	}
}

// listen opens the side that faces Jupyter.
func listen(ctx context.Context, c connection) (*sockets, error) {
	s := &sockets{}
	quiet := zmq4.WithLogger(log.New(io.Discard, "", 0)) // anybody may connect, with whatever
	for _, x := range []struct {
		to    **socket
		open  func(context.Context, ...zmq4.Option) zmq4.Socket
		port  int
		guard string
	}{
		{&s.shell, zmq4.NewRouter, c.Shell, "large"},
		{&s.control, zmq4.NewRouter, c.Control, "large"},
		{&s.stdin, zmq4.NewRouter, c.Stdin, "large"},
		{&s.iopub, zmq4.NewPub, c.IOPub, "small"},
		{&s.heartbeat, zmq4.NewRep, c.Heartbeat, "small"},
	} {
		*x.to = &socket{Socket: x.open(ctx, quiet)}
		if err := (*x.to).Listen(c.guarded(x.port, x.guard)); err != nil {
			s.close()
			return nil, fmt.Errorf("listen for Jupyter: %w", err)
		}
	}
	return s, nil
}

// dial opens the side that faces GoNB, waiting for it to listen until ctx ends.
func dial(ctx context.Context, c connection) (*sockets, error) {
	retry := []zmq4.Option{zmq4.WithDialerRetry(5 * time.Millisecond), zmq4.WithDialerMaxRetries(-1)}
	// GoNB addresses its input_request on the stdin socket with the identities
	// of the request on the shell socket, so all three must have one identity.
	same := append([]zmq4.Option{zmq4.WithID(zmq4.SocketIdentity(newID()))}, retry...)
	s := &sockets{}
	for _, x := range []struct {
		to      **socket
		open    func(context.Context, ...zmq4.Option) zmq4.Socket
		options []zmq4.Option
		port    int
	}{
		{&s.shell, zmq4.NewDealer, same, c.Shell},
		{&s.control, zmq4.NewDealer, same, c.Control},
		{&s.stdin, zmq4.NewDealer, same, c.Stdin},
		{&s.iopub, zmq4.NewSub, retry, c.IOPub},
	} {
		*x.to = &socket{Socket: x.open(ctx, x.options...)}
		if err := (*x.to).Dial(c.address(x.port)); err != nil {
			s.close()
			return nil, fmt.Errorf("connect to GoNB: %w", err)
		}
	}
	if err := s.iopub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		s.close()
		return nil, fmt.Errorf("subscribe to GoNB's outputs: %w", err)
	}
	return s, nil
}
