package expr

import (
	"fmt"
	"go/token"
	"strings"
)

// habits finds what is written as in Python, where Go's parser would speak of its own
// syntax: named arguments, tuples and lists of arguments, and names that are words of Go's.
type habits struct {
	src    string
	open   []bracket
	before string      // the name that the last token was, if it was one
	at     int         // where it is
	last   token.Token // the last token
}

// bracket is an open parenthesis or bracket.
type bracket struct {
	function string // that is called, "" for others
	start    int    // of the function's name, or of the parenthesis
	at       int
}

// token looks at the next token. A reason and its place are those of an error.
func (h *habits) token(at int, tok token.Token, lit string) (reason string, from int) {
	defer func() {
		h.before, h.last = "", tok
		if tok == token.IDENT || standIns[tok] != "" {
			h.before, h.at = lit, at
		}
	}()
	switch {
	case tok == token.LPAREN && h.last.IsKeyword() && standIns[h.last] == "" && h.last != token.FUNC:
		return fmt.Sprintf("there is no function %q%s", h.last, nearestFunction(h.last.String())), max(at-len(h.last.String()), 0)
	case tok == token.LPAREN:
		b := bracket{start: at, at: at}
		if h.before != "" {
			b.function, b.start = h.before, h.at
		}
		h.open = append(h.open, b)
	case tok == token.LBRACK && h.before == "" && h.last != token.RPAREN && h.last != token.RBRACK:
		if call := h.call(); call != nil {
			inside, _, closed := strings.Cut(h.src[at+1:], "]")
			if closed && !strings.ContainsAny(inside, "([") && at-call.start+len(inside) < longest {
				return fmt.Sprintf("arrays are written without brackets: %s%s%s", h.src[call.start:at], inside, h.ending(call)), at
			}
		}
		return "arrays are written without brackets, as in concatenate(a, b, 0)", at
	case tok == token.LBRACK:
		h.open = append(h.open, bracket{start: at, at: at})
	case tok == token.RPAREN || tok == token.RBRACK:
		if n := len(h.open); n > 0 {
			h.open = h.open[:n-1]
		}
	case tok == token.COMMA && len(h.open) > 1 && h.open[len(h.open)-1].function == "" && h.src[h.open[len(h.open)-1].at] == '(':
		tuple := h.open[len(h.open)-1]
		h.open = h.open[:len(h.open)-1]
		if call := h.call(); call != nil {
			inside, _, closed := strings.Cut(h.src[tuple.at+1:], ")")
			if closed && !strings.Contains(inside, "(") && tuple.at-call.start+len(inside) < longest {
				return fmt.Sprintf("axes are written without parentheses: %s%s)", h.src[call.start:tuple.at], strings.TrimRight(inside, ", ")), tuple.at
			}
		}
		return "axes are written without parentheses, as in sum(x, 0, 1)", tuple.at
	case (tok == token.COMMA || tok == token.COLON || tok == token.ELLIPSIS) && h.inIndex():
		return indexing, h.open[len(h.open)-1].at
	case tok == token.ASSIGN && h.before != "":
		return h.named(at), h.at
	}
	return "", 0
}

// indexing says how an index is written.
const indexing = `brackets are written slice(x, "0:100, ::2")`

// inIndex reports whether the innermost bracket is that of an index.
func (h *habits) inIndex() bool {
	n := len(h.open)
	return n > 0 && h.src[h.open[n-1].at] == '['
}

// longest is how much of an expression a message repeats.
const longest = 200

// call is the innermost call that is open.
func (h *habits) call() *bracket {
	for i := len(h.open) - 1; i >= 0; i-- {
		if h.open[i].function != "" {
			return &h.open[i]
		}
	}
	return nil
}

// ending is what follows the elements of a list.
func (h *habits) ending(call *bracket) string {
	if call.function == "concatenate" || call.function == "concat" || call.function == "stack" {
		return ", 0)"
	}
	return ")"
}

// named says how a named argument is written.
func (h *habits) named(at int) string {
	call := h.call()
	if call == nil {
		return "= is not an operator: == compares"
	}
	value := strings.TrimSpace(h.src[at+1:])
	if strings.HasPrefix(value, "(") {
		value, _, _ = strings.Cut(value[1:], ")")
		value = strings.TrimRight(value, ", ")
	} else if end := strings.IndexAny(value, ",)"); end >= 0 {
		value = strings.TrimSpace(value[:end])
	}
	front := h.src[call.start:h.at]
	if len(front)+len(value) > longest {
		return "arguments are positional, as in mean(x, 0)"
	}
	f := functions()[call.function]
	switch name := h.before; {
	case name == "axis" && value == "" && strings.Contains(f.Usage, `"axis=()"`):
		return fmt.Sprintf(`write %s"axis=()"): %s`, front, f.Usage)
	case name == "axis" || name == "axes":
		return fmt.Sprintf("arguments are positional: write %s%s)", front, value)
	case strings.Contains(f.Usage, `"`+name+`="`) || strings.Contains(f.Usage, `"`+name+"="):
		return fmt.Sprintf(`write %s"%s=%s"): %s`, front, name, strings.Trim(value, `"'`), f.Usage)
	case strings.Contains(f.Usage, `"`+name+`"`):
		return fmt.Sprintf(`write %s"%s"): %s`, front, name, f.Usage)
	case f.Usage != "":
		return fmt.Sprintf("arguments are positional: %s", f.Usage)
	}
	return "arguments are positional, as in mean(x, 0)"
}
