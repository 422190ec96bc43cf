package expr

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
	"unicode/utf8"
)

// Definition is an expression with a name, which those after it can use.
type Definition struct{ Name, Expr string }

// Definitions reads "NAME = EXPR; NAME = EXPR …". It returns none for a text that does not
// begin with NAME =, which is an expression alone.
func Definitions(src string) ([]Definition, error) {
	if len(src) > maxLength {
		return nil, nil
	}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, []byte(src), nil, 0)
	var all []Definition
	var tokens []token.Token // of the present statement
	var name string
	start, value, depth := 0, 0, 0
	end := func(at int) error {
		fail := func(reason string) error {
			return &Error{Expr: src, Column: utf8.RuneCountInString(src[:start]) + 1, Reason: reason}
		}
		switch {
		case len(tokens) == 0:
			return nil
		case len(tokens) < 2 || tokens[0] != token.IDENT || tokens[1] != token.ASSIGN:
			return fail("write NAME = EXPR for each output, as in m = mean(x, 0); c = x - m")
		case len(tokens) == 2:
			return fail(name + " has no expression")
		}
		for _, d := range all {
			if d.Name == name {
				return fail(fmt.Sprintf("%s is defined twice", name))
			}
		}
		all = append(all, Definition{name, strings.TrimSpace(src[value:at])})
		return nil
	}
	for {
		pos, tok, text := s.Scan()
		at := file.Offset(pos)
		if tok == token.EOF || tok == token.SEMICOLON && text == ";" && depth == 0 {
			if all == nil && tok == token.EOF && (len(tokens) < 2 || tokens[0] != token.IDENT || tokens[1] != token.ASSIGN) {
				return nil, nil
			}
			if err := end(at); err != nil {
				return nil, err
			}
			if tok == token.EOF {
				return all, nil
			}
			tokens = nil
			continue
		}
		switch tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON: // that the scanner adds at the end of a line
			continue
		}
		switch len(tokens) {
		case 0:
			start, name = at, text
		case 1:
			value = at + len(text)
			if tok == token.ASSIGN {
				value = at + 1
			}
		}
		if len(tokens) < 3 {
			tokens = append(tokens, tok)
		}
	}
}
