package relay

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
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

// optional are members of requests that GoNB ends without, or with another type: the
// protocol's defaults.
var optional = map[string]map[string]any{
	"execute_request":  {"code": "", "silent": false, "store_history": true},
	"complete_request": {"code": "", "cursor_pos": json.Number("0")},
	"inspect_request":  {"code": "", "cursor_pos": json.Number("0"), "detail_level": json.Number("0")},
	"shutdown_request": {"restart": false},
}

// complete puts in what a request leaves out.
func (k signer) complete(kind string, m *message) {
	if optional[kind] == nil {
		return
	}
	content, err := fields(m.content)
	if err != nil || content == nil {
		content = map[string]any{}
	}
	changed := false
	for name, value := range optional[kind] {
		given := content[name]
		if n, ok := given.(json.Number); ok {
			if i, err := n.Int64(); err != nil || i < 0 {
				given = nil
			}
		}
		if reflect.TypeOf(given) != reflect.TypeOf(value) {
			content[name], changed = value, true
		}
	}
	if changed {
		*m = k.with(*m, content)
	}
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
			r.dropped.add(os.Stderr, "malformed, or not signed with this kernel's key")
			continue
		}
		if len(r.key) > 0 && !r.fresh(m) {
			r.dropped.add(os.Stderr, "sent before with the same signature")
			continue
		}
		if from == r.front.control {
			r.jobs.asked(m.head().ID)
		}
		pass := func() {
			if r.request(from, &m) {
				_ = to.send(m.frames()) // fails where GoNB has ended, and the relay with it
			}
		}
		if from == r.front.shell && m.head().Type == "execute_request" {
			r.turns.take(pass)
		} else {
			pass()
		}
	}
}

// fresh reports whether m, which is signed, is not one of the earlier requests
// sent again: a message passes on its socket's channel or on another once.
func (r *relay) fresh(m message) bool {
	r.seenMu.Lock()
	defer r.seenMu.Unlock()
	return r.seen.first(m.signature)
}

// request changes a request that the relay has something to say to; false means
// that it is answered and does not reach GoNB.
func (r *relay) request(from *socket, m *message) (pass bool) {
	h := m.head()
	if a, ok := answers[h.Type]; ok {
		r.answer(from, *m, a.kind, a.content)
		return false
	}
	r.key.complete(h.Type, m)
	switch h.Type {
	case "execute_request":
		r.heard(h.Session)
		r.execute(h.ID, m)
	case "kernel_info_request":
		r.heard(h.Session) // a page that has been loaded asks this first
	case "complete_request":
		return r.complete(from, m)
	case "inspect_request":
		return r.inspect(from, m)
	case "shutdown_request":
		r.shutdown.asked(from, *m)
	}
	return true
}

// execute rewrites a cell.
func (r *relay) execute(id string, m *message) {
	content, code, _ := codeAndCursor(m)
	silent, _ := content["silent"].(bool)
	r.rewriting.Lock()
	cell, err := r.magic.Rewrite(code)
	r.rewriting.Unlock()
	if err != nil {
		cell = Cell{} // GoNB runs nothing, and so counts and ends the cell as ever
	}
	origin := ""
	if metadata, err := fields(m.metadata); err == nil {
		origin, _ = metadata["cellId"].(string)
	}
	j := &job{header: m.header, source: code, cell: cell, err: err, origin: origin, shown: make(chan struct{})}
	if cell.Watch && !silent && r.watch != nil { // before the cell can have a run
		j.watcher = r.watch(cell, origin)
	}
	r.jobs.add(id, j)
	if cell.Code == code {
		return
	}
	content["code"] = cell.Code
	*m = r.key.with(*m, content)
}

// codeAndCursor returns the code that a request is about and the place in it, in
// characters, with all of the request's fields.
func codeAndCursor(m *message) (content map[string]any, code string, cursor int) {
	content, _ = fields(m.content)
	code, _ = content["code"].(string)
	position, _ := content["cursor_pos"].(json.Number)
	at, _ := position.Int64()
	return content, code, int(at)
}

// complete answers Tab in a magic; elsewhere GoNB does.
func (r *relay) complete(from *socket, m *message) (pass bool) {
	_, code, cursor := codeAndCursor(m)
	r.rewriting.Lock()
	c, ok := r.magic.Complete(code, cursor, r.gonb.dir())
	r.rewriting.Unlock()
	if !ok {
		r.maskMagics(m)
		r.limit(from, *m, "complete_reply", completion(Completion{Start: cursor, End: cursor}))
		return true
	}
	r.answer(from, *m, "complete_reply", completion(c))
	return false
}

// completion is the content of a complete_reply.
func completion(c Completion) map[string]any {
	if c.Matches == nil {
		c.Matches = []string{} // null is no list to a front end
	}
	return map[string]any{
		"status": "ok", "matches": c.Matches, "cursor_start": c.Start, "cursor_end": c.End,
		"metadata": map[string]any{},
	}
}

// inspect answers a request for help on a magic; elsewhere GoNB does.
func (r *relay) inspect(from *socket, m *message) (pass bool) {
	content, code, cursor := codeAndCursor(m)
	r.rewriting.Lock()
	i := r.magic.Inspect(code, cursor)
	r.rewriting.Unlock()
	if !i.Pass {
		r.answer(from, *m, "inspect_reply", inspection(i.Help))
		return false
	}
	content["code"], content["cursor_pos"] = i.Code, i.Cursor
	*m = r.key.with(*m, content)
	r.limit(from, *m, "inspect_reply", inspection(map[string]any{
		"text/plain": "No help yet: a cell is running, or gopls is still reading the code. Ask again in a moment.",
	}))
	return true
}

// inspection is the content of an inspect_reply.
func inspection(help map[string]any) map[string]any {
	if help == nil {
		help = map[string]any{}
	}
	return map[string]any{"status": "ok", "found": len(help) > 0, "data": help, "metadata": map[string]any{}}
}

// askLimit is how long GoNB may take to answer a request for help or completion,
// for which front ends wait. GoNB takes requests in turn, so that one behind a
// cell, or behind gopls, can take any time.
const askLimit = 5 * time.Second

// limit answers a request with content unless GoNB has done so in time. GoNB's
// own reply is then dropped.
func (r *relay) limit(on *socket, request message, kind string, content any) {
	id := request.head().ID
	r.jobs.await(id, time.AfterFunc(askLimit, func() {
		if r.jobs.expire(id) {
			r.answer(on, request, kind, content)
		}
	}))
}

// maskMagics hides magics from GoNB's completion.
func (r *relay) maskMagics(m *message) {
	content, code, cursor := codeAndCursor(m)
	r.rewriting.Lock()
	padded, before := r.magic.Pad(code)
	r.rewriting.Unlock()
	text := []rune(padded)[before:]
	at := min(max(cursor, 0), len(text))
	before += len(utf16.Encode(text[:at])) - at // GoNB counts in UTF-16
	if padded == code && before == 0 {
		return
	}
	r.jobs.moved(m.head().ID, before)
	content["code"], content["cursor_pos"] = padded, cursor+before
	*m = r.key.with(*m, content)
}

// completed takes off the places of GoNB's completion what was put before the code, and leaves
// out what gopls finds by calling functions, as Context().Deadline.
func (r *relay) completed(m message, id string) message {
	before := r.jobs.movedBy(id)
	return r.key.edit(m, func(content map[string]any) bool {
		if matches, ok := content["matches"].([]any); ok {
			content["matches"] = slices.DeleteFunc(matches, func(match any) bool { return strings.Contains(fmt.Sprint(match), "().") })
		}
		for _, name := range []string{"cursor_start", "cursor_end"} {
			if at, ok := content[name].(json.Number); ok {
				n, _ := at.Int64()
				content[name] = max(int(n)-before, 0)
			}
		}
		return true
	})
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
