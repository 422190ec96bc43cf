package contract_test

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
)

// arrays are of float64, of the given shapes.
func arrays(t *testing.T, shapes ...[]int) []*graph.Node {
	t.Helper()
	var all []*graph.Node
	for _, s := range shapes {
		n, err := graph.FromBytes(graph.Site{}, make([]byte, 8*grid.Size(s)), dtype.Float64, s...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// Each error names the operation, what is wrong, and the operands' shapes. NumPy rejects
// all of these too.
func TestEinsumRefuses(t *testing.T) {
	a, b, c := []int{2, 3}, []int{3, 4}, []int{2, 3, 4}
	for _, e := range []struct {
		subscripts string
		shapes     [][]int
		want       string
	}{
		{"ij,jk->il", [][]int{a, b}, `index l of the result of "ij,jk->il" is in no operand`},
		{"ij,jk->iik", [][]int{a, b}, `index i is twice in the result of "ij,jk->iik"`},
		{"ij,jk", [][]int{a}, `"ij,jk" names 2 operands, and 1 are given`},
		{"ij", [][]int{a, b}, `"ij" names 1 operands, and 2 are given`},
		{"ijk,jk", [][]int{a, b}, `operand 0 of "ijk,jk": "ijk" has 3 indices for 2 dimensions`},
		{"ij,jk->ik", [][]int{a, c}, `operand 1 of "ij,jk->ik": "jk" has 2 indices for 3 dimensions`},
		{"ij,jk->ik", [][]int{a, a}, `index j of "ij,jk->ik" has the length 3 in one operand and 2 in another`},
		{"ii", [][]int{a}, `index i of "ii" stands for axes of 2 and of 3 in operand 0`},
		{"ii", [][]int{{1, 3}}, `index i of "ii" stands for axes of 1 and of 3 in operand 0`},
		{"i...j...", [][]int{c}, `"." is no index: letters are, and one "..." of each operand`},
		{"i..j", [][]int{a}, `"." is no index`},
		{"i1->i", [][]int{a}, `"1" is no index`},
		{"ij->i->j", [][]int{a}, `the result of "ij->i->j": "-" is no index`},
		{"...ij->ij", [][]int{c}, `the result of "...ij->ij" has no "...", whose axes are not summed: write "...ij"`},
		{"...ij->...ji...", [][]int{c}, `the result of "...ij->...ji...": "." is no index`},
		{"...i,...i->...", [][]int{c, {5, 3, 4}}, `index ... of "...i,...i->..." has the length 2 in one operand and 5 in another`},
	} {
		in := arrays(t, e.shapes...)
		var shapes []string
		for _, s := range e.shapes {
			shapes = append(shapes, grid.Format(s))
		}
		of := "of shapes " + strings.Join(shapes, " and ")
		_, err := contract.Einsum(graph.Site{}, contract.EinsumArgs{Subscripts: e.subscripts, Operands: in})
		_, ofPath := contract.Path(graph.Site{}, e.subscripts, in...)
		for name, err := range map[string]error{"einsum: ": err, "einsum_path: ": ofPath} {
			if err == nil {
				t.Errorf("%s is computed of %v", e.subscripts, e.shapes)
			} else if s := err.Error(); !strings.HasPrefix(s, name) || !strings.Contains(s, e.want) || !strings.Contains(s, of) {
				t.Errorf("%s of %v: %v", e.subscripts, e.shapes, err)
			}
		}
	}
}

func TestTensordotRefuses(t *testing.T) {
	for _, e := range []struct {
		a, b         []int
		axesA, axesB []int
		want         string
	}{
		{[]int{2, 3}, []int{3, 4}, []int{0}, []int{0}, "axis 0 of the first has the length 2, and axis 0 of the second 3"},
		{[]int{2, 3}, []int{3, 4}, []int{1}, []int{0, 1}, "1 axes of the first meet 2 of the second"},
		{[]int{2, 3}, []int{3, 4}, []int{5}, []int{0}, "axis 5 is out of bounds for array of dimension 2"},
		{[]int{2, 3}, []int{3, 3}, []int{1, 1}, []int{0, 1}, "axis 1 of the first is named twice"},
		{[]int{3, 3}, []int{2, 3}, []int{0, 1}, []int{1, 1}, "axis 1 of the second is named twice"},
	} {
		in := arrays(t, e.a, e.b)
		_, err := contract.Tensordot(graph.Site{}, in[0], in[1], e.axesA, e.axesB)
		of := "of shapes " + grid.Format(e.a) + " and " + grid.Format(e.b)
		if err == nil || !strings.HasPrefix(err.Error(), "tensordot: "+e.want) || !strings.Contains(err.Error(), of) {
			t.Errorf("%v along %v of %v and %v of %v: %v", e.want, e.axesA, e.a, e.axesB, e.b, err)
		}
	}
}

// Axes that are summed move no operand as long as products along one of them are worth
// their while.
func TestTensordotMovesNothing(t *testing.T) {
	for _, e := range []struct {
		a, b         []int
		axesA, axesB []int
		moves        bool
	}{
		{[]int{5, 60, 40}, []int{5, 70, 40}, []int{0, 2}, []int{0, 2}, false},
		{[]int{5, 40, 60}, []int{40, 5, 70}, []int{0, 1}, []int{1, 0}, false},
		{[]int{5, 60, 4}, []int{5, 70, 4}, []int{0, 2}, []int{0, 2}, true},       // short runs
		{[]int{5, 6, 40}, []int{5, 70, 40}, []int{0, 2}, []int{0, 2}, true},      // small matrices
		{[]int{40, 60, 5}, []int{40, 70, 5}, []int{0, 2}, []int{0, 2}, true},     // whose elements lie apart
		{[]int{5, 60, 40}, []int{40, 70, 5}, []int{0, 2}, []int{2, 0}, true},     // in one operand
		{[]int{60, 5, 40, 70}, []int{5, 40, 30}, []int{1, 2}, []int{0, 1}, true}, // rows lie apart
	} {
		in := arrays(t, e.a, e.b)
		n, err := contract.Tensordot(graph.Site{}, in[0], in[1], e.axesA, e.axesB)
		if err != nil {
			t.Fatal(err)
		}
		if moves := strings.Contains(n.String(), "reshape("); moves != e.moves {
			t.Errorf("%v by %v along %v and %v is %s", e.a, e.b, e.axesA, e.axesB, n)
		}
	}
}

// The order is the one that moves the fewest bytes, whichever way the operands are
// written, and its figures are those of the operands.
func TestPath(t *testing.T) {
	for _, e := range []struct {
		subscripts string
		shapes     [][]int
		want       string
	}{
		// (1000×2·2×1000)·1000×2 would write 8 MB between.
		{"ij,jk,kl->il", [][]int{{1000, 2}, {2, 1000}, {1000, 2}}, "jk,kl->jl: 32000 bytes read, 32 written\nij,jl->il: 16032 bytes read, 16000 written\n"},
		{"ij,jk,kl->il", [][]int{{2, 1000}, {1000, 2}, {2, 1000}}, "ij,jk->ik: 32000 bytes read, 32 written\nkl,ik->li: 16032 bytes read, 16000 written\n"},
		{"ij,jk->ik", [][]int{{2, 3}, {3, 4}}, "ij,jk->ik: 144 bytes read, 64 written\n"},
		{"...ij,...jk->...ik", [][]int{{5, 2, 3}, {5, 3, 4}}, "...ij,...jk->...ik: 720 bytes read, 320 written\n"},
		{"ij->i", [][]int{{2, 3}}, ""},
	} {
		got, err := contract.Path(graph.Site{}, e.subscripts, arrays(t, e.shapes...)...)
		if err != nil || got != e.want {
			t.Errorf("%s of %v: %v\n%swant\n%s", e.subscripts, e.shapes, err, got, e.want)
		}
	}
}
