// Package op says what operations are: each is a Row, in the folder of its family. From rows
// come the functions of expressions with their usage and their errors, the methods and functions
// of Go with their comments, and the list of operations, OPERATIONS.md.
package op

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// What many rows say of their costs: Fused are the passes of what is part of whatever reads
// it, and Block is what that holds; Shown is what an operation of boxes holds.
const (
	Fused = "none of its own"
	Block = "a block"
	Shown = "what its box shows of the inputs"
)

// Row is an operation.
type Row struct {
	// Usage is how an expression calls it, with the defaults of what may be left out:
	//
	//	topk(x, k, axis=-1)    transpose(x, axes...)    tile(x, times...1)
	//	sort(x, axis=-1, "descending")    cov(x, y=, "ddof=1", "fweights" f)    qr(x, "q" or "r")
	//
	// A default of nothing, as in y=, is the zero value of the builder's parameter. A list has
	// as many elements as one likes, or at least the number behind its points, or one where
	// that has a name of its own, as in stack(a, b...); those that stand before and behind a list of
	// arrays describe it. Two lists of numbers are equally long. What an argument may be instead of its
	// name stands behind it: index or "1, 4". Quoted are words:
	// a flag, a flag with a value (the one here is an example), a word before an array, and text
	// that is an argument of its own, one of several with "or" between them. Words stand
	// anywhere among the arguments. Which of several results is meant is one of several words,
	// or, of what is no word, a last part, its number.
	Usage string
	Also  string // other names, with spaces between
	NumPy string // its name there; "" is np. and the name
	// Passes are those over the data, "" is Fused. Holds is what it holds at once, in addition to one
	// chunk of its inputs and its result; "" is Block.
	Passes, Holds string
	// Go is the method or function of Go. One with parameters, "(a *Array) TopK(k, axis int)"
	// or "linalg.QR(a *Array) (q, r *Array)", is generated, with Doc and the costs as its
	// comment: its parameters are those of Usage, by name or else in order, and an array may be
	// any, for numbers too. What follows them otherwise stands behind it: "linalg.FullSVD(a
	// *Array) (u, s, vt *Array) = a, true". Of one that is written by hand this is the name.
	Go, Doc string
	More    []Func // other functions of Go
	// Moves says that elements are moved, and not computed with: arrays that are stored in floats of 8
	// bits stay in them.
	Moves bool
	// Examples are calls, with a semicolon between, that the page of operations tries on a
	// device and that a test runs on arrays larger than its memory: x and y are matrices of
	// float32 from 0.1 to 0.9, s is a square one and n a tall one, i and j have int32, z has
	// complex64, t has three axes and c has four.
	Examples string
	// Build makes the nodes. It is a function of graph.Site, a Run where it computes
	// something, and a parameter for each argument: *graph.Node, []*graph.Node, int, []int
	// (also of an argument that may be left out), float64, []float64, uint64 (a seed), string,
	// bool (a flag), dtype.Type, any (a number), or Value (what it reads itself). Or it is a func(*Call) that reads its
	// arguments itself, Args[0] of them at least and Args[1] at most (-1 is any number), and
	// whose Usage is for people alone.
	Build any
	Args  [2]int
}

// Func is a function of Go and its comment, as a row's.
type Func struct{ Go, Doc string }

// Run computes the elements of a small array of integers that a shape depends on.
type Run = func(n *graph.Node) ([]int64, error)

// Kind is what an argument may be.
type Kind int

// The kinds of arguments.
const (
	Array   Kind = iota + 1 // or a number
	Arrays                  // several
	Integer                 // also an axis
	Integers
	Number
	Numbers
	Seed   // an integer that is not negative
	Text   // in double quotes
	Flag   // a word that is given or not
	Type   // of elements, in double quotes
	Scalar // a number in any type
	Any    // an array, a number or text
	Part   // which result
)

// kinds are by the type of a builder's parameter.
var kinds = map[reflect.Type]Kind{
	reflect.TypeFor[*graph.Node](): Array, reflect.TypeFor[[]*graph.Node](): Arrays, reflect.TypeFor[int](): Integer, reflect.TypeFor[[]int](): Integers,
	reflect.TypeFor[float64](): Number, reflect.TypeFor[[]float64](): Numbers, reflect.TypeFor[uint64](): Seed, reflect.TypeFor[string](): Text,
	reflect.TypeFor[bool](): Flag, reflect.TypeFor[dtype.Type](): Type, reflect.TypeFor[any](): Scalar, valueType: Any,
}

// Param is a parameter of an operation.
type Param struct {
	Name     string // of words without an example's value: "ddof="
	Kind     Kind
	Word     bool // it stands in double quotes, or follows such a word
	Optional bool
	List     bool // as many as one likes, at least Least
	Least    int
	Default  any
	Words    []string // of which it is one
}

// Operation is a row that has been read.
type Operation struct {
	Row
	Name   string
	Usage  string  // without defaults
	Alias  string  // of which it is another name
	Params []Param // as the builder's, and then which result
	// Least and Most are the numbers of arguments; Most of -1 is any.
	Least, Most int

	build   reflect.Value
	asks    bool // it takes a Run
	byHand  func(*Call) (*graph.Node, error)
	results int // -1 is a list
}

var (
	siteType  = reflect.TypeFor[graph.Site]()
	runType   = reflect.TypeFor[Run]()
	valueType = reflect.TypeFor[Value]()
	nodeType  = reflect.TypeFor[*graph.Node]()
	errorType = reflect.TypeFor[error]()
)

// Read reads rows, those of other names among them, by name. Its error is what is wrong with
// the first one that is.
func Read(rows ...Row) (map[string]*Operation, error) {
	all := map[string]*Operation{}
	for _, r := range rows {
		o, err := read(r)
		if err != nil {
			return nil, err
		}
		for i, name := range append([]string{o.Name}, strings.Fields(r.Also)...) {
			if all[name] != nil {
				return nil, fmt.Errorf("two rows are named %s", name)
			}
			of := *o
			if i > 0 {
				of.Name, of.Alias, of.Usage = name, o.Name, name+strings.TrimPrefix(o.Usage, o.Name)
			}
			all[name] = &of
		}
	}
	return all, nil
}

func read(r Row) (*Operation, error) {
	name, inside, ok := strings.Cut(r.Usage, "(")
	if !ok || name == "" || !strings.HasSuffix(inside, ")") {
		return nil, fmt.Errorf("the usage of a row is not as name(x, y), but %q", r.Usage)
	}
	fail := func(format string, args ...any) (*Operation, error) {
		return nil, fmt.Errorf("row %s: %s", name, fmt.Sprintf(format, args...))
	}
	o := &Operation{Row: r, Name: name, build: reflect.ValueOf(r.Build)}
	if o.NumPy == "" {
		o.NumPy = "np." + name
	}
	if o.Passes == "" {
		o.Passes = Fused
	}
	if o.Holds == "" {
		o.Holds = Block
	}
	items := split(strings.TrimSuffix(inside, ")"))
	if f, is := r.Build.(func(*Call) (*graph.Node, error)); is {
		o.byHand, o.Usage = f, r.Usage
		if o.Least, o.Most = r.Args[0], r.Args[1]; o.Most == 0 && o.Least == 0 {
			return fail("it reads its arguments itself, and does not say how many")
		}
		return o, nil
	}
	f := o.build
	if f.Kind() != reflect.Func || f.Type().NumIn() == 0 || f.Type().In(0) != siteType {
		return fail("its builder is no function of a site")
	}
	next := 1
	if f.Type().NumIn() > 1 && f.Type().In(1) == runType {
		o.asks, next = true, 2
	}
	last := f.Type().NumOut() - 1
	if last < 1 || f.Type().Out(last) != errorType {
		return fail("its builder does not return a node and an error")
	}
	if o.results = last; f.Type().Out(0) == reflect.SliceOf(nodeType) {
		o.results = -1
	} else {
		for i := range last {
			if f.Type().Out(i) != nodeType {
				return fail("its builder returns a %s, which is no node", f.Type().Out(i))
			}
		}
	}
	shown := make([]string, len(items))
	var part []Param
	byNumber := -1 // the item that says which of a list of results
	if o.results < 0 {
		for byNumber = len(items) - 1; byNumber > 0 && items[byNumber][0] == '"'; byNumber-- {
		}
	}
	for i, item := range items {
		p, text, err := param(item)
		if err != nil {
			return fail("%v", err)
		}
		shown[i] = text
		if i == byNumber || o.results > 1 && p.Words != nil {
			if p.Kind, p.Least = Part, 1; o.results > 1 && len(p.Words) != o.results {
				return fail("it has %d results, and its usage names %q", o.results, p.Words)
			}
			part = []Param{p}
		} else {
			if next == f.Type().NumIn() && item[0] != '"' && len(o.Params) > 0 && o.Params[len(o.Params)-1].Kind == Arrays {
				continue // of the list before
			}
			if next >= f.Type().NumIn() {
				return fail("its builder has no parameter for %s", item)
			}
			t := f.Type().In(next)
			if p.Kind = kinds[t]; p.Kind == Arrays && !p.List {
				list := i + 1 + slices.IndexFunc(items[i+1:], func(s string) bool { return strings.Contains(s, "...") })
				if list > i && strings.HasSuffix(items[list], "...") {
					items[list] += "1"
				}
				continue
			}
			if next++; p.Kind == 0 {
				return fail("%s is a %s, which no argument can be", p.Name, t)
			}
			if err := p.check(t); err != nil {
				return fail("%v", err)
			}
		}
		if p.Kind != Part {
			o.Params = append(o.Params, p)
		}
		o.Least += p.Least
		switch {
		case p.List:
			o.Most = -1
		case o.Most >= 0 && p.Word && p.Kind == Array:
			o.Most += 2
		case o.Most >= 0:
			o.Most++
		}
	}
	if o.Params = append(o.Params, part...); part == nil && o.results != 1 {
		return fail("its usage does not say which of its results is meant")
	}
	if next != f.Type().NumIn() {
		return fail("its builder has %d parameters more than its usage", f.Type().NumIn()-next)
	}
	o.Usage = name + "(" + strings.Join(shown, ", ") + ")"
	return o, nil
}

// check completes a parameter of a builder's type.
func (p *Param) check(t reflect.Type) error {
	if !p.Word && p.Kind == Integers && !p.List { // one, or none
		p.Optional = true
	}
	if p.Word && (p.Kind != Text && p.Kind != Type || strings.Contains(p.Name, "=")) {
		p.Optional = true
	}
	if !p.List && !p.Optional {
		p.Least = 1
	}
	if list := p.Kind == Arrays || p.Kind == Integers || p.Kind == Numbers; p.List && !list {
		return fmt.Errorf("%s is a list, and its builder takes one", p.Name)
	}
	if p.Kind == Flag && !p.Word {
		return fmt.Errorf("%s is a flag, and not in double quotes", p.Name)
	}
	text, given := p.Default.(string)
	if !given || text == "" {
		p.Default = nil
		return nil
	}
	var err error
	switch p.Kind {
	case Integer:
		p.Default, err = strconv.Atoi(text)
	case Number, Array:
		p.Default, err = strconv.ParseFloat(text, 64)
	case Seed:
		p.Default, err = strconv.ParseUint(text, 10, 64)
	case Text:
		if p.Words != nil && !slices.Contains(p.Words, text) {
			return fmt.Errorf("%s, the default, is none of the words %q", text, p.Words)
		}
	default:
		err = fmt.Errorf("no default")
	}
	if err != nil {
		return fmt.Errorf("%s, the default of %s, is no %s", text, p.Name, t)
	}
	return nil
}

// split is a usage's arguments.
func split(inside string) (items []string) {
	quoted, start := false, 0
	for i, r := range inside + "," {
		if r == '"' {
			quoted = !quoted
		}
		if quoted || r != ',' {
			continue
		}
		if item := strings.TrimSpace(inside[start:i]); item != "" {
			items = append(items, item)
		}
		start = i + 1
	}
	return items
}

// param reads an argument of a usage, and returns how people see it.
func param(item string) (p Param, shown string, err error) {
	if item[0] == '"' {
		end := strings.LastIndex(item, `"`)
		p.Word, p.Name = true, item[1:end]
		if strings.Contains(p.Name, `" or "`) {
			p.Words = strings.Split(p.Name, `" or "`)
		}
		switch rest := item[end+1:]; {
		case rest == "":
		case rest[0] == '=':
			p.Optional, p.Default = true, rest[1:]
		case rest[0] == ' ': // the name of an array after it
			return p, item[:end+1] + "," + rest, nil
		default:
			return p, "", fmt.Errorf("%s follows a word in double quotes", rest)
		}
		return p, item[:end+1], nil
	}
	if name, least, is := strings.Cut(item, "..."); is {
		p.Name, p.List = name, true
		if least != "" {
			if p.Least, err = strconv.Atoi(least); err != nil {
				return p, "", fmt.Errorf("%s is no number of elements", least)
			}
		}
		return p, name + "...", nil
	}
	shown, text, is := strings.Cut(item, "=")
	if p.Optional = is; is {
		p.Default = text
	}
	p.Name, _, _ = strings.Cut(shown, " or ")
	return p, shown, nil
}

// GoName is what Go calls the operation: Array.TopK, or linalg.QR; "" where it has no name.
func (o *Operation) GoName() string {
	return Func{Go: o.Go}.name()
}

// Defines reports whether a function of Go, by its name, is generated from the row.
func (o *Operation) Defines(name string) bool {
	return slices.ContainsFunc(append([]Func{{Go: o.Go}}, o.More...), func(f Func) bool { return strings.Contains(f.Go, "(") && f.name() == name })
}

func (f Func) name() string {
	name := f.Go
	if method, is := strings.CutPrefix(name, "(a *Array) "); is {
		name = "Array." + method
	}
	name, _, _ = strings.Cut(name, "(")
	return name
}

// Costs are the passes and what is held, as the comments of Go's functions say it; "" of what is
// part of whatever reads it and holds a block.
func (o *Operation) Costs() string {
	switch {
	case o.Holds == Block && o.Passes == Fused:
		return ""
	case o.Passes == Fused:
		return "Held at once: " + o.Holds + "."
	}
	return "Passes: " + o.Passes + ". Held at once: " + o.Holds + "."
}

// Results returns the number of results; -1 where it follows from the arguments.
func (o *Operation) Results() int { return o.results }
