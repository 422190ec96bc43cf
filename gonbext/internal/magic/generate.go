package magic

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	facePath = "github.com/gonbext/gonbext/gonbext"
	corePath = "github.com/gonbext/gonbext/oocore"
	// What reaches object stores comes only with cells that name one: it would cost
	// the others binary, link time and memory.
	cloudPath = "github.com/gonbext/gonbext/oocore/cloud"
)

// ending ends the block of the user's statements and main. It has a line of
// its own, since the user's last line may end in a comment.
const ending = "}}"

// opening is main up to the user's first statement. Their statements get a
// block of their own, so that nothing generated can clash with what they declare.
func (r *rewriting) opening(face, function string, line int, settings []setting) string {
	r.began = true
	load := r.carrying.load
	if ui := r.displays(); ui != "" {
		load = "defer " + ui + ".Sync(); " + load
	}
	if function == "" {
		return "func main() { " + load + "{"
	}
	var b strings.Builder
	deferred, call := "defer ", "()"
	if function == "Plain" {
		deferred, call = "", ""
	}
	fmt.Fprintf(&b, "func main() { %s%s.%s(%s.Cell(%q, %d)", deferred, face, function, face, r.ID, line)
	for _, d := range r.source.declarations {
		f, ok := d.(*ast.FuncDecl)
		if !ok || r.nominal != nil || f.Name.Name == "main" {
			continue
		}
		fmt.Fprintf(&b, ", %s.Func(%q, %d)", face, functionName(f), r.source.place(f.Pos()).line+1)
	}
	for _, s := range settings {
		value := ""
		if s.check != nil {
			value = fmt.Sprintf("%q", s.value)
		}
		fmt.Fprintf(&b, ", %s.%s(%s)", face, s.option, value)
	}
	b.WriteString(")" + call + "; " + load + "{")
	return b.String()
}

const displayPath = "github.com/janpfeifer/gonb/gonbui"

// displays is the name of GoNB's package of displays in a cell that has it: what a program has displayed just before it ends GoNB may
// drop unread.
func (r *rewriting) displays() string {
	if r.nominal != nil {
		return ""
	}
	n := readNames(tokens(r.lines))
	for _, name := range append(slices.Sorted(maps.Keys(n.qualifies)), path.Base(displayPath)) {
		m, at := r.scope.find(name)
		if at != nil && m.path == displayPath || at == nil && n.qualifies[name] && name == path.Base(displayPath) { // goimports finds it
			return name
		}
	}
	return ""
}

// goToken is a token of the cell's Go text with its place and the depth of brackets around
// it.
type goToken struct {
	token.Token
	position
	text  string
	depth int
}

// end is the place behind the token.
func (t goToken) end() position {
	if n := strings.Count(t.text, "\n"); n > 0 && t.Token == token.STRING {
		return position{t.line + n, len(t.text) - strings.LastIndexByte(t.text, '\n') - 1}
	}
	return position{t.line, t.column + len(strings.TrimSuffix(cmp.Or(t.text, t.Token.String()), "\n"))}
}

// tokens lexes the Go lines of a cell. Malformed text gives whatever tokens it
// has: the compiler will explain it to the user.
func tokens(lines []line) []goToken {
	var src strings.Builder
	for _, l := range lines {
		src.WriteString(l.goText())
		src.WriteByte('\n')
	}
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), src.Len())
	var s scanner.Scanner
	s.Init(file, []byte(src.String()), func(token.Position, string) {}, 0)
	var all []goToken
	depth := 0
	for {
		pos, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return all
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		at := files.PositionFor(pos, false) // wherever a //line comment says it is
		all = append(all, goToken{tok, position{at.Line - 1, at.Column - 1}, text, depth})
		switch tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		}
	}
}

// misplaced finds the declaration that cannot stand where it does: an import or
// a function among main's statements, or a main beside the generated one.
func misplaced(all []goToken, magicLine int) (what string, line int, found bool) {
	for i, t := range all {
		if t.depth != 0 {
			continue
		}
		switch {
		case t.Token == token.IMPORT && t.line > magicLine:
			return "an import", t.line, true
		case t.Token == token.FUNC && (i == 0 || all[i-1].Token == token.SEMICOLON):
			if name := declared(all[i+1:]); name != "" && (t.line > magicLine || name == "func main") {
				return name, t.line, true
			}
		}
	}
	return "", 0, false
}

// declared is the function or the method that a statement which continues with rest
// declares; "" where it is a literal.
func declared(rest []goToken) string {
	what := "func "
	if len(rest) > 0 && rest[0].Token == token.LPAREN { // a receiver, or a literal's parameters
		what = "method "
		end := slices.IndexFunc(rest, func(t goToken) bool { return t.Token == token.RPAREN && t.depth == 0 })
		if rest = rest[end+1:]; len(rest) < 2 || rest[1].Token != token.LPAREN {
			return ""
		}
	}
	if len(rest) == 0 || rest[0].Token != token.IDENT {
		return ""
	}
	return what + rest[0].text
}

// names says how a cell uses the identifiers that generated code would bring
// into its scope.
type names struct {
	qualifies map[string]bool // stands before a dot, as a package does
	binds     map[string]bool // stands elsewhere: may be declared here
}

func readNames(all []goToken) names {
	n := names{map[string]bool{}, map[string]bool{}}
	for i, t := range all {
		if t.Token != token.IDENT || i > 0 && all[i-1].Token == token.PERIOD {
			continue // a field or method is in no scope
		}
		if i+1 < len(all) && all[i+1].Token == token.PERIOD {
			n.qualifies[t.text] = true
		} else {
			n.binds[t.text] = true
		}
	}
	return n
}

// imports returns the import declarations to put in front of the cell, and the
// name of package gonbext in it. goimports, which GoNB runs, could find oocore
// too, but takes its time.
func (n names) imports() (decls, face string) {
	face = "gonbext"
	for n.binds[face] || face != "gonbext" && n.qualifies[face] {
		face += "_"
	}
	decls = fmt.Sprintf("import %s %q; ", face, facePath)
	if n.qualifies["oocore"] && !n.binds["oocore"] {
		decls += fmt.Sprintf("import oocore %q; ", corePath)
	}
	return decls, face
}

// cloud is the import that a cell needs which names an array in an object store.
func cloud(all []goToken) string {
	for _, t := range all {
		if t.Token != token.STRING {
			continue
		}
		if text, err := strconv.Unquote(t.text); err == nil && remote(text) {
			return fmt.Sprintf("import _ %q; ", cloudPath)
		}
	}
	return ""
}

// arrays are the extensions of formats that object stores hold. A web address
// without one is of something else.
var arrays = []string{".zarr", ".npy", ".npz", ".safetensors"}

func remote(text string) bool {
	if strings.HasPrefix(text, "s3://") || strings.HasPrefix(text, "gs://") {
		return true
	}
	web := strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
	return web && slices.ContainsFunc(arrays, func(extension string) bool { return strings.Contains(text, extension) })
}
