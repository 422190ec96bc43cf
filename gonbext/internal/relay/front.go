package relay

import (
	"encoding/json"
	"fmt"
	"os"
)

// answers are the requests that stock GoNB leaves without an answer, which
// front ends wait for.
var answers = map[string]struct {
	kind    string
	content map[string]any
}{
	"is_complete_request": {"is_complete_reply", map[string]any{"status": "unknown"}},
	"comm_info_request":   {"comm_info_reply", map[string]any{"status": "ok", "comms": map[string]any{}}},
	"history_request":     {"history_reply", map[string]any{"status": "ok", "history": []any{}}},
}

// fromFront carries requests from Jupyter to GoNB until a socket closes.
func (r *relay) fromFront(from, to *socket) {
	for {
		frames, err := from.receive()
		if err != nil {
			return
		}
		m, ok := parse(frames)
		if !ok || !r.key.valid(m) {
			fmt.Fprintln(os.Stderr, "gonbext kernel: dropped a message that is malformed or not signed with this kernel's key")
			continue
		}
		if from == r.front.control {
			r.jobs.asked(m.head().ID)
		}
		if !r.request(from, &m) {
			continue
		}
		if to.send(m.frames()) != nil {
			return
		}
	}
}

// request changes a request that the relay has something to say to; false means
// that it is answered and does not reach GoNB.
func (r *relay) request(from *socket, m *message) (pass bool) {
	h := m.head()
	if a, ok := answers[h.Type]; ok {
		r.answer(from, *m, a.kind, a.content)
		return false
	}
	switch h.Type {
	case "execute_request":
		r.execute(h.ID, m)
	case "complete_request":
		return r.complete(from, m)
	case "inspect_request":
		r.pad(m)
	case "shutdown_request":
		r.shutdown.asked(from, *m)
	}
	return true
}

// execute rewrites a cell.
func (r *relay) execute(id string, m *message) {
	content, err := fields(m.content)
	if err != nil {
		return
	}
	code, _ := content["code"].(string)
	silent, _ := content["silent"].(bool)
	r.rewriting.Lock()
	cell, err := r.magic.Rewrite(code)
	r.rewriting.Unlock()
	if err == nil && cell.Code == code && !cell.Watch && len(cell.Displays)+len(cell.Late) == 0 {
		return
	}
	if err != nil {
		cell = Cell{} // GoNB runs nothing, and so counts and ends the cell as ever
	}
	origin := ""
	if metadata, err := fields(m.metadata); err == nil {
		origin, _ = metadata["cellId"].(string)
	}
	r.jobs.add(id, &job{header: m.header, source: code, cell: cell, err: err, silent: silent, origin: origin})
	content["code"] = cell.Code
	m.content = encode(content)
	*m = r.key.sign(*m)
}

// complete answers Tab in a magic; elsewhere GoNB does.
func (r *relay) complete(from *socket, m *message) (pass bool) {
	content, err := fields(m.content)
	if err != nil {
		return true
	}
	code, _ := content["code"].(string)
	position, _ := content["cursor_pos"].(json.Number)
	cursor, err := position.Int64()
	if err != nil {
		return true
	}
	r.rewriting.Lock()
	c, ok := r.magic.Complete(code, int(cursor))
	r.rewriting.Unlock()
	if !ok {
		r.pad(m)
		return true
	}
	if c.Matches == nil {
		c.Matches = []string{} // null is no list to a front end
	}
	r.answer(from, *m, "complete_reply", map[string]any{
		"status": "ok", "matches": c.Matches, "cursor_start": c.Start, "cursor_end": c.End,
		"metadata": map[string]any{},
	})
	return false
}

// pad hides magics from GoNB's completion and inspection.
func (r *relay) pad(m *message) {
	content, err := fields(m.content)
	if err != nil {
		return
	}
	code, _ := content["code"].(string)
	r.rewriting.Lock()
	padded := r.magic.Pad(code)
	r.rewriting.Unlock()
	if padded == code {
		return
	}
	content["code"] = padded
	m.content = encode(content)
	*m = r.key.sign(*m)
}

// answer replies in GoNB's place, with the statuses that front ends wait for.
func (r *relay) answer(on *socket, request message, kind string, content any) {
	h := request.head()
	r.jobs.onControl(h.ID)
	r.status.Lock()
	defer r.status.Unlock()
	r.publish("status", request.header, map[string]any{"execution_state": "busy"})
	reply := newMessage(kind, h.Session, request.header, content)
	reply.ids = request.ids
	_ = on.send(r.key.sign(reply).frames())
	r.publish("status", request.header, map[string]any{"execution_state": "idle"})
	if r.busy != nil {
		// A cell runs meanwhile: front ends show the latest status.
		r.publish("status", r.busy, map[string]any{"execution_state": "busy"})
	}
}
