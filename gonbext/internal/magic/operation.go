package magic

import (
	"cmp"
	"fmt"
	"go/doc"
	"regexp"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/host"
)

// operation returns the first row that is one; nil where none is.
func operation(is func(o *host.Operation) bool) *host.Operation {
	all := host.Operations()
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

func named(name string) *host.Operation {
	return operation(func(o *host.Operation) bool { return o.Name == name })
}

func defining(name string) *host.Operation {
	return operation(func(o *host.Operation) bool { return o.Defines(name) })
}

// describe is the help on an operation, from its row; what no row defines in Go has a sentence
// of its own.
func describe(o *host.Operation, api []callable) string {
	text := o.Doc
	for _, c := range api {
		if text == "" && strings.TrimPrefix(c.in+"."+c.name, "oocore.") == o.GoName() {
			text = c.doc
		}
	}
	var b strings.Builder
	if b.WriteString(o.Signature + "\n"); o.Alias != "" {
		fmt.Fprintf(&b, "%s is another name of %s.\n", o.Name, o.Alias)
	}
	if text != "" {
		fmt.Fprintf(&b, "\n%s\n", new(doc.Package).Text(text))
	}
	for _, row := range [][2]string{{"NumPy", o.NumPy}, {"Go", o.Go}, {"Passes", o.Passes}, {"Held at once", o.Holds}} {
		if row[1], _, _ = strings.Cut(row[1], " = "); row[1] != "" {
			fmt.Fprintf(&b, "%-13s %s\n", row[0]+":", row[1])
		}
	}
	return b.String()
}

// helpOn answers %help with a name: topk, TopK or linalg.QR.
func (r *rewriting) helpOn(name string) error {
	o := cmp.Or(named(name), defining(name), defining("Array."+name))
	if o == nil {
		var all []string
		for _, o := range host.Operations() {
			all = append(all, o.Name)
		}
		return fmt.Errorf("there is no operation %s, did you mean %s?", name, nearest(name, all))
	}
	r.say(describe(o, r.api()))
	return nil
}

var expression = regexp.MustCompile("oocore\\.Eval(?:Context)?\\([^\"`]*(?:\"((?:\\\\.|[^\"\\\\])*)|`([^`]*))$")

// openExpression is what an unfinished expression in text has, at the end of a line.
func openExpression(text string) (inside string, is bool) {
	m := expression.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[1] + m[2], true
}

// lastWord is the name that a text ends with.
func lastWord(text string) string {
	return text[strings.LastIndexFunc(text, func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) })+1:]
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// completeExpression completes the function that an expression in text ends with.
func completeExpression(text string) (word string, matches []string) {
	inside, is := openExpression(text)
	if word = lastWord(inside); !is || word == "" {
		return "", nil
	}
	for _, o := range host.Operations() {
		matches = append(matches, o.Name)
	}
	return word, withPrefix(matches, word)
}

// operationAt is the operation whose name has the character at a place of a cell, in an
// expression in text; nil where none is.
func operationAt(text []rune, at int) *host.Operation {
	end := at
	for end < len(text) && text[end] < 0x80 && isWord(byte(text[end])) {
		end++
	}
	before := string(text[:end])
	inside, _ := openExpression(before[strings.LastIndexByte(before, '\n')+1:])
	return named(lastWord(inside))
}
