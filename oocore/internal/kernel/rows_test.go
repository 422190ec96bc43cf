package kernel

import (
	"fmt"
	"go/token"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// faults says what is wrong with a table of rows.
func faults(rows []Row) (all []string) {
	names := map[string]bool{}
	for i, r := range rows {
		fault := func(format string, a ...any) {
			all = append(all, fmt.Sprintf("row %d, %q: ", i+1, r.Name)+fmt.Sprintf(format, a...))
		}
		if r.Name == "" || r.Sentence == "" || !token.IsExported(r.Const) {
			fault("name, sentence and an exported constant are wanted")
		}
		for _, name := range slices.Compact([]string{"const " + r.Const, r.Name, "method " + r.Method}) {
			if names[name] {
				fault("another row has %s", name)
			}
			names[name] = true
		}
		if r.Arity < 1 || r.Arity > 3 {
			fault("an operation has one to three operands, not %d", r.Arity)
		}
		if r.Family > Choice || r.Takes > Bools || r.Gives > realPart {
			fault("family %d, operands %d or result %d is unknown", r.Family, r.Takes, r.Gives)
		}
		if (r.Sign == "") != (r.Precedence == 0) {
			fault("a sign has a precedence, and nothing else has")
		}
		for class, of := range map[int][]dtype.Type{
			0: {dtype.Bool, dtype.Int8}, 1: {dtype.Int32, dtype.Uint64}, 2: {dtype.Float32}, 3: {dtype.Float64}, 4: {dtype.Complex64, dtype.Complex128},
		} {
			loops := slices.ContainsFunc(of, func(t dtype.Type) bool { _, ok := Lookup(r.Op, t); return ok })
			if loops != (r.Nanos[class] > 0) {
				fault("of %s there is a loop: %v, but its cost is %v", of[0], loops, r.Nanos[class])
			}
		}
		if slices.ContainsFunc(r.Units[:], func(u float64) bool { return u < 0 }) {
			fault("an error is not negative")
		}
	}
	return all
}

func TestRowsAreWhole(t *testing.T) {
	for _, fault := range faults(rows[1:]) {
		t.Error(fault)
	}
	for _, r := range Reductions() {
		for _, of := range dtype.All() {
			if _, ok := NewFolder(r.Reduction, of); ok && (r.Cost(of) <= 0 || r.Name == "" || r.Sentence == "") {
				t.Errorf("the row of %s lacks a name, a sentence or the cost of %s", r.Reduction, of)
			}
		}
	}
}

func TestFaultyRowsAreFound(t *testing.T) {
	good := Row{Op: Add, Const: "Plus", Name: "plus", Method: "Plus", Sentence: "returns a + b", Arity: 2, Nanos: rows[Add].Nanos}
	for what, change := range map[string]func(r *Row){
		"no name":          func(r *Row) { r.Name = "" },
		"no sentence":      func(r *Row) { r.Sentence = "" },
		"a hidden const":   func(r *Row) { r.Const = "plus" },
		"a name twice":     func(r *Row) { r.Name = rows[Subtract].Name },
		"a constant twice": func(r *Row) { r.Const = rows[Subtract].Const },
		"a method twice":   func(r *Row) { r.Method = rows[Subtract].Method },
		"no operands":      func(r *Row) { r.Arity = 0 },
		"unknown operands": func(r *Row) { r.Takes = Bools + 1 },
		"no cost":          func(r *Row) { r.Nanos[3] = 0 },
		"a cost too many":  func(r *Row) { r.Op, r.Nanos = Hypot, Costs{0, 1, 1, 1, 0} },
		"a lone sign":      func(r *Row) { r.Sign = "+" },
		"a negative error": func(r *Row) { r.Units[0] = -1 },
	} {
		bad := good
		change(&bad)
		if found := faults([]Row{rows[Subtract], bad}); len(found) != 1 {
			t.Errorf("%s: found %q", what, found)
		}
	}
	if found := faults([]Row{rows[Subtract], good}); found != nil {
		t.Errorf("a good row: %q", found)
	}
}

// TestNumbersOfOperationsStay: plans that others have encoded name operations by them.
func TestNumbersOfOperationsStay(t *testing.T) {
	for number, name := range map[int]string{1: "add", 7: "power", 23: "equal", 32: "square", 42: "log1p", 55: "arctanh", 69: "multiply_add"} {
		if got := Op(number).String(); got != name {
			t.Errorf("operation %d is %s, and was %s", number, got, name)
		}
	}
}
