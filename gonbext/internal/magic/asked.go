package magic

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/printer"
	"go/token"
	"html"
	"os/exec"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/gonbext/internal/relay"
)

// askedName is the name that a line asks about, oocore.Open? or ?oocore.Open; "" where it asks
// nothing.
func (l line) askedName() string {
	text := strings.TrimSpace(l.text)
	name := strings.TrimSpace(strings.Trim(text, "?"))
	if l.kind != goLine || name == text || !token.IsIdentifier(name[strings.LastIndexByte(name, '.')+1:]) {
		return ""
	}
	if _, err := parser.ParseExpr(name); err != nil {
		return ""
	}
	return name
}

// answer shows what is known of the names that lines ask about, and takes the lines out of the
// cell.
func (r *rewriting) answer(s *Session, specials []special) {
	for i, l := range r.lines {
		name := l.askedName()
		if name == "" {
			continue
		}
		r.lines[i].text = ""
		above := append(slices.Clone(r.lines[:i]), line{text: name})
		before := slices.DeleteFunc(slices.Clone(specials), func(c special) bool { return c.at >= i })
		if c, ok := s.lookUp(above, before); ok {
			r.explain(c.help())
			continue
		}
		names := s.scopeBefore(above, before, items(tokens(above)))
		if text, markdown := s.explainCarried(name, names); text != "" {
			r.explain(text, markdown)
			continue
		}
		if m, _ := names.find(name); m.typ != nil {
			var text bytes.Buffer
			_ = printer.Fprint(&text, token.NewFileSet(), m.typ) // to memory
			signature := name + strings.TrimPrefix(text.String(), "func")
			if signature == name+text.String() {
				signature = name + " " + text.String()
			}
			r.explain(signature, "```go\n"+signature+"\n```\n")
			continue
		}
		r.later(name+"?", func(ctx context.Context, _ relay.Now) (chart.Output, error) {
			cmd := exec.CommandContext(ctx, "go", "doc", name)
			cmd.Dir = s.source
			out, err := cmd.Output()
			if err != nil {
				return chart.Output{}, fmt.Errorf("nothing is known of %s", name)
			}
			return preformatted(string(out)), nil
		})
	}
}

// preformatted shows text as it is.
func preformatted(text string) chart.Output {
	return chart.Output{Text: text, HTML: `<pre style="font-family:var(--jp-code-font-family,ui-monospace,monospace)">` + html.EscapeString(text) + "</pre>"}
}
