package relay

import (
	"bytes"
	"regexp"
	"strings"
)

// endings are what GoNB says of a process that has failed. Of a cell that does not
// compile it says more.
var endings = regexp.MustCompile(`^(exit status \d+|signal: [A-Za-z0-9/ ]+)( \(core dumped\))?$`)

// processEnding is how a cell's process ended, "" where m says something else.
func processEnding(m message) string {
	content, err := fields(m.content)
	if err != nil {
		return ""
	}
	value, _ := content["evalue"].(string)
	return endings.FindString(strings.TrimSpace(value))
}

// ending holds back what GoNB writes to a cell's standard error when its process has
// failed: the error that follows says the same.
type ending struct {
	held message
	text string // "" where none is held
}

// hold reports whether m says how a process ended, and keeps it then.
func (e *ending) hold(m message) bool {
	if m.head().Type != "stream" || len(m.content) > 200 || !bytes.Contains(m.content, []byte(`"stderr"`)) {
		return false
	}
	content, err := fields(m.content)
	if err != nil {
		return false
	}
	text, _ := content["text"].(string)
	text = strings.TrimSpace(strings.TrimPrefix(text, "^C\n"))
	if !endings.MatchString(text) {
		return false
	}
	e.held, e.text = m, text
	return true
}

// before returns what is held when m comes, if m does not say it again.
func (e *ending) before(m message) (held message, ok bool) {
	if e.text == "" {
		return message{}, false
	}
	again := m.head().Type == "error" && m.parentHead().ID == e.held.parentHead().ID && processEnding(m) == e.text
	held, e.text = e.held, ""
	return held, !again
}

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
