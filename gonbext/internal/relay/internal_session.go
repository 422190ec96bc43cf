package relay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// internalSession are the relay's own requests to GoNB, of a session that no front end
// has; their replies and outputs stop here.
type internalSession struct {
	mu       sync.Mutex
	shell    bool // a reply has come
	iopub    bool // an output has come
	ready    chan struct{}
	prepare  string // id of the request that runs the preparing cell
	prepared chan struct{}
	text     strings.Builder // what that cell printed
}

func newHidden() *internalSession {
	return &internalSession{ready: make(chan struct{}), prepare: newID(), prepared: make(chan struct{})}
}

func (h *internalSession) reply(m message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.parentHead().ID == h.prepare {
		close(h.prepared)
		return
	}
	h.arrived(&h.shell)
}

func (h *internalSession) output(m message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.parentHead().ID != h.prepare {
		h.arrived(&h.iopub)
	} else if m.head().Type == "stream" {
		if content, err := fields(m.content); err == nil {
			text, _ := content["text"].(string)
			h.text.WriteString(text)
		}
	}
}

func (h *internalSession) arrived(on *bool) {
	was := h.shell && h.iopub
	*on = true
	if !was && h.shell && h.iopub {
		close(h.ready)
	}
}

// awaitReady asks GoNB for its info until both the answer and an output about
// it have come: only then is the subscription to its outputs known to stand.
func (r *relay) awaitReady() error {
	deadline := time.After(30 * time.Second)
	for {
		ask := newMessage("kernel_info_request", r.session, nil, map[string]any{})
		if err := r.back.shell.send(r.key.sign(ask).frames()); err != nil {
			return fmt.Errorf("ask GoNB: %w", err)
		}
		select {
		case <-r.hidden.ready:
			return nil
		case <-r.gonb.exited:
			return r.gonb.failure()
		case <-deadline:
			return fmt.Errorf("GoNB does not answer after 30 seconds; it last said:\n%s", r.gonb.lastWords())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// prepareCell runs a silent cell that makes the module in the folder source
// importable in every cell, without a network: a workspace of GoNB's own module
// and that folder. `go get`, which asks a network at every cell, is off until
// the user says %autoget. The cell also says where GoNB keeps its files.
func (r *relay) prepareCell(source string) {
	code := "%noautoget\n!*pwd"
	if source != "" {
		code += ` && GOWORK="$PWD/go.work" go work init . ` + shellQuote(source) // whatever go.work is above
	}
	m := newMessage("execute_request", r.session, nil, map[string]any{
		"code": code, "silent": true, "store_history": false, "user_expressions": map[string]any{},
		"allow_stdin": false, "stop_on_error": false,
	})
	h := m.head()
	h.ID = r.hidden.prepare
	m.header = encode(h)
	_ = r.back.shell.send(r.key.sign(m).frames()) // fails only where GoNB has ended, which is seen elsewhere
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// folder is GoNB's own folder for the cells' code, "" where it did not say, and
// complaint what else the preparing cell printed.
func (h *internalSession) folder() (dir, complaint string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	dir, complaint, _ = strings.Cut(h.text.String(), "\n")
	if !filepath.IsAbs(dir) || !strings.HasPrefix(filepath.Base(dir), "gonb_") {
		return "", strings.TrimSpace(h.text.String())
	}
	return dir, strings.TrimSpace(complaint)
}

// removeFolder is for a GoNB that was killed before it could do so itself.
func (h *internalSession) removeFolder() {
	if dir, _ := h.folder(); dir != "" {
		_ = os.RemoveAll(dir)
	}
}
