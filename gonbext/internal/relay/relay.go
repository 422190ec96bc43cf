// Package relay is a Jupyter kernel that stands in front of GoNB.
//
// Jupyter talks to the relay, the relay to a GoNB of its own. Messages pass
// byte for byte, in GoNB's order, except for the few that the relay has
// something to say to: cells with magics are rewritten before GoNB sees them,
// Tab in a magic is answered here, and a cell whose runs are recorded gets
// their progress while it runs and their report when its process has ended,
// however it ended, before the cell goes idle.
//
// From the inside out: message (wire.go) and signer (sign.go) are the protocol;
// socket (socket.go) carries it; process (process.go) is the GoNB behind;
// pending (pending.go) are the requests that the relay has changed; front.go and
// back.go route the two directions; watch.go shows runs. GONB.md lists what is worked around in GoNB.
//
// The sockets that face Jupyter trust nobody: each connection has five seconds to
// greet, lengths are checked before memory is taken, a request that is sent again is
// dropped, and a peer that does not read is cut off.
package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
)

// Options are what a kernel is made of.
type Options struct {
	Connection string   // Jupyter's connection file
	GoNB       []string // the command that runs GoNB; "--kernel FILE" is added
	Env        []string // GoNB's environment, and its cells'
	Source     string   // folder of the module that every cell can import, or ""
	Magic      Rewriter
	Watch      func(cell Cell, origin string) Watcher // of the cells that ask for it; nil: none
	Notice     func() string                          // what to say before the first cell, "" nothing; nil: none
	Library    *Library                               // which output carries the charts'; one is made where it is nil
}

// relay is one kernel session.
type relay struct {
	key     signer
	session string // of the relay's own requests
	front   *sockets
	back    *sockets
	gonb    *process
	magic   Rewriter
	watch   func(cell Cell, origin string) Watcher

	jobs       *pending
	turns      turns
	hidden     *internalSession
	shutdown   shutdown
	library    *Library
	interrupts interrupts

	rewriting sync.Mutex // magic's: one call at a time

	flow flow

	notices sync.Mutex
	asker   string        // the session of the latest request for a cell
	missed  bool          // a report went to another session
	first   func() string // what to say before the first cell

	seenMu  sync.Mutex
	seen    seen
	dropped dropped

	status sync.Mutex // orders statuses, and guards busy
	busy   []byte     // the request that GoNB works on, nil where it is idle
}

// Run is the kernel: it returns when GoNB has ended, by Jupyter's request (nil)
// or otherwise, or when ctx does. Nothing that it started outlives it.
func Run(ctx context.Context, o Options) error {
	facing, err := readConnection(o.Connection)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gonbext-")
	if err != nil {
		return fmt.Errorf("kernel's own folder: %w", err)
	}
	defer os.RemoveAll(dir)
	behind, file, err := facing.behind(dir, o.Connection)
	if err != nil {
		return err
	}

	// Sockets end with a context of their own: at the end of ctx, messages are
	// still owed.
	open, closeAll := context.WithCancel(context.Background())
	defer closeAll()
	r := &relay{
		key: signer(facing.Key), session: newID(), magic: o.Magic, watch: o.Watch, first: o.Notice,
		jobs: newJobs(), hidden: newHidden(), library: cmp.Or(o.Library, &Library{}),
	}
	// Jupyter's subscription must stand before the first output, so the front
	// listens first; it is read when GoNB is ready.
	if r.front, err = listen(open, facing); err != nil {
		return err
	}
	defer r.front.close()
	go r.beat()

	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // Notify, not Ignore, which children inherit
	defer signal.Stop(interrupts)

	log, err := os.OpenFile(filepath.Join(dir, "gonb.log"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("GoNB's log: %w", err)
	}
	defer log.Close()
	if r.gonb, err = startProcess(append(o.GoNB, "--kernel", file), o.Env, log); err != nil {
		return err
	}
	defer r.hidden.removeFolder()
	defer r.gonb.end()

	dialing, ready := context.WithCancel(open)
	go func() { // a GoNB that fails at its start is not waited for
		select {
		case <-r.gonb.exited:
		case <-ctx.Done():
		case <-dialing.Done():
			return
		}
		closeAll()
	}()
	if r.back, err = dial(open, behind); err != nil {
		ready()
		select {
		case <-r.gonb.exited:
			return r.gonb.failure()
		default:
			return err
		}
	}
	ready()
	defer r.back.close()
	return r.serve(ctx, interrupts, dir, o.Source)
}

// serve relays until GoNB ends.
func (r *relay) serve(ctx context.Context, interrupts <-chan os.Signal, dir, source string) error {
	var back sync.WaitGroup
	back.Go(r.fromIOPub)
	back.Go(func() { r.fromBack(r.back.shell, r.front.shell) })
	back.Go(func() { r.fromBack(r.back.control, r.front.control) })
	back.Go(func() { r.fromBack(r.back.stdin, r.front.stdin) })
	if err := r.awaitReady(); err != nil {
		return err
	}
	os.RemoveAll(dir) // the sockets are connected: a kill from now on leaves nothing behind
	r.prepareCell(source)
	go r.fromFront(r.front.shell, r.back.shell)
	go r.fromFront(r.front.control, r.back.control)
	go r.fromFront(r.front.stdin, r.back.stdin)

	prepared, stopped := r.hidden.prepared, ctx.Done()
	parent := os.Getppid()
	orphan := time.NewTicker(time.Second)
	defer orphan.Stop()
	for {
		select {
		case s := <-interrupts:
			r.interrupts.interrupt()
			r.gonb.signal(s)
			time.AfterFunc(patience, r.killOrphans(ctx))
		case <-prepared:
			prepared = nil
			if _, complaint := r.hidden.folder(); complaint != "" {
				fmt.Fprintln(os.Stderr, "gonbext kernel: cells may not find the gonbext module:", complaint)
			}
		case <-stopped:
			r.gonb.end()
			stopped = nil
		case <-orphan.C:
			// Jupyter was killed: nobody else would end this kernel.
			if os.Getenv("JPY_PARENT_PID") == strconv.Itoa(parent) && os.Getppid() != parent {
				r.gonb.end()
				return errors.New("the kernel's parent, Jupyter, is gone")
			}
		case <-r.gonb.exited:
			wait(&back, time.Second) // for what GoNB said last
			return r.last(ctx)
		}
	}
}

// patience is how long after an interrupt GoNB has killed what it has started: five seconds, and a little
// more.
const patience = 6 * time.Second

// killOrphans gives a function that ends what the cell that runs now has started, if that runs
// still: GoNB waits for whatever holds a killed command's output.
func (r *relay) killOrphans(ctx context.Context) func() {
	j := r.jobs.running()
	return func() {
		if j != nil && r.jobs.running() == j && ctx.Err() == nil {
			kill(func() []int { return r.gonb.orphans(j.begun) })
		}
	}
}

// last says what is to be said when GoNB has ended.
func (r *relay) last(ctx context.Context) error {
	expected := r.shutdown.expected() || ctx.Err() != nil
	r.gonb.end() // a cell may outlive its GoNB, and its report is about its end
	for _, j := range r.jobs.all() {
		r.finish(j, "") // with its kernel
	}
	if r.status.Lock(); r.busy != nil && !expected {
		r.publish("stream", r.busy, map[string]any{"name": "stderr", "text": "\n" + r.gonb.ending() + "\n"})
	}
	r.status.Unlock()
	r.shutdown.answer(r.key)
	r.drain()
	if expected {
		return nil
	}
	return r.gonb.failure()
}

// beat answers Jupyter's heartbeat. The relay ends when GoNB does, so it may
// answer for both.
func (r *relay) beat() {
	for {
		m, err := r.front.heartbeat.Recv()
		if err == nil {
			err = r.front.heartbeat.Send(m)
		}
		if errors.Is(err, context.Canceled) {
			return // the socket is closed; other errors are one peer's
		}
	}
}

// drain returns when all outputs have left, which are sent in the background:
// a subscription of the relay's own gets a last output after all others.
func (r *relay) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	sub := zmq4.NewSub(ctx)
	defer sub.Close()
	address := "tcp://" + r.front.iopub.Addr().String()
	if r.front.iopub.Addr().Network() == "unix" {
		address = "ipc://" + r.front.iopub.Addr().String()
	}
	if sub.Dial(address) != nil || sub.SetOption(zmq4.OptionSubscribe, "") != nil {
		return
	}
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		for {
			frames, err := sub.Recv()
			if err != nil {
				return
			}
			if m, ok := parse(frames.Frames); ok && m.parentHead().Session == r.session {
				return
			}
		}
	}()
	mark := newMessage("kernel_info_request", r.session, nil, map[string]any{})
	for {
		r.publish("status", mark.header, map[string]any{"execution_state": "idle"})
		select {
		case <-arrived:
			return
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// wait waits for g, but no longer than limit.
func wait(g *sync.WaitGroup, limit time.Duration) {
	done := make(chan struct{})
	go func() { g.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(limit):
	}
}
