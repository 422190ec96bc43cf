package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/gonbext/internal/watchdog"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// fakeGoNB makes the test binary be a GoNB: tests of the relay need the
// protocol and a process, not a compiler.
const fakeGoNB = "GONBEXT_TEST_FAKE_GONB"

func TestMain(m *testing.M) {
	if os.Getenv(fakeGoNB) == "cell" {
		watchdog.Tell(watchdog.Ending{Name: "Error", Text: os.Getenv("WHY")})
		os.Exit(1)
	}
	if os.Getenv(fakeGoNB) != "" {
		if err := runFake(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, "E0101 fake GoNB:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// The writer of a zmq4 PUB socket waits on a condition that Close does not
	// signal: one goroutine a socket stays.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/go-zeromq/zmq4.(*pubMWriter).run"))
}

// fake answers like GoNB: statuses on iopub around requests that it works on in
// turn, control requests answered on the shell socket, no answer to what GoNB
// leaves unanswered.
type fake struct {
	key                 signer
	shell, stdin, iopub *socket
	count               int
	interrupts          chan os.Signal
	input               chan string
	requests            chan message
}

func runFake(file string) error {
	if os.Getenv(fakeGoNB) == "broken" {
		return fmt.Errorf("cannot start")
	}
	c, err := readConnection(file)
	if err != nil {
		return err
	}
	s, err := listen(context.Background(), c)
	if err != nil {
		return err
	}
	f := &fake{
		key: signer(c.Key), shell: s.shell, stdin: s.stdin, iopub: s.iopub,
		interrupts: make(chan os.Signal, 1), input: make(chan string, 1), requests: make(chan message, 100),
	}
	signal.Notify(f.interrupts, os.Interrupt)
	go f.read(s.shell)
	go f.read(s.control)
	go func() {
		for {
			frames, err := s.stdin.receive()
			if err != nil {
				return
			}
			m, _ := parse(frames)
			content, _ := fields(m.content)
			f.input <- content["value"].(string)
		}
	}()
	for m := range f.requests {
		f.work(m)
	}
	return nil
}

// read queues what takes its turn and answers the rest at once.
func (f *fake) read(s *socket) {
	for {
		frames, err := s.receive()
		if err != nil {
			return
		}
		m, ok := parse(frames)
		if !ok || !f.key.valid(m) {
			fmt.Fprintln(os.Stderr, "E0101 bad message")
			os.Exit(3) // a real GoNB stops too
		}
		switch m.head().Type {
		case "execute_request", "complete_request", "inspect_request", "kernel_info_request":
			f.requests <- m
		case "interrupt_request":
			f.reply(m, "interrupt_reply", map[string]any{"status": "ok"})
		case "shutdown_request":
			os.Exit(0) // without a word, as GoNB often does
		}
	}
}

func (f *fake) work(m message) {
	f.publish(m, "status", map[string]any{"execution_state": "busy"})
	defer f.publish(m, "status", map[string]any{"execution_state": "idle"})
	content, _ := fields(m.content)
	code, _ := content["code"].(string)
	for name, value := range optional[m.head().Type] { // without which GoNB ends
		if reflect.TypeOf(content[name]) != reflect.TypeOf(value) {
			panic(fmt.Sprintf("%s of %s is %v", name, m.head().Type, content[name]))
		}
	}
	switch kind := m.head().Type; kind {
	case "execute_request":
		f.execute(m, content, code)
	case "kernel_info_request":
		f.reply(m, "kernel_info_reply", map[string]any{"status": "ok", "implementation": "fake"})
	default: // shows what it was given
		if strings.HasPrefix(code, "🙂") {
			code = fmt.Sprint(content["cursor_pos"])
		}
		f.reply(m, strings.Replace(kind, "request", "reply", 1), map[string]any{"status": "ok", "code": code, "cursor_start": content["cursor_pos"], "cursor_end": content["cursor_pos"],
			"matches": []string{code, code + "().Deadline"}})
	}
}

// execute obeys code's lines; the reply says what code and signature came.
func (f *fake) execute(m message, content map[string]any, code string) {
	if silent, _ := content["silent"].(bool); silent {
		if dir, err := os.MkdirTemp("", "gonb_"); err == nil && strings.Contains(code, "!*pwd") {
			f.publish(m, "stream", map[string]any{"name": "stdout", "text": dir + "\n"})
		}
		f.reply(m, "execute_reply", map[string]any{"status": "ok"})
		return
	}
	f.count++
	f.publish(m, "execute_input", map[string]any{"code": code, "execution_count": f.count})
	for line := range strings.SplitSeq(code, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "print":
			f.publish(m, "stream", map[string]any{"name": "stdout", "text": rest})
		case "input":
			ask := newMessage("input_request", m.head().Session, m.header, map[string]any{"prompt": rest})
			ask.ids = m.ids
			_ = f.stdin.send(f.key.sign(ask).frames())
			f.publish(m, "stream", map[string]any{"name": "stdout", "text": "got " + <-f.input})
		case "wait":
			<-f.interrupts
			f.publish(m, "stream", map[string]any{"name": "stdout", "text": "interrupted"})
		case "sleep":
			d, _ := time.ParseDuration(rest)
			time.Sleep(d)
		case "complain":
			f.publish(m, "stream", map[string]any{"name": "stderr", "text": strings.ReplaceAll(rest, `\n`, "\n") + "\n"})
		case "tell": // as a cell's program does that ends itself
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), fakeGoNB+"=cell", "GONB_PIPE=pipe", "WHY="+rest)
			_ = c.Run()
		case "fail": // as GoNB says how a process ended
			content := map[string]any{"ename": "ERROR", "evalue": rest, "traceback": []string{rest}}
			f.publish(m, "error", content)
			content["status"] = "error"
			f.reply(m, "execute_reply", content)
			return
		case "leave": // a process and its pipe behind
			pipe := filepath.Join(os.TempDir(), "gonb_pipe_0")
			_ = syscall.Mkfifo(pipe, 0o600)
			c := exec.Command("sleep", "60")
			c.Env = append(os.Environ(), "GONB_PIPE="+pipe)
			_ = c.Start()
		case "die":
			time.Sleep(100 * time.Millisecond) // the outputs leave
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	f.reply(m, "execute_reply", map[string]any{
		"status": "ok", "execution_count": f.count, "code": code, "signature": string(m.signature),
	})
}

func (f *fake) reply(m message, kind string, content any) {
	r := newMessage(kind, m.head().Session, m.header, content)
	r.ids = m.ids
	_ = f.shell.send(f.key.sign(r).frames())
}

func (f *fake) publish(m message, kind string, content any) {
	r := newMessage(kind, m.head().Session, m.header, content)
	r.ids = [][]byte{[]byte(kind)}
	_ = f.iopub.send(f.key.sign(r).frames())
}

// client is a front end.
type client struct {
	t                           *testing.T
	at                          connection
	key                         signer
	session                     string
	shell, control, stdin, beat zmq4.Socket
	outputs                     chan message
	inputs                      chan message
	replies                     chan message // of both channels; see channel
	ended                       chan error   // Run's result
	stop                        context.CancelFunc
}

// start runs a relay in front of a fake GoNB, with a client before it.
func start(t *testing.T, magic Rewriter, watch func(Cell, string) Watcher) *client {
	t.Helper()
	t.Setenv(fakeGoNB, "1")
	t.Setenv("TMPDIR", shortDir(t))
	dir := shortDir(t)
	file := dir + "/kernel-0a.json"
	c := connection{
		SignatureScheme: "hmac-sha256", Transport: "ipc", IP: dir + "/f", Key: "the key",
		Shell: 1, Control: 2, Stdin: 3, IOPub: 4, Heartbeat: 5,
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, file, data, 0o600)
	ctx, stop := context.WithCancel(context.Background())
	x := &client{
		t: t, at: c, key: signer(c.Key), session: newID(), stop: stop, ended: make(chan error, 1),
		outputs: make(chan message, 1000), inputs: make(chan message, 10), replies: make(chan message, 100),
	}
	go func() {
		x.ended <- Run(ctx, Options{Connection: file, GoNB: []string{os.Args[0]}, Env: os.Environ(), Magic: magic, Watch: watch})
	}()
	sockets, cancel := context.WithCancel(context.Background())
	retry := []zmq4.Option{zmq4.WithDialerRetry(5 * time.Millisecond), zmq4.WithDialerMaxRetries(2000)}
	one := append([]zmq4.Option{zmq4.WithID(zmq4.SocketIdentity("client"))}, retry...)
	x.shell, x.control, x.stdin = zmq4.NewDealer(sockets, one...), zmq4.NewDealer(sockets, one...), zmq4.NewDealer(sockets, one...)
	x.beat = zmq4.NewReq(sockets, retry...)
	sub := zmq4.NewSub(sockets, retry...)
	for s, port := range map[zmq4.Socket]int{x.shell: c.Shell, x.control: c.Control, x.stdin: c.Stdin, sub: c.IOPub, x.beat: c.Heartbeat} {
		if err := s.Dial(c.address(port)); err != nil {
			t.Fatal(err)
		}
	}
	if err := sub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		t.Fatal(err)
	}
	go collect(x.shell, x.replies, "shell")
	go collect(x.control, x.replies, "control")
	go collect(x.stdin, x.inputs, "stdin")
	go collect(sub, x.outputs, "iopub")
	t.Cleanup(func() {
		stop()
		select {
		case <-x.ended:
		case <-time.After(time.Minute):
			t.Error("the relay does not end")
		}
		cancel()
		for _, s := range []zmq4.Socket{x.shell, x.control, x.stdin, sub, x.beat} {
			s.Close()
		}
	})
	x.ready()
	return x
}

// shortDir is a folder whose path leaves room for a socket's name.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "r")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// collect moves messages to a channel; ids say by which socket they came.
func collect(s zmq4.Socket, to chan<- message, name string) {
	for {
		frames, err := s.Recv()
		if err != nil {
			return
		}
		if m, ok := parse(frames.Frames); ok {
			m.ids = [][]byte{[]byte(name)}
			to <- m
		}
	}
}

// ready waits until the subscription stands, as Jupyter does.
func (x *client) ready() {
	x.t.Helper()
	for range 500 {
		id := x.ask(x.shell, "kernel_info_request", map[string]any{})
		select {
		case m := <-x.outputs:
			for m.parentHead().ID != id || !strings.Contains(string(m.content), "idle") {
				select {
				case m = <-x.outputs:
				case <-time.After(time.Minute):
					x.t.Fatal("no idle")
				}
			}
			for r := x.reply(); r.parentHead().ID != id; r = x.reply() {
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
	x.t.Fatal("the relay does not become ready")
}

// ask sends a request and returns its id.
func (x *client) ask(on zmq4.Socket, kind string, content any) string {
	x.t.Helper()
	m := x.key.sign(newMessage(kind, x.session, nil, content))
	if err := on.SendMulti(zmq4.NewMsgFrom(m.frames()...)); err != nil {
		x.t.Fatal(err)
	}
	return m.head().ID
}

func (x *client) reply() message {
	x.t.Helper()
	select {
	case m := <-x.replies:
		if !x.key.valid(m) {
			x.t.Fatalf("reply is badly signed: %s", m.content)
		}
		return m
	case err := <-x.ended:
		x.ended <- err
		x.t.Fatalf("the relay ended: %v", err)
	case <-time.After(time.Minute):
		x.t.Fatal("no reply")
	}
	panic("unreachable")
}

// until gives the outputs about a request up to and with idle, or the end of
// the relay.
func (x *client) until(id string) (all []message) {
	x.t.Helper()
	for {
		select {
		case m := <-x.outputs:
			if m.parentHead().ID != id {
				continue
			}
			if !x.key.valid(m) {
				x.t.Fatalf("output is badly signed: %s", m.content)
			}
			all = append(all, m)
			if m.head().Type == "status" && strings.Contains(string(m.content), "idle") {
				return all
			}
		case <-time.After(time.Minute):
			x.t.Fatal("no idle")
		}
	}
}

// execute runs a cell; text is its outputs, one a line.
func (x *client) execute(code string) (reply map[string]any, outputs string) {
	x.t.Helper()
	id := x.ask(x.shell, "execute_request", executeContent(code))
	all := x.until(id)
	m := x.reply()
	for m.parentHead().ID != id {
		m = x.reply()
	}
	reply, err := fields(m.content)
	if err != nil {
		x.t.Fatal(err)
	}
	return reply, summary(all)
}

func executeContent(code string) map[string]any {
	return map[string]any{"code": code, "silent": false, "store_history": true, "allow_stdin": true}
}

// summary is outputs in words, one a line.
func summary(all []message) string {
	var b strings.Builder
	for _, m := range all {
		c, _ := fields(m.content)
		switch kind := m.head().Type; kind {
		case "status":
			fmt.Fprintln(&b, c["execution_state"])
		case "execute_input":
			fmt.Fprintf(&b, "input %v %q\n", c["execution_count"], c["code"])
		case "stream":
			fmt.Fprintf(&b, "%v %q\n", c["name"], c["text"])
		case "error":
			fmt.Fprintf(&b, "error %v: %v\n", c["ename"], c["evalue"])
		default:
			fmt.Fprintf(&b, "%s %v\n", kind, c["data"])
		}
	}
	return b.String()
}
