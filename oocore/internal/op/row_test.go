package op

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/graph"
)

type (
	integerArgs struct {
		X *graph.Node
		K int
	}
	manyArgs struct {
		X        *graph.Node
		Y        *graph.Node `default:""`
		Axes     []int
		DDof     float64 `word:"1"`
		KeepDims bool
		Side     string      `words:"left right" default:"left"`
		Weights  *graph.Node `word:"w"`
	}
)

// same is a builder of arguments that gives none.
func same[A any](graph.Site, A) (*graph.Node, error) { return nil, nil }

func TestReadRejectsRows(t *testing.T) {
	one := Build(same[integerArgs])
	two := Build2(func(graph.Site, Unary) (q, r *graph.Node, err error) { return nil, nil, nil })
	for _, c := range []struct {
		row  Row
		want string
	}{
		{Row{}, "row f: it has no builder"},
		{Row{Build: Build(same[int])}, "row f: its builder takes a int, and With has a int: both are one struct"},
		{Row{Build: one.With(Unary{})}, "row f: its builder takes a op.integerArgs, and With has a op.Unary: both are one struct"},
		{Row{Build: Build(same[struct{ K chan int }])}, "row f: K is a chan int, which no argument can be"},
		{Row{Build: Build(same[struct {
			K int `default:"first"`
		}])}, "row f: first, the default of K, is no int"},
		{Row{Build: Build(same[struct {
			Side string `words:"left right" default:"up"`
		}])}, `row f: up, the default, is none of the words ["left" "right"]`},
		{Row{Build: Build(same[struct {
			K []int `least:"some"`
		}])}, "row f: some is no number of elements of K"},
		{Row{Build: Build(same[struct {
			K int `least:"1"`
		}])}, "row f: 1 is no number of elements of K"},
		{Row{Build: one, Names: "x k n"}, `row f: its builder has no fields for ["n"]`},
		{Row{Build: one, Without: "N"}, `row f: its builder has no fields for ["N"]`},
		{Row{Build: one, Parts: "q r"}, `row f: it has 1 results, and names ["q" "r"]`},
		{Row{Build: two}, "row f: it has 2 results, and names []"},
		{Row{Build: two, Parts: "q r s"}, `row f: it has 2 results, and names ["q" "r" "s"]`},
	} {
		c.row.Name = "f"
		if _, err := Read(c.row); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	_, err := Read(Row{Name: "f", Build: one}, Row{Name: "g", Also: "f", Build: one})
	if err == nil || err.Error() != "two rows are named f" {
		t.Errorf("a name twice: %v", err)
	}
}

func TestUsagesFollowFromStructs(t *testing.T) {
	all, err := Read(Row{Name: "f", Also: "g", Build: Build(same[manyArgs])}, Row{Name: "h", Names: "list", Without: "Y Weights", Build: Build(same[manyArgs])},
		Row{Name: "qr", Parts: "q r", Build: Build2(func(graph.Site, struct {
			X    *graph.Node
			Full bool
		}) (q, r *graph.Node, err error) {
			return nil, nil, nil
		})},
		Row{Name: "meshgrid", Build: BuildAll(func(graph.Site, struct {
			In []*graph.Node `usage:"a, b..." least:"1"`
		}) ([]*graph.Node, error) {
			return nil, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		"f":        {`f(x, y, axes..., "ddof=1", "keepdims", "left" or "right", "weights", w)`, `f(x, y=, axes..., "ddof=1", "keepdims", "left" or "right"=left, "weights" w)`},
		"g":        {`g(x, y, axes..., "ddof=1", "keepdims", "left" or "right", "weights", w)`, `f(x, y=, axes..., "ddof=1", "keepdims", "left" or "right"=left, "weights" w)`},
		"h":        {`h(list, axes..., "ddof=1", "keepdims", "left" or "right")`, `h(list, axes..., "ddof=1", "keepdims", "left" or "right"=left)`},
		"qr":       {`qr(x, "q" or "r", "full")`, `qr(x, "q" or "r", "full")`},
		"meshgrid": {"meshgrid(a, b..., part)", "meshgrid(a, b..., part)"},
	} {
		if o := all[name]; o.Usage != want[0] || o.Signature != want[1] {
			t.Errorf("%s is %s, %s, want %q", name, o.Usage, o.Signature, want)
		}
	}
	if o := all["f"]; o.Least != 1 || o.Most != -1 {
		t.Errorf("%s takes %d to %d arguments", o.Usage, o.Least, o.Most)
	}
	if o := all["qr"]; o.Least != 2 || o.Most != 3 {
		t.Errorf("%s takes %d to %d arguments", o.Usage, o.Least, o.Most)
	}
}

// Words stand anywhere, and others are found in order.
func TestCallsBindTheirArguments(t *testing.T) {
	var got []any
	build := func(_ graph.Site, a manyArgs) (*graph.Node, error) {
		got = []any{a.Y != nil, a.Axes, a.DDof, a.KeepDims, a.Side, a.Weights != nil}
		return a.X, nil
	}
	all, err := Read(Row{Name: "f", Build: Build(build)})
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
