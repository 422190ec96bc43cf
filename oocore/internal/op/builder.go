package op

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// Builder makes the nodes of an operation: Build, Build2, Build3 or BuildAll of a function, by its
// results. The function takes a struct of arguments, whose fields say how an expression calls the
// operation:
//
//	type topKArgs struct {            topk(x, k, axis=-1)
//		X    *graph.Node
//		K    int
//		Axis int `default:"-1"`
//	}
//
// A field is an argument, with its name in lower case, of the kind that its type has in kinds: an
// array, several, integers, numbers, text. A bool is a flag, a word in double quotes. Slices are lists
// of as many elements as one likes; two lists of numbers are equally long. Words stand anywhere among
// the arguments. A Run is set where the operation computes something, and a Read where it reads labels. Tags say the rest:
//
//	default:"-1"        what it is where it is left out; "" is the zero value
//	least:"1"           a list has so many elements at least
//	most:"1"            a list has no element or one, as axis of take(x, indices, axis)
//	words:"left right"  a text is one of these words
//	word:"1"            it stands behind its name, such as "ddof=1", which is the example here;
//	                    an array stands after that word, under this name: "weights", w
//	usage:"edge_order"  how it is shown, where that is not its name: "a, b...", or index or "1, 4".
//	                    Of a text it is an example. Of "-" it is no argument, as what is not
//	                    exported: a row sets it by With
type Builder struct {
	function, preset reflect.Value
	results          int // -1 is a list

	byHand      func(*Call) (*graph.Node, error)
	usage       string
	least, most int
}

// Run computes the elements of a small array of integers that a shape depends on.
type Run = func(n *graph.Node) ([]int64, error)

// Labels computes labels of places: []int64 of integers, []float64 of floats.
type Labels = func(n *graph.Node) (any, error)

// Shapes of arguments that many operations have.
type (
	// Unary is one array.
	Unary struct{ X *graph.Node }
	// Binary is two arrays, or an array and a number.
	Binary struct{ A, B *graph.Node }
	// Axes is an array and a list, of axes or of lengths.
	Axes struct {
		X    *graph.Node
		Axes []int
	}
	// Lengths is an array and a list that is not empty.
	Lengths struct {
		X       *graph.Node
		Lengths []int `least:"1"`
	}
	// Numbered is an array and an integer, such as an axis.
	Numbered struct {
		X *graph.Node
		N int
	}
	// Shifted is an array and an integer that is 0 where it is left out.
	Shifted struct {
		X      *graph.Node
		Offset int `default:"0"`
	}
	// BothAxis is two arrays and an axis, or none for arrays as if flattened.
	BothAxis struct {
		A, B *graph.Node
		Axis []int `most:"1"`
	}
	// Reducing is an array, and the axes along which it is reduced.
	Reducing struct {
		X        *graph.Node
		Axes     []int
		KeepDims bool
	}
	// Counting is an array of whose values the shape of the result comes.
	Counting struct {
		X   *graph.Node
		Run Run
	}
	// Counting2 is Counting of two arrays.
	Counting2 struct {
		A, B *graph.Node
		Run  Run
	}
)

// Build is a builder of one result.
func Build[A any](f func(site graph.Site, args A) (*graph.Node, error)) Builder { return builder(f, 1) }

// Build2 is a builder of two results.
func Build2[A any](f func(site graph.Site, args A) (a, b *graph.Node, err error)) Builder {
	return builder(f, 2)
}

// Build3 is a builder of three results.
func Build3[A any](f func(site graph.Site, args A) (a, b, c *graph.Node, err error)) Builder {
	return builder(f, 3)
}

// BuildAll is a builder of as many results as follow from the arguments.
func BuildAll[A any](f func(site graph.Site, args A) ([]*graph.Node, error)) Builder {
	return builder(f, -1)
}

func builder(function any, results int) Builder {
	f := reflect.ValueOf(function)
	return Builder{function: f, preset: reflect.Zero(f.Type().In(1)), results: results}
}

// build calls the function of a struct that was filled with the arguments of an expression.
func (b Builder) build(site graph.Site, args reflect.Value) (all []*graph.Node, err error) {
	out := b.function.Call([]reflect.Value{reflect.ValueOf(site), args})
	last := len(out) - 1
	if err, _ := out[last].Interface().(error); err != nil {
		return nil, err
	}
	if b.results < 0 {
		return out[0].Interface().([]*graph.Node), nil
	}
	for _, n := range out[:last] {
		all = append(all, n.Interface().(*graph.Node))
	}
	return all, nil
}

// ByHand is a builder that reads its arguments itself, because what one of them is depends on how many
// there are: at least so many, and at most, where -1 is any number. The usage is for people alone.
func ByHand(usage string, least, most int, f func(*Call) (*graph.Node, error)) Builder {
	return Builder{byHand: f, usage: usage, least: least, most: most, results: 1}
}

// With has the fields that are no arguments, which say what of several operations the function makes.
func (b Builder) With(preset any) Builder {
	b.preset = reflect.ValueOf(preset)
	return b
}

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

// kinds are by the type of a field.
var kinds = map[reflect.Type]Kind{
	reflect.TypeFor[*graph.Node](): Array, reflect.TypeFor[[]*graph.Node](): Arrays, reflect.TypeFor[int](): Integer, reflect.TypeFor[[]int](): Integers,
	reflect.TypeFor[float64](): Number, reflect.TypeFor[[]float64](): Numbers, reflect.TypeFor[uint64](): Seed, reflect.TypeFor[string](): Text,
	reflect.TypeFor[bool](): Flag, reflect.TypeFor[dtype.Type](): Type, reflect.TypeFor[any](): Scalar, reflect.TypeFor[Value](): Any,
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
	Field    string   // of the builder's struct

	usage, signature string // as those of an operation
}

// Operation is a row that has been read.
type Operation struct {
	Row
	Usage string // how an expression calls it
	// Signature is Usage with the defaults of what may be left out, of the row that it is an alias of.
	Signature string
	Alias     string  // of which it is another name
	Params    []Param // as the builder's, and then which result
	// Least and Most are the numbers of arguments; Most of -1 is any.
	Least, Most int
}

// Read reads rows, those of other names among them, by name. Its error is what is wrong with
// the first one that is.
func Read(rows ...Row) (map[string]*Operation, error) {
	all := map[string]*Operation{}
	for _, r := range rows {
		o, err := read(r)
		if err != nil {
			return nil, fmt.Errorf("row %s: %w", r.Name, err)
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
	o := &Operation{Row: r}
	if o.NumPy == "" {
		o.NumPy = "np." + r.Name
	}
	if o.Passes == "" {
		o.Passes = Fused
	}
	if o.Holds == "" {
		o.Holds = Block
	}
	b := r.Build
	if b.byHand != nil {
		o.Usage, o.Least, o.Most = r.Name+"("+b.usage+")", b.least, b.most
		o.Signature = o.Usage
		return o, nil
	}
	if !b.function.IsValid() {
		return nil, fmt.Errorf("it has no builder")
	}
	if want := b.function.Type().In(1); b.preset.Type() != want || want.Kind() != reflect.Struct {
		return nil, fmt.Errorf("its builder takes a %s, and With has a %s: both are one struct", want, b.preset.Type())
	}
	names, without := strings.Fields(r.Names), strings.Fields(r.Without)
	for _, f := range reflect.VisibleFields(b.preset.Type()) {
		if at := slices.Index(without, f.Name); at >= 0 {
			without = slices.Delete(without, at, at+1)
			continue
		}
		if f.Anonymous || !f.IsExported() || f.Tag.Get("usage") == "-" || f.Type == reflect.TypeFor[Run]() || f.Type == reflect.TypeFor[Labels]() {
			continue
		}
		name := ""
		if len(names) > 0 {
			name, names = names[0], names[1:]
		}
		p, err := param(f, name)
		if err != nil {
			return nil, err
		}
		o.Params = append(o.Params, p)
	}
	if len(names)+len(without) > 0 {
		return nil, fmt.Errorf("its builder has no fields for %q", append(names, without...))
	}
	if err := o.part(); err != nil {
		return nil, err
	}
	return o, nil
}

// part completes an operation by what says which of its results is meant, which stands before the
// options.
func (o *Operation) part() error {
	behind := 0
	for _, p := range o.Params {
		if behind++; !p.Word || p.Words != nil || p.Kind == Array {
			behind = 0
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
	shown := slices.Clone(o.Params)
	names := strings.Fields(o.Parts)
	switch n := o.Build.results; {
	case n > 1 && len(names) != n, n < 0 && len(names) > 1, n == 1 && len(names) > 0:
		return fmt.Errorf("it has %d results, and names %q", n, names)
	case n != 1:
		p := Param{Name: strings.Join(append(names, "part")[:max(len(names), 1)], `" or "`), Kind: Part, Least: 1}
		if p.usage = p.Name; n > 1 {
			p.Word, p.Words, p.usage = true, names, `"`+p.Name+`"`
		}
		p.signature = p.usage
		shown = slices.Insert(shown, len(shown)-behind, p)
		o.Params = append(o.Params, p)
		if o.Least++; o.Most >= 0 {
			o.Most++
		}
	}
	var usages, signatures []string
	for _, p := range shown {
		usages, signatures = append(usages, p.usage), append(signatures, p.signature)
	}
	o.Usage, o.Signature = o.Name+"("+strings.Join(usages, ", ")+")", o.Name+"("+strings.Join(signatures, ", ")+")"
	return nil
}

// param is the parameter of a field, under another name where there is one.
func param(f reflect.StructField, name string) (p Param, err error) {
	p.Kind, p.Field = kinds[f.Type], f.Name
	if f.Type.Kind() == reflect.String {
		p.Kind = Text
	} else if p.Kind == 0 {
		return p, fmt.Errorf("%s is a %s, which no argument can be", f.Name, f.Type)
	}
	usage, given := f.Tag.Lookup("usage")
	if name != "" {
		usage = name
	} else if !given {
		usage = strings.ToLower(f.Name)
	}
	p.usage = usage
	_, single := f.Tag.Lookup("most")
	word, named := f.Tag.Lookup("word")
	p.Default, p.Optional = f.Tag.Lookup("default")
	switch {
	case f.Tag.Get("words") != "":
		p.Words = strings.Fields(f.Tag.Get("words"))
		p.Word, p.Name = true, strings.Join(p.Words, `" or "`)
	case named && p.Kind == Array:
		p.Word, p.Optional, p.Name = true, true, usage
		p.usage, p.signature = `"`+usage+`", `+word, `"`+usage+`" `+word
	case named:
		p.Word, p.Optional, p.Name = true, true, usage+"="+word
	case p.Kind == Text || p.Kind == Type || p.Kind == Flag:
		p.Word, p.Optional, p.Name = true, p.Optional || p.Kind == Flag, usage
	case single:
		p.Optional, p.Name = true, usage
	case p.Kind == Arrays || p.Kind == Integers || p.Kind == Numbers:
		if !strings.Contains(usage, "...") {
			usage += "..." + f.Tag.Get("least")
		}
		before, behind, _ := strings.Cut(usage, "...")
		p.List, p.Name = true, before[strings.LastIndex(before, " ")+1:]
		p.signature, p.usage = usage, before+"..."+strings.TrimLeft(behind, "0123456789")
	default:
		p.Name, _, _ = strings.Cut(usage, " or ")
	}
	if p.Word && p.Kind != Array {
		p.usage = `"` + p.Name + `"`
	}
	if p.signature == "" {
		p.signature = p.usage
	}
	if text, is := f.Tag.Lookup("default"); is {
		p.signature += "=" + text
	}
	if least := f.Tag.Get("least"); least != "" {
		if p.Least, err = strconv.Atoi(least); err != nil || !p.List {
			return p, fmt.Errorf("%s is no number of elements of %s", least, f.Name)
		}
	} else if !p.List && !p.Optional {
		p.Least = 1
	}
	return p, p.parse(f)
}

// parse reads the default.
func (p *Param) parse(f reflect.StructField) (err error) {
	text := p.Default.(string)
	if p.Default = nil; text == "" {
		return nil
	}
	switch p.Kind {
	case Integer:
		p.Default, err = strconv.Atoi(text)
	case Number, Array:
		p.Default, err = strconv.ParseFloat(text, 64)
	case Seed:
		p.Default, err = strconv.ParseUint(text, 10, 64)
	case Text:
		if p.Default = text; p.Words != nil && !slices.Contains(p.Words, text) {
			return fmt.Errorf("%s, the default, is none of the words %q", text, p.Words)
		}
	default:
		err = fmt.Errorf("no default")
	}
	if err != nil {
		return fmt.Errorf("%s, the default of %s, is no %s", text, f.Name, f.Type)
	}
	return nil
}

// Results returns the number of results; -1 where it follows from the arguments.
func (o *Operation) Results() int { return o.Build.results }

// Function returns the builder's function, by its package and name, and a struct of arguments of which
// only that is set which is no argument.
func (o *Operation) Function() (path, name string, preset reflect.Value) {
	path = runtime.FuncForPC(o.Build.function.Pointer()).Name()
	folder, last, _ := strings.Cut(path[strings.LastIndex(path, "/")+1:], ".")
	return path[:strings.LastIndex(path, "/")+1] + folder, last, o.Build.preset
}
