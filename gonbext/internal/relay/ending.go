package relay

import (
	"bytes"
	"regexp"
	"strings"
)

// endings are what GoNB says of a process that has failed. Of a cell that does not
// compile it says more.
var endings = regexp.MustCompile(`^(exit status \d+|signal: [A-Za-z0-9/ ]+)( \(core dumped\))?$`)

// processEnding is how a cell's process ended, "" where a field of m says something else.
func processEnding(m message, field string) string {
	content, err := fields(m.content)
	if err != nil {
		return ""
	}
	value, _ := content[field].(string)
	return endingOf(value)
}

func endingOf(text string) string {
	return endings.FindString(strings.TrimSpace(strings.TrimPrefix(text, "^C\n"))) // which GoNB says of an interrupt
}

// ending holds back what is written to a cell's standard error of its end: the error that follows
// says the same.
type ending struct {
	held []message
	text string // how the process ended, where GoNB has said it
}

// hold keeps the part of m, a stream, that says why gonbext has ended the cell or how its process
// ended. It returns what m says besides; ok is false where that is nothing.
func (r *relay) hold(m message, e *ending) (rest message, ok bool) {
	if !bytes.Contains(m.content, []byte(`"stderr"`)) {
		return m, true
	}
	why := r.gonb.told().Text // reads a file
	if why == "" && len(m.content) > 2000 {
		return m, true
	}
	content, err := fields(m.content)
	if err != nil {
		return m, true
	}
	text, _ := content["text"].(string)
	if said := endingOf(text); said != "" && e.text == "" {
		e.text = said
		e.held = append(e.held, m)
		return m, false
	}
	before, last := strings.CutSuffix(text, why+"\n")
	if why == "" || !last || e.held != nil {
		return m, true
	}
	content["text"] = why + "\n"
	e.held = append(e.held, r.key.with(m, content))
	content["text"] = before
	return r.key.with(m, content), before != ""
}

// before returns what is held when m comes, if m does not say it again or belongs to it.
func (e *ending) before(m message) (held []message) {
	if e.held == nil || e.text == "" && e.same(m) && m.head().Type == "stream" && processEnding(m, "text") != "" {
		return nil
	}
	held = e.held
	again := m.head().Type == "error" && e.same(m) && e.text != "" && processEnding(m, "evalue") == e.text
	*e = ending{}
	if again {
		return nil
	}
	return held
}

func (e *ending) same(m message) bool { return m.parentHead().ID == e.held[0].parentHead().ID }

// unfinished is said where GoNB has an error without a word.
const unfinished = "the cell did not run: what compiles it was ended, by an interrupt or for want of memory"

// explained gives an error without a word one.
func (r *relay) explained(m message) message {
	if !bytes.Contains(m.content, []byte(`"evalue"`)) {
		return m
	}
	return r.key.edit(m, func(content map[string]any) bool {
		value, _ := content["evalue"].(string)
		if content["ename"] == nil || strings.TrimSpace(value) != "" {
			return false
		}
		content["evalue"], content["traceback"] = unfinished, []string{unfinished}
		return true
	})
}
