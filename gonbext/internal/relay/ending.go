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
	return endings.FindString(strings.TrimSpace(value))
}

// reasons are the last lines of cells that gonbext has ended.
var reasons = regexp.MustCompile(`^[^\n]*\(cell:\d+\)$|^Out of memory: [^\n]*$`)

// ending holds back what GoNB writes to a cell's standard error when its process has
// failed, and the line before it where that says why: the error that follows says the same.
type ending struct {
	held      []message
	why, text string
}

// hold reports whether m says why or how a process ended, and keeps it then.
func (e *ending) hold(m message) bool {
	if m.head().Type != "stream" || len(m.content) > 2000 || !bytes.Contains(m.content, []byte(`"stderr"`)) {
		return false
	}
	content, err := fields(m.content)
	if err != nil {
		return false
	}
	text, _ := content["text"].(string)
	text = strings.TrimSpace(strings.TrimPrefix(text, "^C\n"))
	switch {
	case e.text == "" && endings.MatchString(text):
		e.text = text
	case e.held == nil && reasons.MatchString(text):
		e.why = text
	default:
		return false
	}
	e.held = append(e.held, m)
	return true
}

// before returns what is held when m comes, if m does not say it again or belongs to it. Why
// is what m is to say in the place of how the process ended; "" where that is not known.
func (e *ending) before(m message) (held []message, why string) {
	if e.held == nil || e.text == "" && e.same(m) && m.head().Type == "stream" && processEnding(m, "text") != "" {
		return nil, ""
	}
	held, why = e.held, e.why
	again := m.head().Type == "error" && e.same(m) && e.text != "" && processEnding(m, "evalue") == e.text
	*e = ending{}
	if again {
		return nil, why
	}
	return held, ""
}

func (e *ending) same(m message) bool { return m.parentHead().ID == e.held[0].parentHead().ID }

// unfinished is said where GoNB has an error without a word.
const unfinished = "the cell did not run: what compiles it was ended, by an interrupt or for want of memory"

// explained gives an error without a word one.
func (r *relay) explained(m message) message {
	if !bytes.Contains(m.content, []byte(`"evalue"`)) {
		return m
	}
	content, err := fields(m.content)
	if err != nil || content["ename"] == nil {
		return m
	}
	if value, _ := content["evalue"].(string); strings.TrimSpace(value) != "" {
		return m
	}
	content["evalue"], content["traceback"] = unfinished, []string{unfinished}
	m.content = encode(content)
	return r.key.sign(m)
}
