package op

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/graph"
)

func TestReadRejectsRows(t *testing.T) {
	one := func(site graph.Site, x *graph.Node, k int) (*graph.Node, error) { return x, nil }
	two := func(site graph.Site, x *graph.Node) (q, r *graph.Node, err error) { return x, x, nil }
	for _, c := range []struct {
		usage string
		build any
		want  string
	}{
		{"f", one, `the usage of a row is not as name(x, y), but "f"`},
		{"f(x, k)", func(x *graph.Node) error { return nil }, "row f: its builder is no function of a site"},
		{"f(x)", func(site graph.Site, x *graph.Node) error { return nil }, "row f: its builder does not return a node and an error"},
		{"f(x, k)", func(site graph.Site, x *graph.Node, k chan int) (*graph.Node, error) { return x, nil }, "row f: k is a chan int, which no argument can be"},
		{"f(x, k=first)", one, "row f: first, the default of k, is no int"},
		{`f(x, "left" or "right"=up)`, func(site graph.Site, x *graph.Node, side string) (*graph.Node, error) { return x, nil }, `row f: up, the default, is none of the words ["left" "right"]`},
		{"f(x)", one, "row f: its builder has 1 parameters more than its usage"},
		{"f(x, k, n)", one, "row f: its builder has no parameter for n"},
		{"f(x, k...)", one, "row f: k is a list, and its builder takes one"},
		{"f(x)", two, "row f: its usage does not say which of its results is meant"},
		{`f(x, "q" or "r" or "s")`, two, `row f: it has 2 results, and its usage names ["q" "r" "s"]`},
		{"f(x)", func(*Call) (*graph.Node, error) { return nil, nil }, "row f: it reads its arguments itself, and does not say how many"},
	} {
		if _, err := Read(Row{Usage: c.usage, Build: c.build}); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.usage, err, c.want)
		}
	}
	_, err := Read(Row{Usage: "f(x, k)", Build: one}, Row{Usage: "g(x, k)", Also: "f", Build: one})
	if err == nil || err.Error() != "two rows are named f" {
		t.Errorf("a name twice: %v", err)
	}
}

func TestUsagesHaveNoDefaults(t *testing.T) {
	build := func(site graph.Site, x, y *graph.Node, axes []int, ddof float64, keep bool, method string, w *graph.Node) (*graph.Node, error) {
		return x, nil
	}
	all, err := Read(Row{Usage: `f(x, y=, axes..., "ddof=1", "keepdims", "left" or "right"=left, "weights" w)`, Build: build})
	if err != nil {
		t.Fatal(err)
	}
	o := all["f"]
	if want := `f(x, y, axes..., "ddof=1", "keepdims", "left" or "right", "weights", w)`; o.Usage != want || o.Least != 1 || o.Most != -1 {
		t.Errorf("%s takes %d to %d arguments, want %s", o.Usage, o.Least, o.Most, want)
	}
}

// Words stand anywhere, and others are found in order.
func TestCallsBindTheirArguments(t *testing.T) {
	var got []any
	build := func(site graph.Site, x, y *graph.Node, axes []int, ddof float64, keep bool, side string, w *graph.Node) (*graph.Node, error) {
		got = []any{y != nil, axes, ddof, keep, side, w != nil}
		return x, nil
	}
	all, err := Read(Row{Usage: `f(x, y=, axes..., "ddof=1", "keepdims", "left" or "right"=left, "weights" w)`, Build: build})
	if err != nil {
		t.Fatal(err)
	}
	number := func(n int64) Value { return Value{Number: n} }
	text := func(s string) Value { return Value{Text: &s} }
	n, err := graph.Scalar(graph.Site{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	array := Value{Node: n}
	for _, c := range []struct {
		values []Value
		want   []any
		fails  string
	}{
		{[]Value{array}, []any{false, []int(nil), 0.0, false, "left", false}, ""},
		{[]Value{array, number(2), number(0)}, []any{false, []int{2, 0}, 0.0, false, "left", false}, ""},
		{[]Value{array, text("keepdims"), array, text("weights"), array, number(1), text("right"), text("ddof=2")}, []any{true, []int{1}, 2.0, true, "right", true}, ""},
		{[]Value{array, text("ddof=x")}, nil, `1: f does not take "ddof=x"`},
		{[]Value{array, text("middle")}, nil, `1: f does not take "middle"`},
		{[]Value{array, array, array}, nil, "2: f takes an integer here"},
		{[]Value{text("x")}, nil, `0: text "x" stands where an array or a number has to`},
	} {
		call := &Call{Operation: all["f"], Values: c.values, Fail: func(at int, format string, args ...any) error {
			return fmt.Errorf("%d: "+format, append([]any{at}, args...)...)
		}}
		_, err := call.Build()
		if c.fails != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.fails) {
				t.Errorf("%v: %v, want %s", c.values, err, c.fails)
			}
		} else if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v binds %v (%v), want %v", c.values, got, err, c.want)
		}
	}
}
