package npy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A literal is a value of the small part of Python that npy headers are written
// in: string, int64, bool, pyTuple, pyList, pyDict, or nil for None.
type literal any

type (
	pyTuple []literal
	pyList  []literal
	pyDict  map[string]literal
)

// maxNesting bounds the recursion; the headers of structured types nest, others
// need two levels.
const maxNesting = 32

// parseLiteral reads one literal with nothing but white space around it.
func parseLiteral(text string) (literal, error) {
	p := literalParser{text: text}
	v, err := p.value(0)
	if err == nil && p.peek() != 0 {
		err = errors.New("something follows the dictionary")
	}
	if err != nil {
		return nil, fmt.Errorf("%w (at byte %d of the header)", err, p.at)
	}
	return v, nil
}

type literalParser struct {
	text string
	at   int
}

// peek skips white space and returns the next byte, 0 at the end.
func (p *literalParser) peek() byte {
	for ; p.at < len(p.text); p.at++ {
		if c := p.text[p.at]; strings.IndexByte(" \t\r\n\f", c) < 0 {
			return c
		}
	}
	return 0
}

func (p *literalParser) value(depth int) (literal, error) {
	if depth > maxNesting {
		return nil, errors.New("it is nested too deeply")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.dict(depth)
	case c == '(':
		items, commas, err := p.items(')', depth)
		if len(items) == 1 && commas == 0 {
			return items[0], err // (5) is 5
		}
		return pyTuple(items), err
	case c == '[':
		items, _, err := p.items(']', depth)
		return pyList(items), err
	case c == '\'' || c == '"':
		return p.str()
	case c == '-' || c == '+' || c >= '0' && c <= '9':
		return p.integer()
	case c == 0:
		return nil, errors.New("it ends too early")
	}
	return p.name()
}

// items reads what stands between brackets and counts its commas.
func (p *literalParser) items(end byte, depth int) (items []literal, commas int, err error) {
	p.at++
	for p.peek() != end {
		if len(items) > commas {
			return nil, 0, errors.New("a comma is missing")
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, 0, err
		}
		items = append(items, v)
		if p.peek() == ',' {
			p.at++
			commas++
		}
	}
	p.at++
	return items, commas, nil
}

func (p *literalParser) dict(depth int) (literal, error) {
	p.at++
	d := pyDict{}
	for more := true; p.peek() != '}'; {
		if !more {
			return nil, errors.New("a comma is missing")
		}
		if c := p.peek(); c != '\'' && c != '"' {
			return nil, errors.New("a key is not a string")
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if p.peek() != ':' {
			return nil, errors.New("a colon is missing")
		}
		p.at++
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if _, twice := d[key]; twice {
			return nil, fmt.Errorf("key %q stands twice", key)
		}
		d[key] = v
		if more = p.peek() == ','; more {
			p.at++
		}
	}
	p.at++
	return d, nil
}

// str reads a quoted string. A backslash keeps the next byte from ending it;
// escapes are left as they stand, since only field names ever hold one.
func (p *literalParser) str() (string, error) {
	quote := p.text[p.at]
	from := p.at + 1
	for i := from; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case quote:
			p.at = i + 1
			return p.text[from:i], nil
		}
	}
	return "", errors.New("a string has no end")
}

// integer reads a decimal integer, with the L that Python 2 appended to long
// ones.
func (p *literalParser) integer() (literal, error) {
	from := p.at
	for p.at++; p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9'; {
		p.at++
	}
	digits := p.text[from:p.at]
	if p.at < len(p.text) && p.text[p.at] == 'L' {
		p.at++
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return nil, fmt.Errorf("the number %.40s does not fit into 64 bits", digits)
	}
	if err != nil {
		return nil, fmt.Errorf("%.40q is not an integer", digits)
	}
	return n, nil
}

func (p *literalParser) name() (literal, error) {
	for word, v := range map[string]literal{"True": true, "False": false, "None": nil} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return v, nil
		}
	}
	return nil, fmt.Errorf("%q is not expected here", p.text[p.at:p.at+1])
}
