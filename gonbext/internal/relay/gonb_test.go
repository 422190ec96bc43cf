package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// stock is a GoNB without the relay, and a front end before it.
type stock struct {
	*testing.T
	gonb    *process
	at      connection
	key     signer
	sockets *sockets
	session string
	replies chan message // their ids say by which socket they came
	outputs chan message
}

// startStock starts GoNB, whose cells are compiled by the tools that setup has built.
func startStock(t *testing.T, tools setup.Tools) *stock {
	t.Helper()
	dir := shortDir(t)
	t.Setenv("TMPDIR", dir)
	testcases.WriteFile(t, filepath.Join(dir, "gopls"), []byte("#!/bin/sh\nexec sleep 60\n"), 0o700) // without one GoNB looks for nothing
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	front := connection{Key: "the key"}
	c, file, err := front.behind(dir, "kernel-0a.json")
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	s := &stock{T: t, at: c, key: signer(c.Key), session: newID(), replies: make(chan message, 1000), outputs: make(chan message, 10_000)}
	if s.gonb, err = startProcess([]string{tools.GoNB, "-raw_error=true", "--kernel", file}, tools.Env(os.Environ()), log); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if s.sockets, err = dial(ctx, c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.gonb.end()
		cancel()
		s.sockets.close()
		log.Close()
	})
	go collect(s.sockets.shell, s.replies, "shell")
	go collect(s.sockets.control, s.replies, "control")
	go collect(s.sockets.iopub, s.outputs, "iopub")
	for { // until its outputs arrive too
		if s.reply("kernel_info_request", map[string]any{}, time.Second) != nil && len(s.outputs) > 0 {
			return s
		}
		if s.ended(0) {
			t.Fatal(s.gonb.failure())
		}
	}
}

// ask sends a request on the shell's socket.
func (s *stock) ask(kind string, content any) message {
	s.Helper()
	m := s.key.sign(newMessage(kind, s.session, nil, content))
	if err := s.sockets.shell.send(m.frames()); err != nil {
		s.Fatal(err)
	}
	return m
}

// reply is GoNB's reply to a request; nil where none comes within a limit.
func (s *stock) reply(kind string, content any, limit time.Duration) *message {
	s.Helper()
	return s.replyTo(s.ask(kind, content), limit)
}

func (s *stock) replyTo(request message, limit time.Duration) *message {
	for end := time.After(limit); ; {
		select {
		case m := <-s.replies:
			if m.parentHead().ID == request.head().ID {
				return &m
			}
		case <-s.gonb.exited:
			return nil
		case <-end:
			return nil
		}
	}
}

// cell is the reply to a cell, with the texts that it writes.
func (s *stock) cell(code string) (reply map[string]any, text string) {
	s.Helper()
	request := s.ask("execute_request", executeContent(code))
	m := s.replyTo(request, time.Minute)
	if m == nil {
		s.Fatalf("no reply to %q: %v", code, s.gonb.failure())
	}
	for end := time.After(time.Minute); ; {
		select {
		case out := <-s.outputs:
			if out.parentHead().ID != request.head().ID {
				continue
			}
			if content, err := fields(out.content); err == nil && out.head().Type == "stream" {
				said, _ := content["text"].(string)
				text += said
			}
			if out.head().Type == "status" && bytes.Contains(out.content, []byte(`"idle"`)) {
				content, _ := fields(m.content)
				return content, text
			}
		case <-end:
			s.Fatal("the cell does not go idle")
		}
	}
}

// fails reports a cell that is an error.
func (s *stock) fails(code string) bool {
	reply, _ := s.cell(code)
	return reply["status"] == "error"
}

// ended reports whether GoNB ends within a limit.
func (s *stock) ended(limit time.Duration) bool {
	select {
	case <-s.gonb.exited:
		return true
	case <-time.After(limit):
		return false
	}
}

const silence = 3 * time.Second

// ends is the fault of a request that ends GoNB.
func ends(kind string, content map[string]any) func(*stock) bool {
	return func(s *stock) bool { s.ask(kind, content); return s.ended(10 * time.Second) }
}

// unanswered is the fault of a request without a reply.
func unanswered(kind string, content map[string]any) func(*stock) bool {
	return func(s *stock) bool { return s.reply(kind, content, silence) == nil && !s.ended(0) }
}

// rejected is the fault of a cell that ought to run.
func rejected(codes ...string) func(*stock) bool {
	return func(s *stock) bool {
		for _, code := range codes[:len(codes)-1] {
			if s.fails(code) {
				s.Errorf("%q fails", code)
			}
		}
		return s.fails(codes[len(codes)-1])
	}
}

// faults are what the relay and the magics work around in GoNB, by the names that GONB.md has. Each says whether the fault is
// there.
var faults = map[string]func(s *stock) bool{
	"no reply to comm_info_request":        unanswered("comm_info_request", map[string]any{}),
	"no reply to is_complete_request":      unanswered("is_complete_request", map[string]any{"code": "x"}),
	"no reply to history_request":          unanswered("history_request", map[string]any{"output": false, "raw": true, "hist_access_type": "tail", "n": 1}),
	"execute_request without silent":       ends("execute_request", map[string]any{"code": "%%\n"}),
	"complete_request whose place is text": ends("complete_request", map[string]any{"code": "fmt.", "cursor_pos": "4"}),
	"inspect_request without a place":      ends("inspect_request", map[string]any{"code": "fmt.Println"}),
	"no reply to shutdown_request": func(s *stock) bool { // or one without what was asked
		reply := s.reply("shutdown_request", map[string]any{}, 10*time.Second)
		return reply == nil || !bytes.Contains(reply.content, []byte(`"restart":false`))
	},
	"two mains":                        ends("execute_request", executeContent("%%\nprintln(1)\n%%\nprintln(2)")),
	"%exec and a tab":                  ends("execute_request", executeContent("%exec\tf\nvar x int")),
	"%%script without a program":       ends("execute_request", executeContent("%%script")),
	"help where no name stands before": unanswered("inspect_request", map[string]any{"code": "(", "cursor_pos": 0, "detail_level": 0}),
	"a command within a string": func(s *stock) bool {
		_, text := s.cell("%%\nfmt.Println(`a\n!echo ran\nb`)")
		return !strings.Contains(text, "a\n!echo")
	},
	"bare statements":            rejected("x := 3"),
	"the last line's value":      rejected("%%\n1 + 1"),
	"values end with their cell": rejected("%%\nx := 3\n_ = x", "%%\nfmt.Println(x)"),
	"no way to add a magic":      rejected("%%memory\nfmt.Println(1)"),
	"compile errors only as prose": func(s *stock) bool {
		reply, _ := s.cell("%%\nfmt.Println(nobody)")
		names := []string{}
		for name := range reply {
			names = append(names, name)
		}
		slices.Sort(names)
		evalue, _ := reply["evalue"].(string)
		return slices.Equal(names, []string{"ename", "evalue", "execution_count", "status", "traceback"}) && strings.Contains(evalue, "main.go:")
	},
	"a wrong name of a package that is not imported": func(s *stock) bool {
		reply, _ := s.cell("%%\nfmt.Println(strings.Nothing())")
		evalue, _ := reply["evalue"].(string)
		return strings.Contains(evalue, "undefined: strings\n") || strings.HasSuffix(evalue, "undefined: strings")
	},
	"a trace in fragments": func(s *stock) bool {
		const code = "%%\nimport_, at, _, _ := runtime.Caller(0)\n_ = import_\nfor _, part := range []string{at[:len(at)-3], \".go:3\\n\"} {\n\tfmt.Fprint(os.Stderr, part)\n\ttime.Sleep(300 * time.Millisecond)\n}\nfmt.Fprint(os.Stderr, at+\":3\\n\")"
		_, text := s.cell(code)
		return strings.Count(text, "[[ Cell") == 1 // of what came at once
	},
	"C code above an import": rejected("%env CGO_ENABLED 1", "/*\nint one(void) { return 1; }\n*/\nimport \"C\"\n%%\nfmt.Println(C.one())"),
	"replies to the control channel": func(s *stock) bool {
		m := s.key.sign(newMessage("kernel_info_request", s.session, nil, map[string]any{}))
		if err := s.sockets.control.send(m.frames()); err != nil {
			s.Fatal(err)
		}
		reply := s.replyTo(m, 10*time.Second)
		return reply != nil && string(reply.ids[0]) == "shell"
	},
	"no lexer's name": func(s *stock) bool {
		reply := s.reply("kernel_info_request", map[string]any{}, 10*time.Second)
		var info struct {
			Language map[string]any `json:"language_info"`
		}
		return json.Unmarshal(reply.content, &info) == nil && info.Language["name"] == "go" && info.Language["pygments_lexer"] == ""
	},
	"a message twice": func(s *stock) bool {
		m := s.key.sign(newMessage("execute_request", s.session, nil, executeContent("%%\nfmt.Println(\"run\")")))
		for range 2 {
			if err := s.sockets.shell.send(m.frames()); err != nil {
				s.Fatal(err)
			}
		}
		return s.replyTo(m, time.Minute) != nil && s.replyTo(m, time.Minute) != nil
	},
	"a connection that does not greet": func(s *stock) bool {
		address := strings.TrimPrefix(s.at.address(s.at.Shell), "ipc://")
		c, err := net.Dial("unix", address)
		if err != nil {
			s.Fatal(err)
		}
		defer c.Close()
		m := s.key.sign(newMessage("kernel_info_request", s.session, nil, map[string]any{}))
		go func() { // which waits for the greeting too
			if late, err := dial(s.Context(), s.at); err == nil {
				go collect(late.shell, s.replies, "late")
				_ = late.shell.send(m.frames()) // whose reply is waited for
			}
		}()
		return s.replyTo(m, silence) == nil
	},
	"an interrupt of a command whose output is held": func(s *stock) bool {
		m := s.ask("execute_request", executeContent("!trap '' INT; sleep 12; echo"))
		time.Sleep(time.Second)
		s.gonb.signal(syscall.SIGINT)
		return s.replyTo(m, 8*time.Second) == nil
	},
}

// Each fault that GONB.md names is there in GoNB. Where one is not any more, what the page says would go goes, with its line and its
// case here.
func TestFaultsOfGoNB(t *testing.T) {
	page, err := os.ReadFile("GONB.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, cases []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|*]+?) \|`).FindAllStringSubmatch(string(page), -1) {
		if m[1] != "fault or gap" && !strings.HasPrefix(m[1], "---") {
			listed = append(listed, strings.ReplaceAll(m[1], "`", ""))
		}
	}
	for name := range faults {
		cases = append(cases, name)
	}
	slices.Sort(listed)
	slices.Sort(cases)
	if !slices.Equal(listed, cases) {
		t.Errorf("GONB.md lists\n%s\nand the cases are\n%s", strings.Join(listed, "\n"), strings.Join(cases, "\n"))
	}
	if !testcases.Full() {
		t.Skip("left out without GONBEXT_TEST=full: GoNB itself")
	}
	if err := setup.BuildTools(t.Context(), t.Logf); err != nil {
		t.Fatal(err)
	}
	tools, err := setup.FindTools()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range cases {
		t.Run(name, func(t *testing.T) {
			if !faults[name](startStock(t, tools)) {
				t.Error("GoNB has mended it: what GONB.md says works around it can go")
			}
		})
	}
}
