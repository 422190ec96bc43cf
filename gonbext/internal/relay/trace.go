package relay

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// GoNB marks the lines of a panic's trace with those of the cell, but only where
// a whole "main.go:13" reaches it at once, and Go writes traces in fragments. A
// trace collects what a cell writes to its standard error, and says at its end
// what GoNB could not.
type trace struct {
	cell   string // the request's message id
	code   string // as GoNB got it
	job    *job
	stderr []byte
}

// traceBytes is how much of the standard error is kept: a panic stands at its end.
const traceBytes = 64 << 10

// add keeps a fragment of the cell's standard error.
func (t *trace) add(cell string, m message) {
	if cell != t.cell || !bytes.Contains(m.content, []byte(`"stderr"`)) {
		return // before megabytes of another stream are parsed
	}
	content, err := fields(m.content)
	if err != nil || content["name"] != "stderr" {
		return
	}
	text, _ := content["text"].(string)
	t.stderr = append(t.stderr, text...)
	if over := len(t.stderr) - traceBytes; over > 0 {
		t.stderr = append(t.stderr[:0], t.stderr[over:]...)
	}
}

// frame is a place in the program that GoNB made of the cells.
var frame = regexp.MustCompile(`(\S+/gonb_[0-9a-f]+/main\.go):(\d+)`)

// missing is the line that GoNB owes the reader: "" where it marked the trace's first place, or
// there is none.
func (t *trace) missing(cell string) string {
	text := string(t.stderr)
	if cell != t.cell {
		return ""
	}
	at := frame.FindStringSubmatch(text)
	if at == nil {
		return ""
	}
	if before, _, _ := strings.Cut(text, at[0]); strings.Contains(before[strings.LastIndex(before, "\n")+1:], "[[ Cell ") {
		return ""
	}
	program, err := os.ReadFile(filepath.Clean(at[1]))
	n, bad := strconv.Atoi(at[2])
	if err != nil || bad != nil {
		return ""
	}
	lines := strings.Split(string(program), "\n")
	line := cellLine(lines, n-1, strings.Split(t.code, "\n"))
	if line < 0 {
		return ""
	}
	text = lines[n-1]
	if t.job != nil {
		if t.job.cell.Lines > 0 && line >= t.job.cell.Lines {
			line -= t.job.cell.Lines
		}
		if own := strings.Split(t.job.source, "\n"); line < len(own) {
			text = own[line]
		}
	}
	return fmt.Sprintf("\x1b[7m[[ Cell Line %d ]]\x1b[0m %s\n", line+1, strings.TrimSpace(text))
}

// mark is what GoNB puts before a line of a panic's trace.
var mark = regexp.MustCompile(`\[\[ Cell (\[\d+\] )?Line (\d+) \]\]`)

// ownLines puts the lines of the cell in the place of those that main has further down.
func (r *relay) ownLines(m message, j *job) message {
	if j == nil || j.cell.Lines == 0 || !bytes.Contains(m.content, []byte("[[ Cell ")) {
		return m
	}
	return r.key.edit(m, func(content map[string]any) bool {
		text, _ := content["text"].(string)
		content["text"] = mark.ReplaceAllStringFunc(text, func(said string) string {
			at := mark.FindStringSubmatch(said)
			if line, _ := strconv.Atoi(at[2]); line > j.cell.Lines {
				return fmt.Sprintf("[[ Cell %sLine %d ]]", at[1], line-j.cell.Lines)
			}
			return said
		})
		return true
	})
}

// cellLine is the line of a cell that the n-th of the program was made of, or -1.
// Of several alike it is the one whose neighbours agree the most.
func cellLine(program []string, n int, cell []string) int {
	word := func(lines []string, i int) string {
		if i < 0 || i >= len(lines) {
			return ""
		}
		return strings.Join(strings.Fields(lines[i]), "")
	}
	best, most := -1, -1
	for i := range cell {
		if word(cell, i) == "" || word(cell, i) != word(program, n) {
			continue
		}
		agree := 0
		for d := 1; d <= 3; d++ {
			for _, side := range []int{-d, d} {
				if word(cell, i+side) == word(program, n+side) {
					agree++
				}
			}
		}
		if agree > most {
			best, most = i, agree
		}
	}
	return best
}
