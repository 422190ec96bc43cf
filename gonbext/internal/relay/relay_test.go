package relay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// words is a Rewriter of three magics: up writes a cell in capitals, show has an
// output of its own, watch asks for reports.
type words struct{}

func (words) Rewrite(code string) (Cell, error) {
	word, rest, _ := strings.Cut(code, "\n")
	switch word {
	case "%up":
		return Cell{Code: "print " + strings.ToUpper(rest)}, nil
	case "%show":
		return Cell{Code: rest, Displays: []Bundle{{Data: map[string]any{"text/plain": "shown"}, Metadata: map[string]any{}}}}, nil
	case "%watch":
		return Cell{Code: rest, Watch: true, ID: "the cell"}, nil
	case "%bad":
		return Cell{}, errors.New("%bad is never right")
	}
	return Cell{Code: code}, nil
}

func (words) Compiled(string, int64, bool) {}

func (words) Explain(_ string, _, _ int, fault string) (text, hint string) {
	if strings.HasPrefix(fault, "undefined: ") {
		return fault, "files carry over"
	}
	return fault, ""
}

func (words) Complete(code string, cursor int, _ string) (Completion, bool) {
	return Completion{Matches: []string{"%up"}, Start: 0, End: cursor}, strings.HasPrefix(code, "%u")
}

func (words) Inspect(code string, cursor int) Inspection {
	if strings.HasPrefix(code, "%u") {
		return Inspection{Help: map[string]any{"text/plain": "capitals"}}
	}
	return Inspection{Pass: true, Code: strings.ReplaceAll(code, "%up", "   "), Cursor: cursor}
}

func (words) Pad(code string) (string, int) {
	if strings.HasPrefix(code, "statement") {
		return "%%\n" + code, 3
	}
	return strings.ReplaceAll(code, "%up", "   "), 0
}

// counter shows how often it was looked at.
type counter struct{ looks, closed atomic.Int32 }

func (c *counter) bundle(text string) Bundle {
	return Bundle{Data: map[string]any{"text/plain": text}, Metadata: map[string]any{}}
}

func (c *counter) Progress() (Bundle, bool) {
	c.looks.Add(1)
	return c.bundle("progress"), true
}
func (c *counter) Report(ending string) (Bundle, bool) {
	return c.bundle("report, " + ending), true
}
func (c *counter) Cards() []Bundle { return nil }
func (c *counter) Close()          { c.closed.Add(1) }

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// declaring is a Rewriter whose cells declare something: each has an ID.
type declaring struct {
	words
	compiled chan string
}

func (d declaring) Rewrite(code string) (Cell, error)    { return Cell{Code: code, ID: code}, nil }
func (d declaring) Compiled(id string, _ int64, ok bool) { d.compiled <- fmt.Sprintf("%s: %t", id, ok) }

func TestRewriterHearsWhetherACellCompiled(t *testing.T) {
	magic := declaring{compiled: make(chan string, 1)}
	x := start(t, magic, nil)
	for code, want := range map[string]bool{
		"print a": true, "fail exit status 3": true, "fail signal: killed": true,
		"fail ./main.go:3: undefined: f": false, "fail ": false,
	} {
		_, outputs := x.execute(code)
		if !strings.HasPrefix(outputs, "busy\ninput ") || !strings.HasSuffix(outputs, "idle\n") {
			t.Errorf("%q: %s", code, outputs)
		}
		equal(t, <-magic.compiled, fmt.Sprintf("%s: %t", code, want))
	}
}

func TestPlainCellPassesUnchanged(t *testing.T) {
	x := start(t, words{}, nil)
	m := x.key.sign(newMessage("execute_request", x.session, nil, executeContent("print a <b> & 12345678901234567890")))
	if err := x.shell.SendMulti(zmq4.NewMsgFrom(m.frames()...)); err != nil {
		t.Fatal(err)
	}
	equal(t, summary(x.until(m.head().ID)), `busy
input 1 "print a <b> & 12345678901234567890"
stdout "a <b> & 12345678901234567890"
idle
`)
	reply, err := fields(x.reply().content)
	if err != nil {
		t.Fatal(err)
	}
	if reply["signature"] != string(m.signature) {
		t.Errorf("GoNB got the signature %v of a message sent with %s", reply["signature"], m.signature)
	}
}

func TestRewrittenCellShowsItsSource(t *testing.T) {
	x := start(t, words{}, nil)
	reply, outputs := x.execute("%up\nhello")
	equal(t, outputs, "busy\ninput 1 \"%up\\nhello\"\nstdout \"HELLO\"\nidle\n")
	if reply["code"] != "print HELLO" {
		t.Errorf("GoNB ran %q", reply["code"])
	}
	_, outputs = x.execute("%show\nprint x")
	equal(t, outputs, "busy\ninput 2 \"%show\\nprint x\"\ndisplay_data map[text/plain:shown]\nstdout \"x\"\nidle\n")
}

func TestUsageErrorRunsNothing(t *testing.T) {
	x := start(t, words{}, nil)
	reply, outputs := x.execute("%bad\nprint never")
	equal(t, outputs, "busy\ninput 1 \"%bad\\nprint never\"\nerror UsageError: %bad is never right\nidle\n")
	if reply["status"] != "error" || reply["evalue"] != "%bad is never right" {
		t.Errorf("reply %v", reply)
	}
	if _, outputs = x.execute("print on"); !strings.Contains(outputs, "input 2 ") {
		t.Errorf("the execution count went wrong: %s", outputs)
	}
}

func TestReportComesBeforeIdle(t *testing.T) {
	var c counter
	x := start(t, words{}, func(cell Cell, origin string) Watcher {
		if cell.ID != "the cell" {
			t.Errorf("watched %q", cell.ID)
		}
		return &c
	})
	id := x.ask(x.shell, "execute_request", executeContent("%watch\nwait\nprint after"))
	for c.looks.Load() < 3 { // before the third the second has been published
		time.Sleep(time.Millisecond)
	}
	interrupt(t)
	all := x.until(id)
	var kinds []string
	shown := map[any]bool{}
	for _, m := range all {
		kinds = append(kinds, m.head().Type)
		if content, _ := fields(m.content); content["transient"] != nil {
			shown[content["transient"].(map[string]any)["display_id"]] = true
		}
	}
	got := strings.Join(kinds, " ")
	if !strings.HasPrefix(got, "status execute_input display_data update_display_data") ||
		!strings.HasSuffix(got, "stream update_display_data display_data status") || strings.Count(got, " display_data") != 2 {
		t.Errorf("outputs: %s", got)
	}
	if len(shown) != 2 {
		t.Errorf("the progress is not replaced in place: %v", shown)
	}
	if last := string(all[len(all)-2].content); !strings.Contains(last, "report, exit status 0") {
		t.Errorf("before idle comes %s", last)
	}
	if c.closed.Load() != 1 {
		t.Errorf("closed %d times", c.closed.Load())
	}
}

// What GoNB says of a process's end reaches the report; what it says of a cell that does
// not compile is no end of a process.
func TestReportKnowsHowTheProcessEnded(t *testing.T) {
	var c counter
	x := start(t, words{}, func(Cell, string) Watcher { return &c })
	for said, want := range map[string]string{
		"exit status 3":                       "report, exit status 3",
		"signal: killed":                      "report, signal: killed",
		"signal: aborted (core dumped)":       "report, signal: aborted (core dumped)",
		"signal: trace/breakpoint trap":       "report, signal: trace/breakpoint trap",
		"signal: CPU time limit exceeded":     "report, signal: CPU time limit exceeded",
		`failed to run "go": exit status 1`:   "report, exit status 0",
		"exit status 1 is what a cell writes": "report, exit status 0",
	} {
		if _, outputs := x.execute("%watch\nfail " + said); !strings.Contains(outputs, want+"]") {
			t.Errorf("%s: want %q in\n%s", said, want, outputs)
		}
	}
}

// The sentence with which gonbext ends a cell is the cell's error, in the place of an exit status:
// in its outputs and in the reply, which programs that run notebooks show.
func TestErrorOfACellSaysWhyItWasEnded(t *testing.T) {
	x := start(t, words{}, nil)
	const why = "add: shapes (3,) and (4,) do not broadcast together (cell:2)"
	for _, c := range []struct{ code, want string }{
		{"tell " + why + "\ncomplain " + why + "\ncomplain exit status 1\nfail exit status 1", why},
		{"complain " + why + "\ncomplain exit status 1\nfail exit status 1", "exit status 1"}, // what a cell writes is no reason
		{"tell " + why + "\nfail exit status 1", why},
		{"fail exit status 3", "exit status 3"}, // nor is an earlier cell's
	} {
		reply, outputs := x.execute(c.code)
		if got, _ := reply["evalue"].(string); got != c.want {
			t.Errorf("%s: the reply says %q", c.code, got)
		}
		if !strings.Contains(outputs, "\nerror ") || !strings.Contains(outputs, ": "+c.want+"\n") {
			t.Errorf("%s: %s", c.code, outputs)
		}
	}
}

// What the error of a cell says is not said above it too: what a cell itself writes is shown all
// the same.
func TestProcessEndingIsShownOnce(t *testing.T) {
	x := start(t, words{}, nil)
	for code, want := range map[string]string{ // the kinds of the outputs
		"complain exit status 1\nfail exit status 1":                                                    "error",
		`complain ^C\nexit status 1` + "\nfail exit status 1":                                           "error",
		"complain exit status 1\nfail exit status 2":                                                    "stream error",
		"complain exit status 1\nprint on":                                                              "stream stream",
		"complain exit status 1":                                                                        "stream",
		"tell add: no\ncomplain add: no\ncomplain exit status 1\nfail exit status 1":                    "error",
		"tell add: no\ncomplain add: no\n" + `complain ^C\nexit status 1` + "\nfail exit status 1":      "error",
		"tell add: no\n" + `complain its own\nadd: no` + "\ncomplain exit status 1\nfail exit status 1": "stream error",
		"tell add: no\ncomplain add: no\ncomplain exit status 1\nfail exit status 2":                    "stream stream error",
		"tell add: no\ncomplain add: no\nprint on":                                                      "stream stream",
		"complain it failed\ncomplain exit status 1\nfail exit status 1":                                "stream error",
	} {
		var kinds []string
		for _, m := range x.until(x.ask(x.shell, "execute_request", executeContent(code))) {
			if kind := m.head().Type; kind == "stream" || kind == "error" {
				kinds = append(kinds, kind)
			}
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%q: %s, want %s", code, got, want)
		}
		x.reply()
		x.execute("fail exit status 1") // takes what was told
	}
}

// GoNB says nothing where a compiler was killed or interrupted.
func TestErrorWithoutAWordIsExplained(t *testing.T) {
	x := start(t, words{}, nil)
	reply, outputs := x.execute("fail ")
	if reply["evalue"] != unfinished || !strings.Contains(outputs, unfinished) {
		t.Errorf("%v\n%s", reply, outputs)
	}
}

// interrupt is a front end's SIGINT, which the relay passes on.
func interrupt(t *testing.T) {
	t.Helper()
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

func TestReportComesWhenGoNBIsKilled(t *testing.T) {
	var c counter
	x := start(t, words{}, func(Cell, string) Watcher { return &c })
	x.ask(x.shell, "execute_request", executeContent("%watch\nleave\nprint last words\ndie"))
	err := <-x.ended
	x.ended <- err
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the relay ended with %v", err)
	}
	var all []message
	for _, want := range []string{"last words", "report", "GoNB ended (signal: killed)"} {
		for !strings.Contains(summary(all), want) {
			select {
			case m := <-x.outputs:
				all = append(all, m)
			case <-time.After(time.Minute):
				t.Fatalf("no %q in:\n%s", want, summary(all))
			}
		}
	}
	left, _ := filepath.Glob(os.TempDir() + "/gonb*")
	if runtime.GOOS != "linux" { // where the processes of a killed GoNB are not found
		left = slices.DeleteFunc(left, func(path string) bool { return strings.Contains(path, "gonb_pipe_") })
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A page that was reloaded while a cell ran hears of the report that it missed.
func TestMissedReportIsSaid(t *testing.T) {
	var c counter
	x := start(t, words{}, func(Cell, string) Watcher { return &c })
	id := x.ask(x.shell, "execute_request", executeContent("%watch\nwait"))
	for c.looks.Load() < 1 {
		time.Sleep(time.Millisecond)
	}
	x.session = newID()
	x.ask(x.shell, "kernel_info_request", map[string]any{})
	x.ask(x.shell, "is_complete_request", map[string]any{}) // answered at once, when the one before has passed
	x.answered("is_complete_reply", "shell")
	interrupt(t)
	x.until(id)
	for i, want := range []bool{true, false} {
		if _, outputs := x.execute("print on"); strings.Contains(outputs, "%report shows it") != want {
			t.Errorf("cell %d: %s", i, outputs)
		}
	}
}

func TestReportBehindAFloodWaits(t *testing.T) {
	var f flow
	f.add(100_000)
	if f.calm() != 0 {
		t.Error("a little output makes a report wait")
	}
	f.add(10 << 20)
	if f.calm() < flowWindow {
		t.Error("a report right behind a flood is dropped by the server")
	}
}

func TestShutdownIsAnswered(t *testing.T) {
	x := start(t, words{}, nil)
	x.ask(x.control, "shutdown_request", map[string]any{"restart": true})
	m := x.answered("shutdown_reply", "control")
	if !strings.Contains(string(m.content), `"restart":true`) {
		t.Errorf("shutdown_reply %s", m.content)
	}
	err := <-x.ended
	x.ended <- err
	if err != nil {
		t.Errorf("an expected end is the error %v", err)
	}
	if left, _ := filepath.Glob(os.TempDir() + "/gonb*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// answered waits for the reply and for its channel.
func (x *client) answered(kind, channel string) message {
	x.t.Helper()
	select {
	case m := <-x.replies:
		if m.head().Type != kind || string(m.ids[0]) != channel {
			x.t.Errorf("got %s on %s, want %s on %s", m.head().Type, m.ids[0], kind, channel)
		}
		return m
	case <-time.After(time.Minute):
		x.t.Fatalf("no %s", kind)
	}
	panic("unreachable")
}

func TestControlIsAnsweredOnControl(t *testing.T) {
	x := start(t, words{}, nil)
	x.ask(x.control, "interrupt_request", map[string]any{})
	x.answered("interrupt_reply", "control")
	x.ask(x.shell, "kernel_info_request", map[string]any{})
	x.answered("kernel_info_reply", "shell")
}

func TestInputReachesTheCell(t *testing.T) {
	x := start(t, words{}, nil)
	id := x.ask(x.shell, "execute_request", executeContent("input name?"))
	m := <-x.inputs
	if m.head().Type != "input_request" || m.parentHead().ID != id {
		t.Errorf("on stdin: %s", m.header)
	}
	x.ask(x.stdin, "input_reply", map[string]any{"value": "Ada"})
	if got := summary(x.until(id)); !strings.Contains(got, `"got Ada"`) {
		t.Error(got)
	}
}

func TestRequestsThatGoNBLeavesUnanswered(t *testing.T) {
	x := start(t, words{}, nil)
	for request, want := range map[string]string{
		"is_complete_request": `{"status":"unknown"}`,
		"comm_info_request":   `{"comms":{},"status":"ok"}`,
		"history_request":     `{"history":[],"status":"ok"}`,
	} {
		id := x.ask(x.shell, request, map[string]any{})
		equal(t, string(x.answered(strings.Replace(request, "request", "reply", 1), "shell").content), want)
		equal(t, summary(x.until(id)), "busy\nidle\n")
	}
}

func TestAnswerDuringACellLeavesItBusy(t *testing.T) {
	x := start(t, words{}, nil)
	cell := x.ask(x.shell, "execute_request", executeContent("print begun\nwait"))
	for m := range x.outputs {
		if m.head().Type == "stream" {
			break
		}
	}
	other := x.ask(x.shell, "comm_info_request", map[string]any{})
	x.answered("comm_info_reply", "shell")
	var states []string
	for len(states) < 3 {
		m := <-x.outputs
		content, _ := fields(m.content)
		of := map[string]string{cell: "cell", other: "other"}[m.parentHead().ID]
		states = append(states, of+" "+content["execution_state"].(string))
	}
	equal(t, strings.Join(states, ", "), "other busy, other idle, cell busy")
	interrupt(t)
	x.until(cell)
}

func TestCompletion(t *testing.T) {
	x := start(t, words{}, nil)
	x.ask(x.shell, "complete_request", map[string]any{"code": "%u", "cursor_pos": 2})
	equal(t, string(x.answered("complete_reply", "shell").content),
		`{"cursor_end":2,"cursor_start":0,"matches":["%up"],"metadata":{},"status":"ok"}`)
	for kind, matches := range map[string]string{"complete": `["x     y"]`, "inspect": `["x     y","x     y().Deadline"]`} {
		x.ask(x.shell, kind+"_request", map[string]any{"code": "x %up y", "cursor_pos": 7})
		equal(t, string(x.answered(kind+"_reply", "shell").content), `{"code":"x     y","cursor_end":7,"cursor_start":7,"matches":`+matches+`,"status":"ok"}`)
	}
}

// GoNB counts UTF-16, and front ends what a reader sees as one sign.
func TestCompletionBehindEmoji(t *testing.T) {
	x := start(t, words{}, nil)
	x.ask(x.shell, "complete_request", map[string]any{"code": "🙂🙂 x", "cursor_pos": 4})
	equal(t, string(x.answered("complete_reply", "shell").content), `{"code":"6","cursor_end":4,"cursor_start":4,"matches":["6"],"status":"ok"}`)
}

func TestInspectionOfAMagic(t *testing.T) {
	x := start(t, words{}, nil)
	x.ask(x.shell, "inspect_request", map[string]any{"code": "%u", "cursor_pos": 2, "detail_level": 0})
	equal(t, string(x.answered("inspect_reply", "shell").content),
		`{"data":{"text/plain":"capitals"},"found":true,"metadata":{},"status":"ok"}`)
}

// Requests behind a cell that runs are answered in its place, once.
func TestHelpHasALimitOfTime(t *testing.T) {
	x := start(t, words{}, nil)
	cell := x.ask(x.shell, "execute_request", executeContent("wait"))
	inspect := x.ask(x.shell, "inspect_request", map[string]any{"code": "x", "cursor_pos": 1, "detail_level": 0})
	complete := x.ask(x.shell, "complete_request", map[string]any{"code": "x", "cursor_pos": 1})
	for range 2 {
		m := x.reply()
		switch m.parentHead().ID {
		case inspect:
			if !strings.Contains(string(m.content), "Ask again") {
				t.Errorf("answered with %s", m.content)
			}
		case complete:
			equal(t, string(m.content), `{"cursor_end":1,"cursor_start":1,"matches":[],"metadata":{},"status":"ok"}`)
		default:
			t.Errorf("a reply to %s", m.parent)
		}
	}
	interrupt(t)
	x.until(cell)
	if m := x.reply(); m.parentHead().ID != cell {
		t.Errorf("a second reply: %s", m.content)
	}
	if reply, _ := x.execute("print on"); reply["status"] != "ok" {
		t.Errorf("then %v", reply)
	}
}

func TestMalformedMessagesAreDropped(t *testing.T) {
	x := start(t, words{}, nil)
	forged := signer("another key").sign(newMessage("execute_request", x.session, nil, executeContent("die")))
	for _, frames := range [][][]byte{forged.frames(), {[]byte("junk")}, {delimiter, []byte("x")}} {
		if err := x.shell.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
			t.Fatal(err)
		}
	}
	if _, outputs := x.execute("print alive"); !strings.Contains(outputs, "alive") {
		t.Error(outputs)
	}
}

func TestHeartbeat(t *testing.T) {
	x := start(t, words{}, nil)
	if err := x.beat.Send(zmq4.NewMsgString("ping")); err != nil {
		t.Fatal(err)
	}
	m, err := x.beat.Recv()
	if err != nil || string(m.Bytes()) != "ping" {
		t.Errorf("heartbeat answers %q, %v", m.Bytes(), err)
	}
}

func TestGoNBThatDoesNotStart(t *testing.T) {
	t.Setenv(fakeGoNB, "broken")
	t.Setenv("TMPDIR", shortDir(t))
	file := filepath.Join(shortDir(t), "c.json")
	content := `{"transport":"ipc","ip":"` + filepath.Dir(file) + `/f","shell_port":1,"control_port":2,"stdin_port":3,"iopub_port":4,"hb_port":5,"key":"k"}`
	testcases.WriteFile(t, file, []byte(content), 0o600)
	o := Options{Connection: file, GoNB: []string{os.Args[0]}, Env: os.Environ(), Magic: words{}}
	err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "cannot start") {
		t.Errorf("Run: %v", err)
	}
	o.GoNB = []string{"/does/not/exist"}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Errorf("Run: %v", err)
	}
	if left, _ := filepath.Glob(os.TempDir() + "/gonb*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// GoNB ends, with all that was declared, where a request lacks what the protocol makes optional.
func TestRequestsWithoutOptionalMembersAreCompleted(t *testing.T) {
	x := start(t, words{}, nil)
	for _, content := range []any{
		map[string]any{"code": "print on"}, map[string]any{"code": "print on", "silent": nil, "store_history": "yes"},
	} {
		id := x.ask(x.shell, "execute_request", content)
		if outputs := summary(x.until(id)); !strings.Contains(outputs, `stdout "on"`) {
			t.Errorf("%v: %s", content, outputs)
		}
		x.reply()
	}
	for _, content := range []any{nil, []int{1}, map[string]any{}, map[string]any{"code": 3, "cursor_pos": -1}, map[string]any{"code": "x", "cursor_pos": 1.5, "detail_level": "0"}} {
		for _, kind := range []string{"execute_request", "complete_request", "inspect_request"} {
			x.ask(x.shell, kind, content)
			if reply, err := fields(x.reply().content); err != nil || reply["status"] != "ok" {
				t.Errorf("%s of %v: %v, %v", kind, content, reply, err)
			}
		}
	}
}

// GoNB completes the statements of a cell behind a mark of its own, and Jupyter gets places in
// what it has sent.
func TestCompletionOfStatementsIsMovedBack(t *testing.T) {
	x := start(t, words{}, nil)
	x.ask(x.shell, "complete_request", map[string]any{"code": "statement.", "cursor_pos": 10})
	reply, err := fields(x.reply().content)
	if err != nil {
		t.Fatal(err)
	}
	if reply["code"] != "%%\nstatement." || fmt.Sprintf("%v %v", reply["cursor_start"], reply["cursor_end"]) != "10 10" {
		t.Errorf("%v", reply)
	}
}
