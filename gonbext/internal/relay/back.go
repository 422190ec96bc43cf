package relay

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"time"
)

// fromBack carries replies and input requests from GoNB to Jupyter until a
// socket closes.
func (r *relay) fromBack(from, to *socket) {
	for {
		frames, err := from.receive()
		if err != nil {
			return
		}
		m, ok := parse(frames)
		if !ok {
			continue
		}
		parent := m.parentHead()
		if parent.Session == r.session {
			r.hidden.reply(m)
			continue
		}
		if !r.jobs.answered(parent.ID) {
			continue
		}
		on, ended := to, false
		if r.jobs.onControl(parent.ID) {
			on = r.front.control
		}
		switch m.head().Type {
		case "execute_reply":
			if j := r.jobs.get(parent.ID); j != nil {
				m = r.executed(m, j)
				ended = r.jobs.replied(parent.ID)
			}
		case "complete_reply":
			m = r.completed(m, parent.ID)
		case "shutdown_reply":
			r.shutdown.answered()
		case "kernel_info_reply":
			m = r.named(m)
		}
		_ = on.send(m.frames()) // fails where this peer has gone; there may be others
		if ended {
			r.turns.ended()
		}
	}
}

// executed is the reply to a cell, with the error that is shown of it, and tells the Rewriter
// whether the cell was compiled: one whose process failed was.
func (r *relay) executed(m message, j *job) message {
	content, err := fields(m.content)
	if err != nil {
		return m
	}
	ok := content["status"] == "ok"
	r.rewriting.Lock()
	r.magic.Compiled(j.cell.ID, j.count.Load(), ok || processEnding(m, "evalue") != "")
	r.rewriting.Unlock()
	switch err := r.failure(j); {
	case err != nil:
		return r.reject(m, j.rejection(err))
	case !ok && r.awaitShown(j) && j.error != nil:
		return r.reject(m, j.error)
	}
	return m
}

// awaitShown waits until a cell's error is shown, which GoNB says on another socket, and reports
// whether it is.
func (r *relay) awaitShown(j *job) bool {
	limit := time.NewTimer(10 * time.Second)
	defer limit.Stop()
	select {
	case <-j.shown:
		return true
	case <-r.gonb.exited:
	case <-limit.C:
	}
	return false
}

// named tells exports to colour cells as Go: GoNB names no lexer.
func (r *relay) named(m message) message {
	return r.key.edit(m, func(content map[string]any) bool {
		language, _ := content["language_info"].(map[string]any)
		if language != nil {
			language["pygments_lexer"] = "go"
		}
		return language != nil
	})
}

// rejection is the content of the error of a cell that GoNB does not get, in outputs and in
// replies.
func (j *job) rejection(err error) map[string]any {
	if faults, ok := errors.AsType[Faults](err); ok {
		return faults.content(j.source)
	}
	return map[string]any{"ename": "UsageError", "evalue": err.Error(), "traceback": []string{err.Error()}}
}

// reject turns the reply to a cell into an error.
func (r *relay) reject(m message, error map[string]any) message {
	return r.key.edit(m, func(content map[string]any) bool {
		content["status"] = "error"
		maps.Copy(content, error)
		return true
	})
}

// fromIOPub carries GoNB's outputs to Jupyter. It is one goroutine, so that
// their order is GoNB's.
func (r *relay) fromIOPub() {
	var panics trace
	var said ending
	for {
		frames, err := r.back.iopub.receive()
		if err != nil {
			return
		}
		m, ok := parse(frames)
		if !ok {
			continue
		}
		parent, kind := m.parentHead(), m.head().Type
		if parent.Session == r.session {
			r.hidden.output(m)
			continue
		}
		for _, h := range said.before(m) {
			_ = r.front.iopub.send(h.frames())
		}
		j := r.jobs.get(parent.ID)
		switch kind {
		case "execute_input":
			if content, err := fields(m.content); err == nil {
				code, _ := content["code"].(string)
				panics = trace{cell: parent.ID, code: code, job: j}
			}
		case "stream":
			panics.add(parent.ID, m)
			m = r.ownLines(m, j)
		case "error":
			if line := panics.missing(parent.ID); line != "" {
				r.publish("stream", m.parent, map[string]any{"name": "stderr", "text": line})
			}
		}
		r.flow.add(len(m.content))
		if kind == "stream" {
			var rest bool
			if m, rest = r.hold(m, &said); !rest {
				continue
			}
		}
		if kind == "error" {
			m = r.explained(m)
			if j != nil {
				m = r.failed(m, j)
			}
		}
		switch {
		case kind == "status":
			r.relayStatus(m, parent.ID, j)
		case kind == "execute_input":
			r.relayInput(m, j)
			if text := r.notice(parent.Session); text != "" {
				r.publish("stream", m.parent, map[string]any{"name": "stderr", "text": text + "\n"})
			}
		default:
			if j != nil && kind != "update_display_data" {
				if w := j.watch.Load(); w != nil {
					w.passed()
				}
			}
			_ = r.front.iopub.send(m.frames())
		}
	}
}

// relayStatus starts and ends what is shown of a cell's runs. The report comes
// before idle: front ends take no outputs of a cell after that.
func (r *relay) relayStatus(m message, id string, j *job) {
	idle := bytes.Contains(m.content, []byte(`"idle"`))
	if j != nil && !idle {
		r.jobs.begun(id)
	}
	if j != nil && !idle && j.watcher != nil {
		j.watch.Store(startWatch(j.watcher, j.cell.display(), func(kind string, content any) { r.publish(kind, j.header, content) }))
	}
	if j != nil && idle {
		j.showing()
		r.finish(j, cmp.Or(j.ending, "exit status 0"))
		if r.jobs.idle(id) {
			defer r.turns.ended()
		}
	}
	r.status.Lock()
	defer r.status.Unlock()
	r.busy = nil
	if !idle {
		r.busy = m.parent
	}
	_ = r.front.iopub.send(m.frames())
}

// relayInput shows the cell as the user wrote it, then what its magics have to
// say.
func (r *relay) relayInput(m message, j *job) {
	if j == nil {
		_ = r.front.iopub.send(m.frames())
		return
	}
	m = r.key.edit(m, func(content map[string]any) bool {
		j.counted(content)
		content["code"] = j.source
		return j.cell.Code != j.source
	})
	_ = r.front.iopub.send(m.frames())
	for _, b := range j.cell.Displays {
		r.publish("display_data", j.header, display{b, map[string]any{}})
	}
	late, _ := r.late(j)
	for _, b := range late {
		r.publish("display_data", j.header, display{b, map[string]any{}})
	}
	if err := r.failure(j); err != nil {
		r.publish("error", j.header, j.rejection(err))
	}
}

// failure is what is wrong with a cell's magics, nil where nothing is.
func (r *relay) failure(j *job) error {
	if j.err != nil {
		return j.err
	}
	_, err := r.late(j)
	return err
}

// finish shows the report of a cell whose process has ended, as ending says.
func (r *relay) finish(j *job, ending string) {
	w := j.watch.Swap(nil)
	if w == nil {
		return
	}
	time.Sleep(r.flow.calm())
	w.finish(ending)
	var asked message
	asked.header = j.header
	r.notices.Lock()
	defer r.notices.Unlock()
	if r.asker != "" && asked.head().Session != r.asker {
		r.missed = true
	}
}

// notice is what a page has to know before a cell's own outputs, once: that a run
// ended while the page was not there to show it, or was cut off by a restart.
func (r *relay) notice(session string) (text string) {
	r.notices.Lock()
	defer r.notices.Unlock()
	if r.missed && session == r.asker {
		r.missed = false
		text = "A run ended after this page was reloaded: %report shows it."
	}
	if first := r.first; first != nil {
		r.first = nil
		if text == "" {
			text = first()
		}
	}
	return text
}

// asked notes which front end speaks.
func (r *relay) heard(session string) {
	r.notices.Lock()
	defer r.notices.Unlock()
	r.asker = session
}

// failed is the error of a cell as it is shown, and as its reply has it: why gonbext has ended
// the cell's process, how that has ended otherwise, or what the compiler says.
func (r *relay) failed(m message, j *job) message {
	if j.ending = processEnding(m, "evalue"); j.ending == "" {
		m = r.restore(m, j)
	} else if why := r.gonb.why(); why.Text != "" {
		m = r.key.with(m, map[string]any{"ename": why.Name, "evalue": why.Text, "traceback": []string{why.Text}})
	}
	j.error, _ = fields(m.content)
	j.showing()
	return m
}

// restore says what the compiler says of a cell by the cell's own lines.
func (r *relay) restore(m message, j *job) message {
	return r.key.edit(m, func(content map[string]any) bool {
		j.counted(content)
		value, _ := content["evalue"].(string)
		traceback, _ := content["traceback"].([]any)
		faults := faultsOf(j, value, traceback)
		r.rewriting.Lock()
		faults = faults.explained(j.source, r.magic.Explain)
		for i := range faults {
			if f := &faults[i]; f.Cell > 0 || f.Line == 0 {
				f.Hint = cmp.Or(f.Hint, j.cell.Hint)
			}
		}
		r.rewriting.Unlock()
		maps.Copy(content, faults.content(j.source))
		return faults != nil
	})
}

// publish sends an output of the relay's own.
func (r *relay) publish(kind string, parent []byte, content any) {
	var p message
	p.header = parent
	m := newMessage(kind, p.head().Session, parent, content)
	m.ids = [][]byte{[]byte(kind)} // the topic; all subscribe to all
	_ = r.front.iopub.send(r.key.sign(m).frames())
}
