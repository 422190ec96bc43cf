package op

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// Value is an argument in an expression: an array, a number or text.
type Value struct {
	Node   *graph.Node
	Number any // int64, float64 or complex128
	Text   *string
	at     int
}

// Near is a label that need not be there: the nearest is meant. It is the Number of a Value.
type Near Value

// Int is an integer.
func Int(n int) Value { return Value{Number: int64(n)} }

// String is text.
func String(text string) Value { return Value{Text: &text} }

// Reject returns an error that points at the argument: what the operation takes there.
func (v Value) Reject(takes string) error { return &valueError{v.at, takes} }

type valueError struct {
	at    int
	takes string
}

func (e *valueError) Error() string { return e.takes }

// Is reports whether the value is a text.
func (v Value) Is(text string) bool { return v.Text != nil && *v.Text == text }

// Float returns a real number.
func (v Value) Float() (f float64, ok bool) {
	switch n := v.Number.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// Ints returns an integer, or those in a text, between commas; alone says that it is the former.
func (v Value) Ints() (all []int, alone bool, err error) {
	if n, is := v.Number.(int64); is {
		return []int{int(n)}, true, nil
	}
	if v.Text == nil {
		return nil, false, v.Reject(`takes an integer here, or several in text, such as "2, 3"`)
	}
	if strings.TrimSpace(*v.Text) == "" {
		return nil, false, nil
	}
	if all, err = integers(*v.Text, nil); err != nil {
		err = v.Reject(err.Error())
	}
	return all, false, err
}

// Call is an operation that an expression calls.
type Call struct {
	*Operation
	Site   graph.Site
	Values []Value
	// Fail is an error that points at an argument.
	Fail func(at int, format string, args ...any) error
	// Names are those of the first argument's dimensions, where the operation takes axes.
	Names []string
	// Run, Labels and Decompose are nil where nothing is computed. Labels computes the elements of labels of places, []int64 or
	// []float64, also where a run is only planned: they are small, as what headers say is.
	Run       Run
	Labels    Labels
	Decompose func(d Decomposition) (*Decomposed, error)
}

// Decomposition is what an expression asks for of a tensor: an algorithm of several runs.
type Decomposition struct {
	Op          string // "cp", "tucker" or "hosvd"
	Site        graph.Site
	X           *graph.Node
	Ranks       []int   // of cp one; else one for each of Modes
	Modes       []int   // nil is all
	Iterations  int     // at the most; 0 is the algorithm's default
	Tolerance   float64 // 0 is the algorithm's default, less than 0 none
	Seed        uint64
	SVD         bool
	NonNegative bool
}

// Decomposed are the parts of a decomposition. What an algorithm does not have is nil.
type Decomposed struct {
	Whole   *graph.Node // the tensor that the others stand for
	Core    *graph.Node
	Weights *graph.Node
	Factors []*graph.Node
	Errors  *graph.Node // relative, after each iteration; nil where nothing was computed
}

// Build makes the node that the call stands for.
func (c *Call) Build() (*graph.Node, error) {
	if byHand := c.Operation.Build.byHand; byHand != nil {
		for i, v := range c.Values {
			if v.Node != nil && !c.Moves {
				c.Values[i].Node = graph.Computable(c.Site, v.Node)
			}
		}
		return byHand(c)
	}
	decides := 0 // the last array, of whose values the shape comes
	for at, v := range c.Values {
		if v.Node != nil {
			decides = at
		}
	}
	var uncounted error
	args, part, err := c.bind(func(n *graph.Node) (counts []int64, err error) {
		counts, err = c.Counter(decides)(n)
		if c.Run == nil {
			uncounted = err
		}
		return counts, err
	})
	if err != nil {
		return nil, err
	}
	all, err := c.Operation.Build.build(c.Site, args)
	if uncounted != nil {
		return nil, uncounted
	}
	if bad, is := errors.AsType[*valueError](err); is {
		return nil, c.Fail(bad.at, "%s %s: %s", c.Name, bad.takes, c.Usage)
	}
	if err == nil && (part < 0 || part >= len(all)) {
		err = c.Fail(len(c.Values)-1, "there is no part %d of %d", part, len(all))
	}
	if err != nil {
		return nil, err
	}
	return all[part], nil
}

// bind fills the builder's struct: words first, wherever they stand, then the other arguments in
// order. part is which of the results is meant.
func (c *Call) bind(run Run) (args reflect.Value, part int, err error) {
	given := make([]any, len(c.Params))
	rest := make([]int, 0, len(c.Values)) // places of what is no word
	for at := 0; at < len(c.Values); at++ {
		n, err := c.word(at, given)
		if err != nil {
			return args, 0, err
		}
		if n == 0 {
			rest = append(rest, at)
		}
		at += max(n-1, 0)
	}
	for i, p := range c.Params {
		if given[i] != nil || p.Word && (p.Kind != Text && p.Kind != Type || strings.Contains(p.Name, "=")) {
			continue
		}
		if given[i], rest, err = c.take(i, rest); err != nil {
			return args, 0, err
		}
	}
	if len(rest) > 0 {
		if text := c.Values[rest[0]].Text; text != nil {
			return args, 0, c.Fail(rest[0], "%s does not take %q: %s", c.Name, *text, c.Usage)
		}
		if !slices.ContainsFunc(c.Params, func(p Param) bool { return p.List }) {
			return args, 0, c.Fail(rest[0], "%s does not take %d arguments: %s", c.Name, len(c.Values), c.Usage)
		}
		return args, 0, c.Fail(rest[0], "%s does not take this here: %s", c.Name, c.Usage)
	}
	preset := c.Operation.Build.preset
	args = reflect.New(preset.Type()).Elem()
	args.Set(preset)
	if f := args.FieldByName("Run"); f.IsValid() {
		f.Set(reflect.ValueOf(run))
	}
	if f := args.FieldByName("Read"); f.IsValid() {
		f.Set(reflect.ValueOf(c.Labels))
	}
	for i, p := range c.Params {
		if p.Kind == Part {
			if given[i] == nil {
				return args, 0, c.Fail(len(c.Values)-1, "%s gives one of its results, by name: %s", c.Name, c.Usage)
			}
			part = given[i].(int)
		} else if v, err := c.field(p, given[i]); err != nil {
			return args, 0, err
		} else if v != nil {
			f := args.FieldByName(p.Field)
			f.Set(reflect.ValueOf(v).Convert(f.Type()))
		}
	}
	return args, part, nil
}

// field is what a field of the builder's struct has, of an argument or where there is none; nil is the
// zero value.
func (c *Call) field(p Param, arg any) (any, error) {
	if arg == nil {
		arg = p.Default
	}
	if f, is := arg.(float64); is && p.Kind == Array {
		return graph.Scalar(c.Site, f)
	}
	if n, is := arg.(*graph.Node); is && !c.Moves {
		return graph.Computable(c.Site, n), nil
	}
	if all, is := arg.([]*graph.Node); is && !c.Moves {
		for k, n := range all {
			all[k] = graph.Computable(c.Site, n)
		}
	}
	return arg, nil
}

// word reads the word at a place, and returns how many arguments that are; 0 where none of the
// parameters is one.
func (c *Call) word(at int, given []any) (n int, err error) {
	if c.Values[at].Text == nil {
		return 0, nil
	}
	text := *c.Values[at].Text
	for i, p := range c.Params {
		name, _, valued := strings.Cut(p.Name, "=")
		value, follows := strings.CutPrefix(text, name+"=")
		switch {
		case !p.Word || given[i] != nil:
			continue
		case p.Words != nil:
			k := slices.Index(p.Words, text)
			if k < 0 {
				continue
			}
			if given[i] = any(text); p.Kind == Part {
				given[i] = k
			}
			return 1, nil
		case p.Kind == Flag:
			if text != p.Name {
				continue
			}
			given[i] = true
			return 1, nil
		case p.Kind == Array:
			if text != p.Name {
				continue
			}
			if at+1 == len(c.Values) {
				return 0, c.Fail(at, "%s takes an array after %q: %s", c.Name, text, c.Usage)
			}
			given[i], err = c.Node(at + 1)
			return 2, err
		case !valued || !follows:
			continue
		}
		switch p.Kind {
		case Integer:
			given[i], err = strconv.Atoi(value)
		case Integers:
			given[i], err = c.List(at, value)
			if err != nil {
				return 0, err
			}
		case Number:
			given[i], err = strconv.ParseFloat(value, 64)
		case Numbers:
			given[i], err = ParseNumbers(value)
		case Seed:
			given[i], err = strconv.ParseUint(value, 10, 64)
		case Scalar:
			given[i], err = number(value)
		case Type:
			if given[i], err = dtype.Parse(value); err != nil {
				return 0, c.Fail(at, "%v", err)
			}
		default:
			given[i] = value
		}
		if err != nil {
			return 0, c.Fail(at, "%s does not take %q: %s", c.Name, text, c.Usage)
		}
		return 1, nil
	}
	return 0, nil
}

// take finds a parameter's argument among those at the places of rest, and returns what is
// left of them.
func (c *Call) take(i int, rest []int) (arg any, left []int, err error) {
	p := c.Params[i]
	least, numbers := 0, false // of those after it
	for _, q := range c.Params[i+1:] {
		if !q.Word {
			least += q.Least
			numbers = numbers || q.Kind != Array && q.Kind != Arrays
		}
	}
	if p.List {
		n := 0
		most := len(rest) - least
		if i+1 < len(c.Params) && c.Params[i+1].List {
			if most%2 != 0 {
				return nil, nil, c.Fail(rest[0], "%s takes as many %s as %s: %s", c.Name, c.Params[i+1].Name, p.Name, c.Usage)
			}
			most /= 2
		}
		for n < most && c.Values[rest[n]].Text == nil {
			if v := c.Values[rest[n]].Node; v != nil && p.Kind == Integers && v.DType == dtype.Bool && i+1 < len(c.Params) && c.Params[i+1].Kind == Array && !c.Params[i+1].Word {
				break // which elements to include
			}
			if _, is := c.Values[rest[n]].Number.(int64); is && p.Kind == Arrays && numbers && n == len(rest)-1 && n >= p.Least {
				break // an axis
			}
			n++
		}
		if n < p.Least {
			if p.Kind == Arrays && n < most {
				if _, err = c.Node(rest[n]); err != nil {
					return nil, nil, err
				}
			}
			return nil, nil, c.Fail(len(c.Values)-1, "%s takes %s: %s", c.Name, p.Name, c.Usage)
		}
		arg, err = c.elements(p.Kind, rest[:n])
		return arg, rest[n:], err
	}
	if len(rest) == 0 {
		if !p.Optional && p.Kind != Part {
			return nil, nil, c.Fail(max(len(c.Values)-1, 0), "%s takes %s: %s", c.Name, p.Name, c.Usage)
		}
		return nil, nil, nil
	}
	v := c.Values[rest[0]]
	textual := p.Kind == Text || p.Kind == Type
	if p.Optional && p.Kind != Any && (textual != (v.Text != nil) || p.Kind == Array && p.Default == nil && v.Number != nil && numbers) || p.Words != nil && p.Kind != Part {
		if p.Optional {
			return nil, rest, nil
		}
	}
	arg, err = c.one(p, rest[0])
	return arg, rest[1:], err
}

// one is the argument at a place.
func (c *Call) one(p Param, at int) (any, error) {
	switch p.Kind {
	case Array:
		return c.Node(at)
	case Integer:
		return c.Int(at)
	case Integers:
		n, err := c.Int(at)
		return []int{n}, err
	case Number:
		return c.Float(at)
	case Seed:
		n, err := c.Int(at)
		if err == nil && n < 0 {
			err = c.Fail(at, "a seed is not negative")
		}
		return uint64(n), err
	case Scalar:
		return c.Scalar(at)
	case Any:
		v := c.Values[at]
		v.at = at
		return v, nil
	case Part:
		if p.Word {
			return nil, c.Fail(at, "%s gives one of its results, by name: %s", c.Name, c.Usage)
		}
		if _, is := c.Values[at].Number.(int64); !is {
			return nil, c.Fail(at, "%s gives one of its results, by number: %s", c.Name, c.Usage)
		}
		return c.Int(at)
	}
	text := c.Values[at].Text
	if text == nil || p.Words != nil {
		return nil, c.Fail(at, "%s takes text in double quotes: %s", c.Name, c.Usage)
	}
	if p.Kind == Text {
		return *text, nil
	}
	t, err := dtype.Parse(*text)
	if err != nil {
		return nil, c.Fail(at, "%v", err)
	}
	return t, nil
}

func (c *Call) elements(kind Kind, places []int) (any, error) {
	switch kind {
	case Arrays:
		return each(places, c.Node)
	case Integers:
		return each(places, c.Int)
	}
	return each(places, c.Float)
}

// each reads the arguments at places.
func each[T any](places []int, read func(at int) (T, error)) (all []T, err error) {
	for _, at := range places {
		v, err := read(at)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// Node is an argument as an array, which a number also is.
func (c *Call) Node(at int) (*graph.Node, error) {
	switch v := c.Values[at]; {
	case v.Text != nil:
		return nil, c.Fail(at, "text %q stands where an array or a number has to", *v.Text)
	case v.Node != nil:
		return v.Node, nil
	default:
		return graph.Scalar(c.Site, weak(v.Number))
	}
}

// Nodes are the first n arguments.
func (c *Call) Nodes(n int) (all []*graph.Node, err error) {
	for at := range n {
		one, err := c.Node(at)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Int is the argument at a place.
func (c *Call) Int(at int) (int, error) {
	n, ok := c.Values[at].Number.(int64)
	if mask := c.Values[at].Node; mask != nil && mask.DType == dtype.Bool && len(mask.Shape) > 0 {
		return 0, c.Fail(at, "%s takes no mask: %s", c.Name, c.Usage)
	}
	if !ok {
		return 0, c.Fail(at, "%s takes an integer here: %s", c.Name, c.Usage)
	}
	return int(n), nil
}

// Ints are the arguments from a place on.
func (c *Call) Ints(from int) (all []int, err error) {
	for at := from; at < len(c.Values); at++ {
		n, err := c.Int(at)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// Float is the argument at a place.
func (c *Call) Float(at int) (float64, error) {
	f, ok := c.Values[at].Float()
	if !ok {
		return 0, c.Fail(at, "%s takes a real number here: %s", c.Name, c.Usage)
	}
	return f, nil
}

// Scalar is a number that stands as an argument, true and false among them.
func (c *Call) Scalar(at int) (any, error) {
	switch v := c.Values[at]; {
	case v.Number != nil:
		return weak(v.Number), nil
	case v.Node != nil && v.Node.Kind == graph.Constant && len(v.Node.Shape) == 0:
		return v.Node.Value.Lo != 0, nil
	}
	return nil, c.Fail(at, "%s takes a number here: %s", c.Name, c.Usage)
}

// Option takes a word from the end of the arguments, and reports whether it stood there.
func (c *Call) Option(word string) bool {
	last := len(c.Values) - 1
	if last == 0 || !c.Values[last].Is(word) {
		return false
	}
	c.Values = c.Values[:last]
	return true
}

// Counter runs what the argument at a place asks for.
func (c *Call) Counter(at int) Run {
	return func(n *graph.Node) ([]int64, error) {
		if c.Run == nil {
			return nil, c.Fail(at, "the shape of %s follows from values, which are not computed here", c.Name)
		}
		return c.Run(n)
	}
}

// List is integers in the text of an argument, or names of dimensions, between commas.
func (c *Call) List(at int, text string) (all []int, err error) {
	if all, err = integers(text, c.Names); err != nil {
		return nil, c.Fail(at, "%s %w: %s", c.Name, err, c.Usage)
	}
	return all, nil
}

func integers(text string, names []string) (all []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		field = strings.TrimSpace(field)
		n, err := strconv.Atoi(field)
		if err != nil {
			if n = slices.Index(names, field); n < 0 {
				return nil, fmt.Errorf("takes integers here, such as %q", "2, 3")
			}
		}
		all = append(all, n)
	}
	return all, nil
}

// weak is a number of the program.
func weak(number any) any {
	if i, ok := number.(int64); ok {
		return int(i)
	}
	return number
}

// ParseNumbers reads several in text, between commas.
func ParseNumbers(text string) (all []float64, err error) {
	for field := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// number is a whole number or a float in text.
func number(text string) (any, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n, nil
	}
	return Float(text)
}

// Float lets what is too large be infinite, as Python does.
func Float(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if math.IsInf(f, 0) {
		return f, nil
	}
	return f, err
}
