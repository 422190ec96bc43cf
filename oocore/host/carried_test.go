package host_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/cluster"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/linalg"
)

// An array that has travelled computes what it did, has the same title, and is of the same fingerprint: saving it to
// the same place is a no-op.
func TestExpressionsTravel(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	x, err := oocore.FromSlice([]float32{4, 1, 9, 16, 25, 36}, 3, 2).Save(t.Context(), filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*oocore.Array{
		"stored": x, "made": oocore.FromSlice([]int64{1, 2}, 2), "sqrt": x.Sqrt(), "centred": x.Sub(x.Mean(0)), "weak": x.Add(1).Mul(2.5), "view": x.Transpose().Slice("::-1"),
		"sorted": x.Sort(0), "padded": x.Pad([][2]int{{1, 1}, {0, 0}}, oocore.PadOptions{}), "product": x.MatMul(x.Transpose()), "svd": linalg.SVDVals(x), "random": oocore.Random(oocore.Float32, 3, 4),
		"rechunked": x.Exp().Rechunk(2, 1), "arange": oocore.Arange(0, 5, 1), "index": x.Take(oocore.FromSlice([]int64{2, 0}, 2), 0),
	} {
		e, err := host.ExpressionOf(a)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b := e.Array()
		if b.String() != a.String() || !slices.Equal(a.Chunks(), b.Chunks()) {
			t.Errorf("%s is %s, %v", name, b, b.Chunks())
		}
		out := filepath.Join(dir, name+".out.npy")
		if _, err := a.Save(t.Context(), out); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var report oocore.RunReport
		if _, err := b.Save(t.Context(), out, oocore.Report(&report)); err != nil {
			t.Fatal(err)
		}
		if name != "stored" && report.Status != oocore.StatusSkipped {
			t.Errorf("%s is another expression: %s", name, report.Status)
		}
		if _, err := b.Save(t.Context(), out, oocore.Fresh()); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(out); !slices.Equal(got, want) {
			t.Errorf("%s computes other bytes", name)
		}
	}
}

func TestWhatDoesNotTravelSaysSo(t *testing.T) {
	dir := t.TempDir()
	x, err := oocore.FromSlice([]float32{4, 1}, 2).Save(t.Context(), filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	mapped := oocore.MapChunks(func(dst, src []float32, _ oocore.Block) error { copy(dst, src); return nil }, x, oocore.MapOptions{})
	if _, err := host.ExpressionOf(mapped.Add(1)); err == nil || !strings.Contains(err.Error(), "has a Go function") {
		t.Error(err)
	}
	if _, err := host.ExpressionOf(x.Add(oocore.FromSlice([]float32{1, 2, 3}, 3))); err == nil || !strings.Contains(err.Error(), "add") {
		t.Error(err)
	}
	e, err := host.ExpressionOf(x.Sqrt())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oocore.FromSlice([]float32{1, 2, 3}, 3).Save(t.Context(), filepath.Join(dir, "x.npy")); err != nil {
		t.Fatal(err)
	}
	if err := e.Array().Err(); err == nil || !strings.Contains(err.Error(), "x.npy has changed since it was opened") {
		t.Error(err)
	}
}

// A plan that has travelled has the figures and says the text that it had, also where it cannot be encoded.
func TestPlansTravel(t *testing.T) {
	x := oocore.Random(oocore.Float32, 300, 40)
	portable, err := x.Sub(x.Mean(0)).Plan(filepath.Join(t.TempDir(), "o.npy"), oocore.Memory("256MiB"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := oocore.FromSlice([]float32{1, 2}, 2).Sqrt().Plan("")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*oocore.Plan{portable, own} {
		var got oocore.Plan
		s, err := host.PlanOf(p)
		if err == nil {
			err = s.Restore(&got)
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, err = host.PlanOf(&got); err == nil { // again
			err = s.Restore(&got)
		}
		if err != nil || got.String() != p.String() || !reflect.DeepEqual(got.Stages, p.Stages) || got.Need != p.Need || got.Peak != p.Peak || got.Budget != p.Budget || got.Read != p.Read || got.Passes != p.Passes {
			t.Errorf("%v, %s\nwant %s", err, &got, p)
		}
		a, errA := got.Encode()
		b, errB := p.Encode()
		if !slices.Equal(a, b) || (errA == nil) != (errB == nil) || errA != nil && errA.Error() != errB.Error() {
			t.Errorf("Encode: %v, want %v", errA, errB)
		}
		if _, err := cluster.Scaling("slurm", &got, 2); err == nil {
			t.Error("a cluster plans what has no sizes")
		}
	}
	if _, err := host.PlanOf(nil); err == nil {
		t.Error("a nil plan travels")
	}
}
