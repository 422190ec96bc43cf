package magic

import (
	"strings"
	"unicode"
)

// A line's place in the Go text of a cell decides whether a leading % means
// anything: inside a raw string or a comment it is only text.
type lineKind uint8

const (
	goLine       lineKind = iota
	insideLine            // begins within a raw string or a block comment
	specialLine           // GoNB's or ours: begins with % or !
	continuation          // of a special line that ended in a backslash
)

type line struct {
	text     string
	kind     lineKind
	inString bool // an insideLine's: begins within a raw string
}

// isGo reports a line on which Go may begin: GoNB drops its commands and package clauses.
func (l line) isGo() bool { return l.kind == goLine && !strings.HasPrefix(l.text, "package") }

// goText is what Go sees of a line.
func (l line) goText() string {
	if l.isGo() || l.kind == insideLine {
		return l.text
	}
	return ""
}

// special is a command line, joined with its continuations.
type special struct {
	at   int // line number from 0
	text string
	args []string
	open bool // a quote of it is not closed
}

func (s special) name() string {
	if len(s.args) == 0 {
		return ""
	}
	return s.args[0]
}

// commentPrefix hides a command from Go tools; GoNB looks behind it.
const commentPrefix = "//gonb:"

// readCell sorts a cell's lines and joins its special ones.
func readCell(code string) (lines []line, specials []special) {
	state := inCode
	for _, text := range strings.Split(code, "\n") {
		n := len(lines)
		switch {
		case n > 0 && continues(lines[n-1]):
			lines = append(lines, line{text: text, kind: continuation})
			last := &specials[len(specials)-1]
			last.text = strings.TrimSuffix(last.text, `\`) + " " + strings.TrimPrefix(text, commentPrefix)
		case state == inCode && isSpecial(text):
			lines = append(lines, line{text: text, kind: specialLine})
			specials = append(specials, special{at: n, text: strings.TrimPrefix(text, commentPrefix)})
		case state == inCode:
			lines = append(lines, line{text: text, kind: goLine})
			state = state.after(text)
		default:
			lines = append(lines, line{text, insideLine, state == inRawString})
			state = state.after(text)
		}
	}
	for i := range specials {
		specials[i].args, specials[i].open = splitArgs(specials[i].text)
	}
	return lines, specials
}

func isSpecial(text string) bool {
	text = strings.TrimPrefix(text, commentPrefix)
	return len(text) > 1 && (text[0] == '%' || text[0] == '!') || strings.HasPrefix(text, "?%")
}

func continues(l line) bool {
	return (l.kind == specialLine || l.kind == continuation) && strings.HasSuffix(l.text, `\`)
}

// lexState is where Go's lexer stands at the start of a line.
type lexState uint8

const (
	inCode lexState = iota
	inRawString
	inComment
)

// after is the state behind one more line. Only tokens that can hide a line's
// start matter: raw strings and block comments, and whatever may hold their
// opening marks as mere text.
func (s lexState) after(text string) lexState {
	for i := 0; i < len(text); i++ {
		switch s {
		case inRawString:
			if text[i] == '`' {
				s = inCode
			}
		case inComment:
			if strings.HasPrefix(text[i:], "*/") {
				s = inCode
				i++
			}
		default:
			switch c := text[i]; {
			case c == '`':
				s = inRawString
			case strings.HasPrefix(text[i:], "//"):
				return inCode
			case strings.HasPrefix(text[i:], "/*"):
				s = inComment
				i++
			case c == '"' || c == '\'':
				i = skipQuoted(text, i)
			}
		}
	}
	return s
}

// skipQuoted returns the index of the quote that closes the one at i, or the
// end of the line: such a literal cannot continue.
func skipQuoted(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// splitArgs splits at spaces outside of double quotes, within which \" and \\ stand for a
// quote and a backslash. Open reports a quote that is not closed.
func splitArgs(s string) (args []string, open bool) {
	var arg strings.Builder
	started, quoted, escaped := false, false, false
	for _, r := range s {
		switch {
		case escaped:
			if escaped = false; r != '"' && r != '\\' {
				arg.WriteByte('\\')
			}
			arg.WriteRune(r)
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			started, quoted = true, !quoted
		case !quoted && unicode.IsSpace(r):
			if started {
				args = append(args, arg.String())
			}
			arg.Reset()
			started = false
		default:
			arg.WriteRune(r)
			started = true
		}
	}
	if started {
		args = append(args, arg.String())
	}
	return args, quoted
}

// indented is one of our magics that does not begin its line, and so would reach Go; ""
// where there is none. No line of Go begins with a %.
func indented(lines []line) string {
	for _, l := range lines {
		text := strings.TrimLeftFunc(l.text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
		if l.kind != goLine || !strings.HasPrefix(text, "%") {
			continue
		}
		if args, _ := splitArgs(text); find(args[0]) != nil {
			return args[0]
		}
	}
	return ""
}
