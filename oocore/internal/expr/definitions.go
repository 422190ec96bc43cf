package expr

import (
	"go/token"
	"slices"
	"strings"
)

// Definition is an expression with a name, which those after it can use.
type Definition struct {
	Name string
	*Text
}

// Definitions reads "NAME = EXPR; NAME = EXPR …". A text that does not begin with NAME = is one
// expression without a name.
func Definitions(src string) (all []Definition, err error) {
	tokens := lex(src)
	for first := true; len(tokens) > 0; first = false {
		end := statement(tokens)
		of, rest := tokens[:end], len(src)
		if tokens = tokens[end:]; len(tokens) > 0 {
			rest = tokens[0].at
			tokens = tokens[1:]
		}
		defines := len(of) > 1 && of[0].tok == token.IDENT && of[1].tok == token.ASSIGN
		switch {
		case first && len(tokens) == 0 && rest == len(src) && !defines:
			return []Definition{{"", Read(src)}}, nil
		case len(of) == 0:
		case !defines:
			return nil, failAt(src, of[0].at, "write NAME = EXPR for each output, as in m = mean(x, 0); c = x - m")
		case len(of) == 2:
			return nil, failAt(src, of[0].at, "%s has no expression", of[0].lit)
		case slices.ContainsFunc(all, func(d Definition) bool { return d.Name == of[0].lit }):
			return nil, failAt(src, of[0].at, "%s is defined twice", of[0].lit)
		default:
			at := of[2].at
			own := slices.Clone(of[2:])
			for i := range own {
				own[i].at -= at
			}
			all = append(all, Definition{of[0].lit, readTokens(strings.TrimSpace(src[at:rest]), own)})
		}
	}
	if all == nil {
		return []Definition{{"", Read(src)}}, nil
	}
	return all, nil
}

// statement is how many tokens come before the ; that ends the first statement.
func statement(tokens []lexeme) int {
	depth := 0
	for i, l := range tokens {
		switch l.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth == 0 {
				return i
			}
		}
	}
	return len(tokens)
}
