package magic

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/gonbext/gonbext/gonbext/internal/relay"
)

// Inspect answers Shift-Tab on a magic with its help. Elsewhere it moves the
// cursor to what GoNB would describe: GoNB looks backwards for a name too, and
// never ends where there is none.
func (s *Session) Inspect(code string, cursor int) relay.Inspection {
	lines, specials := readCell(code)
	padded, before := s.Pad(code)
	text := []rune(padded)[before:]
	cursor = min(max(cursor, 0), len(text))
	pass := func(at int) relay.Inspection {
		return relay.Inspection{Pass: true, Code: padded, Cursor: before + len(utf16.Encode(text[:at]))}
	}
	row := rowOf(text, cursor)
	if isForeign(specials) && row == 0 {
		return pass(cursor)
	}
	if isForeign(specials) {
		return relay.Inspection{}
	}
	for i, c := range specials {
		if row < c.at || i+1 < len(specials) && row >= specials[i+1].at || row > c.at && lines[row].kind != continuation {
			continue
		}
		m := find(c.name())
		if m == nil {
			m = asksHelp(c)
		}
		if m != nil {
			return relay.Inspection{Help: map[string]any{"text/plain": m.help(), "text/markdown": m.markdown()}}
		}
		if err := unknown(c.name()); err != nil {
			return relay.Inspection{Help: map[string]any{"text/plain": err.Error()}}
		}
		return pass(cursor) // GoNB's own command
	}
	at := nameBefore(text, cursor)
	if at < 0 || lines[rowOf(text, at)].kind == specialLine || lines[rowOf(text, at)].kind == continuation {
		return relay.Inspection{}
	}
	if o := operationAt(text, at); o != nil {
		return relay.Inspection{Help: map[string]any{"text/plain": describe(o, s.api())}}
	}
	if c, ok := s.lookUp(upTo(lines, specials, text, at)); ok {
		plain, markdown := c.help()
		return relay.Inspection{Help: map[string]any{"text/plain": plain, "text/markdown": markdown}}
	}
	_, name, names := s.member(upTo(lines, specials, text, at))
	if text, markdown := s.explainCarried(name, names); text != "" {
		return relay.Inspection{Help: map[string]any{"text/plain": text, "text/markdown": markdown}}
	}
	return pass(at)
}

// upTo is a cell up to the end of the name that has the character at a place.
func upTo(lines []line, specials []special, text []rune, at int) ([]line, []special) {
	end := at
	for end < len(text) && (text[end] == '_' || unicode.IsLetter(text[end]) || unicode.IsDigit(text[end])) {
		end++
	}
	row, before := rowOf(text, end), string(text[:end])
	above := slices.Clone(lines[:row+1])
	above[row].text = before[strings.LastIndexByte(before, '\n')+1:]
	return above, slices.DeleteFunc(slices.Clone(specials), func(c special) bool { return c.at > row })
}

// rowOf is the line that the cursor is in, from 0.
func rowOf(text []rune, cursor int) int { return strings.Count(string(text[:cursor]), "\n") }

// nameBefore is where the name ends or is that the cursor is about: the nearest
// before spaces and brackets, or the function before a list of arguments. It is
// -1 where there is none.
func nameBefore(text []rune, cursor int) int {
	at := min(cursor, len(text)-1)
	for at >= 0 {
		switch r := text[at]; {
		case r == ',' || r == ')':
			for at >= 0 && text[at] != '(' && text[at] != '{' {
				at--
			}
			at--
		case strings.ContainsRune(" \t\r\n({}[]\"`'", r):
			at--
		default:
			return at
		}
	}
	return -1
}
