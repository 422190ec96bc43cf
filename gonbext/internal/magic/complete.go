package magic

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/oocore/host"
)

// Complete answers Tab in a magic, and in the quotes of a path in Go; ok is
// false where GoNB is to answer. Positions count code points, as Jupyter's
// protocol has it. Paths are those of cells in dir.
func (s *Session) Complete(code string, cursor int, dir string) (c relay.Completion, ok bool) {
	runes := []rune(code)
	if cursor < 0 || cursor > len(runes) {
		return c, false
	}
	before := string(runes[:cursor])
	lines, specials := readCell(before)
	if isForeign(specials) && len(lines) > 1 {
		return c, false
	}
	var word string
	var matches []string
	switch last := lines[len(lines)-1]; {
	case last.kind == specialLine || last.kind == continuation:
		word, matches = s.completeMagic(dir, specials[len(specials)-1].text)
	case last.text == "%":
		word, matches = s.completeMagic(dir, last.text)
	case last.kind == goLine:
		if word, matches = completePath(dir, last.text); matches == nil {
			word, matches = completeExpression(last.text)
		}
		if matches == nil {
			word, matches = s.completeName(lines, specials)
		}
	}
	if len(matches) == 0 {
		return c, false
	}
	return relay.Completion{Matches: matches, Start: cursor - utf8.RuneCountInString(word), End: cursor}, true
}

// completeMagic completes the last word of a command line.
func (s *Session) completeMagic(dir, text string) (word string, matches []string) {
	start := strings.LastIndexAny(text, " \t") + 1
	word = text[start:]
	if start == 0 {
		var names []string
		for _, m := range table {
			names = append(names, m.name)
		}
		return word, withPrefix(names, word)
	}
	args, _ := splitArgs(text[:start])
	if len(args) == 0 {
		return "", nil
	}
	m := find(args[0])
	if m == nil {
		return "", nil
	}
	if m.name == "%chunks" {
		return completeOperand(dir, strings.TrimLeftFunc(text[len(m.name):], unicode.IsSpace))
	}
	if name, value, joined := strings.Cut(word, "="); joined {
		f, err := lookup(name, m.flags)
		if err != nil {
			return "", nil
		}
		return value, withPrefix(f.values, value)
	}
	if f, err := lookup(args[len(args)-1], m.flags); err == nil && f.check != nil {
		return word, withPrefix(f.values, word)
	}
	return word, withPrefix(m.words(s.notebook), word)
}

// words are what a magic's line may have besides values of flags.
func (m *magic) words(notebook string) []string {
	words := flagNames(m.flags)
	switch m.name {
	case "%footprint":
		words = append(words, typeNames()...)
	case "%budget":
		words = append(slices.Clone(budgetFlag.values), unset)
	case "%device":
		words = append(slices.Clone(deviceFlag.values), unset)
	case "%help":
		for _, o := range host.Operations() {
			words = append(words, o.Name)
		}
	case "%compare", "%report":
		words = append(words, "last", "last-1", "plan")
		if log, err := readRunLog(notebook); err == nil { // one that cannot be read has no names
			words = append(words, log.ids...)
		}
	}
	return words
}

func withPrefix(candidates []string, prefix string) []string {
	var matches []string
	for _, c := range candidates {
		if strings.HasPrefix(c, prefix) {
			matches = append(matches, c)
		}
	}
	return matches
}

// pathCalls take a path as their last string.
var pathCalls = []string{"oocore.Open(", ".Save("}

// completePath completes the path in an unfinished string literal of a call
// that takes one.
func completePath(dir, text string) (word string, matches []string) {
	quote := openQuote(text)
	if quote < 0 || !slices.ContainsFunc(pathCalls, func(call string) bool { return strings.Contains(text[:quote], call) }) {
		return "", nil
	}
	word = text[quote+1:]
	path, err := strconv.Unquote(`"` + word + `"`)
	if err != nil {
		return "", nil
	}
	for _, m := range CompleteFile(dir, path) {
		literal := strconv.Quote(m)
		matches = append(matches, literal[1:len(literal)-1])
	}
	return word, matches
}

// completeOperand completes the path that is all of a magic's operands so far. One with
// spaces gets quotes.
func completeOperand(dir, operands string) (word string, matches []string) {
	path, quote := operands, `"`
	if strings.HasPrefix(operands, `"`) {
		args, open := splitArgs(operands)
		if !open || len(args) != 1 {
			return "", nil
		}
		operands, path, quote = operands[1:], args[0], ""
	} else if strings.ContainsFunc(operands, unicode.IsSpace) {
		return "", nil
	}
	for _, m := range CompleteFile(dir, path) {
		switch escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(m); {
		case strings.ContainsFunc(m, func(r rune) bool { return !strconv.IsPrint(r) }):
			// no quotes make a line of it
		case quote == "" || escaped != m || strings.Contains(m, " "):
			matches = append(matches, quote+escaped)
		default:
			matches = append(matches, m)
		}
	}
	return operands, matches
}

// CompleteFile completes a path with the files and folders that are there, as cells in dir
// mean it. Behind the # of a file with several arrays it is their names.
func CompleteFile(dir, word string) (matches []string) {
	if file, _, inside := strings.Cut(word, "#"); inside {
		if host.Remote(file) {
			return nil // Tab waits for no network
		}
		path := from(dir, file)
		members, err := host.Members(context.Background(), path)
		if err != nil {
			return nil
		}
		for _, m := range members {
			matches = append(matches, file+"#"+m.Name)
		}
		return withPrefix(matches, word)
	}
	folder, prefix := filepath.Split(word)
	entries, err := os.ReadDir(cmp.Or(from(dir, folder), "."))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, prefix) || prefix == "" && strings.HasPrefix(name, ".") {
			continue
		}
		if e.IsDir() && (filepath.Ext(name) != ".zarr" || name == prefix) { // an array, unless more is asked for
			name += "/"
		}
		matches = append(matches, folder+name)
	}
	return matches
}

// openQuote is the index of the double quote that a line leaves open, or -1.
func openQuote(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'':
			end := skipQuoted(text, i)
			if end >= len(text) {
				if text[i] == '"' {
					return i
				}
				return -1
			}
			i = end
		case '`':
			end := strings.IndexByte(text[i+1:], '`')
			if end < 0 {
				return -1
			}
			i += end + 1
		case '/':
			if strings.HasPrefix(text[i:], "//") {
				return -1
			}
		}
	}
	return -1
}

// Pad returns code with our magics blanked, each to its own length, so that
// GoNB completes and inspects Go at unchanged positions. A magic that starts
// main leaves GoNB's own mark for that, and a cell of statements gets one before it, behind the
// variables that it mentions of earlier ones, of so many characters in all; whatever would end GoNB is
// blanked too.
func (s *Session) Pad(code string) (padded string, before int) {
	lines, specials := readCell(code)
	if isForeign(specials) {
		return code, 0
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
		if l.kind == insideLine && isSpecial(l.text) {
			texts[i] = " " + l.text[1:] // GoNB takes it for a command
		}
	}
	main := false
	for _, c := range specials {
		m := find(c.name())
		starts := m != nil && m.function != "" || slices.Contains(mains, c.name())
		second := main && starts || bareExec(c)
		if isOurs(c) || second {
			mark := ""
			if m != nil && m.function != "" && !second {
				mark = "%%"
			}
			texts[c.at] = mark + blank(lines[c.at].text)[len(mark):]
			for i := c.at + 1; i < len(lines) && lines[i].kind == continuation; i++ {
				texts[i] = blank(lines[i].text)
			}
		}
		main = main || starts
	}
	padded = strings.Join(texts, "\n")
	carried := s.declareCarried(tokens(lines))
	if _, first := statements(lines, specials); first >= 0 {
		carried += mainMark
	}
	return carried + padded, utf8.RuneCountInString(carried)
}

// mainMark is GoNB's own mark of a cell of statements.
const mainMark = "%%\n"

// blank is as many spaces as text has code points.
func blank(text string) string { return strings.Repeat(" ", utf8.RuneCountInString(text)) }
