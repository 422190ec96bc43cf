package plan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/fft"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
	"github.com/gonbext/gonbext/oocore/store"
)

// The fingerprints of the release before revisions, whose results stay.
func TestFingerprintsAreThoseOfTheRelease(t *testing.T) {
	x := graphtest.File(t, "/data/x.npy", dtype.Float32, 3000, 700)
	y := graphtest.File(t, "/data/y.npy", dtype.Int16, 700, 300)
	id := storage.Version{File: store.FileVersion{Size: 8400128, ModTime: time.Unix(1e9, 7).UTC(), ChangeTime: time.Unix(1e9, 9).UTC(), Device: 5, Inode: 77}, Checksum: "ab"}
	for i, c := range []struct {
		root *graph.Node
		want string
	}{
		{graphtest.Apply(t, kernel.Sqrt, x), `{"engine":"gonbext-7e2f50edf8c0","arithmetic":"","output":"a1766b461dadfab44a4cfe16e9b807e1","inputs":"54985bfe3c25dcd0b7eb7faaecd8feb4","expression":"5534fc500247bbe2786e0e8b2eb2be83"}`},
		{graphtest.Apply(t, kernel.Subtract, x, graphtest.Fold(t, kernel.Mean, x, 0)), `{"engine":"gonbext-7e2f50edf8c0","arithmetic":"","output":"a1766b461dadfab44a4cfe16e9b807e1","inputs":"54985bfe3c25dcd0b7eb7faaecd8feb4","expression":"a33d157eb62c64a9e15e5ff615065678"}`},
		{graphtest.Node(t)(graph.Product(graph.Site{}, y, graphtest.Node(t)(graph.Transpose(graph.Site{}, y)))), `{"engine":"gonbext-7e2f50edf8c0","arithmetic":"","output":"718cb41f23ea6373f86022cf39d4d0b2","inputs":"b1bbad9861a745c7df32f15ae4604a86","expression":"7b343ca7f4ff54774907d0437794116a"}`},
		{graphtest.Fold(t, kernel.Sum, graphtest.Node(t)(order.Sort(graph.Site{}, order.SortArgs{X: y, Axis: 0})), 1), `{"engine":"gonbext-7e2f50edf8c0","arithmetic":"","output":"6a1a01d60e40a103b8c70cead99ad053","inputs":"b1bbad9861a745c7df32f15ae4604a86","expression":"345a09f8b7660b350ab5309767138f5f"}`},
		{graphtest.Node(t)(fft.Along(graph.Site{}, fft.RealForward, x, 0, 0, "")), `{"engine":"gonbext-7e2f50edf8c0","arithmetic":"","output":"f7e1225c80595743c68c6f01dd2169ae","inputs":"54985bfe3c25dcd0b7eb7faaecd8feb4","expression":"0268983b52b0fed71ea6c4b71afd3cad"}`},
	} {
		p, err := compile.New(c.root, compile.Target{Path: "/data/o.zarr"})
		if err != nil {
			t.Fatal(err)
		}
		inputs := map[int]storage.Version{}
		for i := range p.Arrays {
			if p.Arrays[i].Place == plan.InFile {
				inputs[i] = id
			}
		}
		f := p.Fingerprint("v", inputs)
		f.Arithmetic = "" // of this machine
		got, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.want {
			t.Errorf("%d: %s, the release has %s", i, got, c.want)
		}
	}
}

// revise sets the revisions of a test.
func revise(t *testing.T, to map[string]int) {
	t.Helper()
	t.Cleanup(plan.Revise(to))
}

func TestRevisionChangesFingerprintsOfWhatUsesItOnly(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 3000, 700)
	sine := graphtest.Apply(t, kernel.Sin, x)
	for name, c := range map[string]struct{ with, without *graph.Node }{
		"sin":        {graphtest.Fold(t, kernel.Max, sine, 0), graphtest.Fold(t, kernel.Max, x, 0)},
		"sum":        {graphtest.Fold(t, kernel.Sum, x, 0), graphtest.Fold(t, kernel.Mean, x, 0)},
		"merge":      {graphtest.Fold(t, kernel.Sum, x, 0), sine},
		"cast":       {graphtest.Node(t)(graph.AsType(graph.Site{}, x, dtype.Int8)), sine},
		"matmul":     {graphtest.Node(t)(graph.Product(graph.Site{}, x, graphtest.Node(t)(graph.Transpose(graph.Site{}, x)))), sine},
		"fft":        {graphtest.Node(t)(fft.Along(graph.Site{}, fft.RealForward, sine, 0, 0, "")), sine},
		"sort_lines": {graphtest.Node(t)(order.Sort(graph.Site{}, order.SortArgs{X: x, Axis: 0})), sine},
	} {
		of := func(root *graph.Node) plan.Fingerprint {
			p, err := compile.New(root, compile.Target{Path: "o.npy"})
			if err != nil {
				t.Fatal(err)
			}
			return p.Fingerprint("", nil)
		}
		revise(t, nil)
		with, without := of(c.with), of(c.without)
		revise(t, map[string]int{name: 2})
		if got, want := of(c.with).Difference(with), "it was begun by an earlier version of gonbext, whose "+name+" was another"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if got := of(c.without).Difference(without); got != "" {
			t.Errorf("%s: what does not use it is computed again: %s", name, got)
		}
		if got := with.Difference(of(c.with)); got == "" {
			t.Errorf("%s: the revision after it is taken for it", name)
		}
	}
}

func TestDifferenceOfRevisions(t *testing.T) {
	revise(t, map[string]int{"sin": 3})
	for earlier, want := range map[string]string{
		plan.FirstRevisions + ", sin 3":          "",
		plan.FirstRevisions:                      "it was begun by an earlier version of gonbext, whose sin was another",
		plan.FirstRevisions + ", sin 2":          "it was begun by an earlier version of gonbext, whose sin was another",
		plan.FirstRevisions + ", sin 4":          "it was begun by a later version of gonbext",
		plan.FirstRevisions + ", bessel 2":       "it was begun by a later version of gonbext",
		plan.FirstRevisions + ", sin":            "it was begun by another version of gonbext",
		plan.FirstRevisions + ", sin 3, x y 1, ": "it was begun by another version of gonbext",
		"gonbext-000000000000":                   "it was begun by another version of gonbext",
		"":                                       "it was begun by another version of gonbext",
	} {
		if got := plan.RevisionDifference(plan.FirstRevisions+", sin 3", earlier); got != want {
			t.Errorf("%q: %q, want %q", earlier, got, want)
		}
	}
}

func TestDecodeRejectsPlanOfOtherRevisions(t *testing.T) {
	b := encoded(t, graphtest.Apply(t, kernel.Sin, graphtest.File(t, "x.npy", dtype.Float32, 20, 500)))
	revise(t, map[string]int{"sin": 2})
	if _, err := plan.Decode(b); err == nil || !strings.Contains(err.Error(), "earlier version of gonbext, whose sin was another: plan again") {
		t.Errorf("the plan of an earlier revision gives %v", err)
	}
}
