package oocore_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/cluster"
)

// centredOutputs are a mean of columns, what is left without it, and what that is squared.
func centredOutputs(x *oocore.Array, dir string) []oocore.Output {
	mean := x.Mean(0)
	centred := x.Sub(mean)
	return []oocore.Output{
		{Array: mean, Path: filepath.Join(dir, "mean.npy")},
		{Array: centred, Path: filepath.Join(dir, "centred.zarr"), Options: []oocore.Option{oocore.Chunks(16, 512), oocore.Codec("none")}},
		{Array: centred.Mul(centred), Path: filepath.Join(dir, "squares.npy")},
	}
}

func TestSaveAllComputesWhatIsSharedOnce(t *testing.T) {
	const rows = 64
	x, dir := counted(t, rows), t.TempDir()
	var r oocore.RunReport
	all, err := oocore.SaveAll(t.Context(), centredOutputs(x, dir), oocore.Memory("256MiB"), oocore.Report(&r))
	if err != nil {
		t.Fatal(err)
	}
	// Column j holds j, j+512, …: its mean is j + 512·63/2, and row i is 512·(i-63/2) off it.
	mean, centred, squares := collect[float64](t, all[0]), collect[float64](t, all[1]), collect[float64](t, all[2])
	for j, v := range mean {
		if v != float64(j)+512*(rows-1)/2.0 {
			t.Fatalf("the mean of column %d is %v", j, v)
		}
	}
	for k, v := range centred {
		if want := 512 * (float64(k/512) - (rows-1)/2.0); v != want || squares[k] != want*want {
			t.Fatalf("element %d is %v, squared %v, want %v", k, v, squares[k], want)
		}
	}
	if !slices.Equal(all[1].Chunks(), []int{16, 512}) {
		t.Errorf("chunks are %v", all[1].Chunks())
	}
	const bytes = rows * 512 * 8
	if r.Read != 3*bytes || r.Written != 2*bytes+512*8 || r.MeasuredPeak > r.PredictedPeak {
		t.Errorf("read %d, written %d bytes of an array of %d; report %+v", r.Read, r.Written, bytes, r)
	}
	if _, err := oocore.SaveAll(t.Context(), centredOutputs(x, dir), oocore.Report(&r)); err != nil || r.Status != oocore.StatusSkipped {
		t.Errorf("the same again: %v, %+v", err, r)
	}
	if err := os.Remove(filepath.Join(dir, "mean.npy")); err != nil {
		t.Fatal(err)
	}
	if _, err := oocore.SaveAll(t.Context(), centredOutputs(x, dir), oocore.Report(&r)); err != nil || r.Status != oocore.StatusDone {
		t.Errorf("with an output missing: %v, %+v", err, r)
	}
}

func TestSaveAllReadsOnceForReductionsOfOneArray(t *testing.T) {
	x, dir := counted(t, 64), t.TempDir()
	var r oocore.RunReport
	all, err := oocore.SaveAll(t.Context(), []oocore.Output{
		{Array: x.Max(0), Path: filepath.Join(dir, "max.npy")},
		{Array: x.Min(0), Path: filepath.Join(dir, "min.zarr")},
		{Array: x.Sum(0), Path: filepath.Join(dir, "sum.npz") + "#sum"},
		{Array: x.Max(0), Path: filepath.Join(dir, "again.npy")},
	}, oocore.Report(&r))
	if err != nil {
		t.Fatal(err)
	}
	if r.Read != 64*512*8 {
		t.Errorf("it reads %d bytes of %d", r.Read, 64*512*8)
	}
	for k, want := range []float64{63 * 512, 0, 512 * 63 * 64 / 2, 63 * 512} {
		if v := collect[float64](t, all[k]); v[0] != want || len(v) != 512 {
			t.Errorf("output %d begins with %v, want %v", k, v[0], want)
		}
	}
}

// A copy, what is read elsewhere, and a product, each beside what reads them.
func TestSaveAllOfOutputsThatReadEachOther(t *testing.T) {
	x, dir := counted(t, 32), t.TempDir()
	product := x.MatMul(x.Transpose())
	sorted := x.Sort(0)
	all, err := oocore.SaveAll(t.Context(), []oocore.Output{
		{Array: x, Path: filepath.Join(dir, "copy.npy")},
		{Array: product, Path: filepath.Join(dir, "product.npy")},
		{Array: product.Sum(), Path: filepath.Join(dir, "sum.npy")},
		{Array: sorted, Path: filepath.Join(dir, "sorted.zarr")},
		{Array: sorted.Add(x), Path: filepath.Join(dir, "both.npy")},
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	in, out, p := collect[float64](t, x), collect[float64](t, all[0]), collect[float64](t, all[1])
	for i := range 32 {
		for j := range 32 {
			want := 0.0
			for k := range 512 {
				want += in[i*512+k] * in[j*512+k]
			}
			if got := p[i*32+j]; math.Abs(got-want) > 1e-12*want {
				t.Fatalf("element %d, %d of the product is %v, want %v", i, j, got, want)
			}
			sum += want
		}
	}
	if got := collect[float64](t, all[2])[0]; math.Abs(got-sum) > 1e-12*sum {
		t.Errorf("its sum is %v, want %v", got, sum)
	}
	for k, v := range collect[float64](t, all[4]) { // the columns are sorted already
		if v != 2*in[k] || out[k] != in[k] {
			t.Fatalf("element %d is %v and %v of %v", k, v, out[k], in[k])
		}
	}
}

// What ends a run when all is in its place is too late.
func TestSaveThatIsEndedTooLateHasSaved(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	x, err := oocore.Arange(0, 1000, 1).Save(ctx, filepath.Join(t.TempDir(), "x.zarr"), oocore.OnProgress(func(p oocore.Progress) {
		if p.Computed == p.Chunks {
			cancel()
		}
	}))
	if err != nil || ctx.Err() == nil || !slices.Equal(x.Shape(), []int{1000}) {
		t.Error(err, ctx.Err())
	}
}

func TestSaveAllResumesAfterItWasCancelled(t *testing.T) {
	x, dir := counted(t, 4096), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	slow := func(a *oocore.Array) *oocore.Array { return a.Sin().Tanh().Exp().Sin().Tanh() }
	outputs := []oocore.Output{
		{Array: slow(x), Path: filepath.Join(dir, "a.npy")},
		{Array: slow(x.Add(1)), Path: filepath.Join(dir, "b.zarr"), Options: []oocore.Option{oocore.Chunks(16, 512)}},
	}
	want := collect[float64](t, slow(x.Add(1)))
	_, err := oocore.SaveAll(ctx, outputs, oocore.Memory("64MiB"), oocore.Workers(1), oocore.OnProgress(func(p oocore.Progress) {
		if p.Stage == 2 && p.Computed > 20 {
			cancel()
		}
	}))
	if err != nil {
		for _, out := range outputs {
			if _, failed := os.Stat(out.Path); failed == nil {
				t.Errorf("%s is there", out.Path)
			}
		}
	}
	var r oocore.RunReport
	all, err := oocore.SaveAll(t.Context(), outputs, oocore.Report(&r))
	if err != nil {
		t.Fatal(err)
	}
	if got := collect[float64](t, all[1]); !slices.Equal(got, want) {
		t.Error("the resumed output is another")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	t.Logf("%d of %d chunks were resumed", r.Skipped, r.Chunks)
}

// unfinishedOutputs returns two outputs in a folder whose run has failed when all but the
// last block of the second was done, and a function that lets the next run end well.
func unfinishedOutputs(t *testing.T, dir string) (outputs []oocore.Output, mend func()) {
	t.Helper()
	x := counted(t, 4096)
	fails := true
	last := oocore.MapChunks(func(dst, src []float64, at oocore.Block) error {
		if copy(dst, src); fails && slices.Contains(src, 4096*512-1) {
			return errors.New("the last block fails")
		}
		return nil
	}, x, oocore.MapOptions{})
	outputs = []oocore.Output{
		{Array: x.Sin(), Path: filepath.Join(dir, "a.npy")},
		{Array: last, Path: filepath.Join(dir, "b.zarr"), Options: []oocore.Option{oocore.Chunks(16, 512)}},
	}
	_, err := oocore.SaveAll(t.Context(), outputs, oocore.Version("1"), oocore.Workers(1))
	if left := stagingFolders(t, dir); err == nil || len(left) != 2 {
		t.Fatalf("the run that fails leaves %v, %v", left, err)
	}
	return outputs, func() { fails = false }
}

// stagingFolders are the names of the hidden folders in a folder.
func stagingFolders(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// The folders of an unfinished run lie there again when its outputs are in their places, as
// after a kill between that and their removal.
func TestSaveAllOfWholeOutputsRemovesTheFoldersOfAll(t *testing.T) {
	dir, aside := t.TempDir(), t.TempDir()
	outputs, mend := unfinishedOutputs(t, dir)
	left := stagingFolders(t, dir)
	for _, name := range left {
		if err := os.Rename(name, filepath.Join(aside, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	mend()
	var r oocore.RunReport
	for _, want := range []string{oocore.StatusDone, oocore.StatusSkipped} {
		if _, err := oocore.SaveAll(t.Context(), outputs, oocore.Version("1"), oocore.Report(&r)); err != nil || r.Status != want {
			t.Fatalf("%v, %+v", err, r)
		}
		for _, name := range left {
			if err := os.Rename(filepath.Join(aside, filepath.Base(name)), name); want == oocore.StatusDone && err != nil {
				t.Fatal(err)
			}
		}
	}
	if left := stagingFolders(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Another run of the first output drops the checkpoint that the second one's folder needs;
// but not where somebody has begun to save there since.
func TestSaveOfAnotherArrayRemovesTheFoldersOfASaveAll(t *testing.T) {
	for name, begun := range map[string]bool{"the run's own": false, "begun again": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			outputs, _ := unfinishedOutputs(t, dir)
			if begun {
				if _, err := outputs[1].Array.Add(1).Save(t.Context(), outputs[1].Path, oocore.Version("1"), oocore.Workers(1), oocore.Chunks(16, 512)); err == nil {
					t.Fatal("the last block does not fail")
				}
			}
			saved(t, oocore.Zeros(oocore.Float64, 3), outputs[0].Path)
			if left := stagingFolders(t, dir); begun != (len(left) == 1) {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// The array that is in the place of a later output is saved there again, which does nothing: the
// unfinished run of both outputs can resume all the same.
func TestSaveOfWhatIsThereLeavesTheFoldersOfASaveAll(t *testing.T) {
	dir := t.TempDir()
	var r oocore.RunReport
	save := func() {
		t.Helper()
		saved(t, oocore.Zeros(oocore.Float64, 3), filepath.Join(dir, "b.zarr"), oocore.Report(&r))
	}
	save()
	unfinishedOutputs(t, dir)
	if save(); r.Status != oocore.StatusSkipped {
		t.Fatalf("the same again: %+v", r)
	}
	if left := stagingFolders(t, dir); len(left) != 2 {
		t.Errorf("of the unfinished run there is %v", left)
	}
}

func TestSaveAllWritesRegionsOfSeveralArrays(t *testing.T) {
	x, dir := counted(t, 16), t.TempDir()
	whole, other := filepath.Join(dir, "whole.zarr"), filepath.Join(dir, "other.npy")
	for path, opts := range map[string][]oocore.Option{whole: {oocore.Chunks(8, 512)}, other: nil} {
		saved(t, oocore.Zeros(oocore.Float64, 64, 512), path, opts...)
	}
	outputs := []oocore.Output{
		{Array: x, Path: whole, Options: []oocore.Option{oocore.Region("16:32")}},
		{Array: x.Neg(), Path: other, Options: []oocore.Option{oocore.Region("48:")}},
		{Array: x.Sum(), Path: filepath.Join(dir, "sum.npy")},
	}
	var r oocore.RunReport
	all, err := oocore.SaveAll(t.Context(), outputs, oocore.Report(&r))
	if err != nil {
		t.Fatal(err)
	}
	first, second := collect[float64](t, all[0]), collect[float64](t, all[1])
	for k := range 64 * 512 {
		row, wantFirst, wantSecond := k/512, 0.0, 0.0
		if row >= 16 && row < 32 {
			wantFirst = float64(k - 16*512)
		}
		if row >= 48 {
			wantSecond = -float64(k - 48*512)
		}
		if first[k] != wantFirst || second[k] != wantSecond {
			t.Fatalf("element %d is %v and %v, want %v and %v", k, first[k], second[k], wantFirst, wantSecond)
		}
	}
	if sum := collect[float64](t, all[2])[0]; sum != 16*512*(16*512-1)/2 {
		t.Errorf("the sum is %v", sum)
	}
	if _, err := oocore.SaveAll(t.Context(), outputs, oocore.Report(&r)); err != nil || r.Status != oocore.StatusSkipped {
		t.Errorf("the same again: %v, %+v", err, r)
	}
	outputs[1].Options = []oocore.Option{oocore.Region("0:16")}
	if _, err := oocore.SaveAll(t.Context(), outputs, oocore.Report(&r)); err != nil || r.Status != oocore.StatusDone {
		t.Errorf("another region: %v, %+v", err, r)
	}
}

func TestSaveAllRejects(t *testing.T) {
	x, dir := counted(t, 16), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	slurm, err := cluster.On("slurm", cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, says string
		outputs    []oocore.Output
		opts       []oocore.Option
	}{
		{"nothing", "no outputs", nil, nil},
		{"no path", "no path", []oocore.Output{{Array: x}}, nil},
		{"no array", "Array is nil", []oocore.Output{{Path: at("a.npy")}}, nil},
		{"one file twice", "one file", []oocore.Output{{Array: x, Path: at("a.npy")}, {Array: x.Add(1), Path: at("./a.npy")}}, nil},
		{"a member twice", "one file", []oocore.Output{{Array: x, Path: at("a.npz#a")}, {Array: x.Add(1), Path: at("a.npz#a")}}, nil},
		{"one in the other", "one file or folder", []oocore.Output{{Array: x, Path: at("a.zarr")}, {Array: x.Add(1), Path: at("a.zarr/b")}}, nil},
		{"an input of another output", "also an input", nil, nil},
		{"an error of an operation", "shape", []oocore.Output{{Array: x, Path: at("a.npy")}, {Array: x.Reshape(7), Path: at("b.npy")}}, nil},
		{"a budget of one output", "give those of the run", []oocore.Output{{Array: x, Path: at("a.npy"), Options: []oocore.Option{oocore.Memory("1GiB")}}}, nil},
		{"a size of files of one output", "give those of the run", []oocore.Output{{Array: x, Path: at("a.npz#a"), Options: []oocore.Option{oocore.ShardSize("1GiB")}}}, nil},
		{"a cluster of one output", "give those of the run", []oocore.Output{{Array: x, Path: at("a.npy"), Options: []oocore.Option{slurm}}}, nil},
		{"a region where there is no array", "no such file", []oocore.Output{{Array: x, Path: at("a.npy")}, {Array: x, Path: at("b.npy")}}, []oocore.Option{oocore.Region("0:1")}},
		{"no memory", "budget", []oocore.Output{{Array: x, Path: at("a.npy")}, {Array: x, Path: at("b.npy")}}, []oocore.Option{oocore.Memory("1MiB")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			outputs := c.outputs
			if c.name == "an input of another output" {
				y := saved(t, x, at("y.npy"))
				outputs = []oocore.Output{{Array: y.Add(1), Path: at("a.npy")}, {Array: x, Path: at("y.npy")}}
			}
			_, err := oocore.SaveAll(t.Context(), outputs, c.opts...)
			if _, ok := errors.AsType[*oocore.Error](err); !ok || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if _, err := os.Stat(at("a.npy")); err == nil {
				t.Error("a.npy is there")
			}
		})
	}
}
