package plan

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
)

func encoded(t testing.TB, root *graph.Node) []byte {
	t.Helper()
	p, err := New(root, Target{Path: "o.npy"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecodeSaysWhoseAPlanIs(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "this is not a plan",
		"{}":                                   "this is not a plan",
		"[1, 2]":                               "this is not a plan",
		`{"engine": "gonbext-1", "new": true}`: "the plan was made by gonbext-1, and this is " + Engine + ": plan again",
		`{"engine": "` + Engine + `"}`:         "it has no output",
	} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Whatever was done to a plan, decoding and sizing it is an error or works, and takes
// memory by the length of its text.
func FuzzDecode(f *testing.F) {
	t := &testing.T{}
	x, y := file(t, "x.npy", dtype.Float32, 2000, 500), file(t, "y.npy", dtype.Float32, 500, 300)
	for _, root := range []*graph.Node{apply(t, kernel.Subtract, x, fold(t, kernel.Mean, x, 0)), node(t)(graph.Product(graph.Site{}, x, y)), roll(t, slice(t, x, "::-2"))} {
		b := encoded(f, root)
		f.Add(b)
		f.Add([]byte(strings.ReplaceAll(string(b), "500", "50000000000000")))
		f.Add([]byte(strings.ReplaceAll(string(b), "1", "-1")))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			return
		}
		_, _ = p.Size(options(64 * mebi))
		_ = p.String()
	})
}
