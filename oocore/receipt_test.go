package oocore_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// elsewhere copies a folder to another machine: one with a run log of its own.
func elsewhere(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	return to
}

// flip changes a bit of a file, and returns what takes that back.
func flip(t testing.TB, r *rand.Rand, file string) (bit int, back func()) {
	t.Helper()
	whole := testcases.ReadFile(t, file)
	bit = r.IntN(8 * len(whole))
	torn := bytes.Clone(whole)
	torn[bit/8] ^= 1 << (bit % 8)
	write := func(b []byte) {
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(torn)
	return bit, func() { write(whole) }
}

// filesOf are the files of an array, with what is in them.
func filesOf(t testing.TB, array string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(array, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all[path] = string(testcases.ReadFile(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// receiptCases are results of all kinds: in chunks, in shards, in one file, of one stage and of several, and of reductions.
var receiptCases = []struct {
	name, expression, to string
	parts                int
	opts                 []oocore.Option
}{
	{"chunks", "x*2 + 1", "out.zarr", 30, []oocore.Option{oocore.Chunks(10, 8)}},
	{"open chunks", "sqrt(x)", "out.zarr", 30, []oocore.Option{oocore.Chunks(10, 8), oocore.Codec("none")}},
	{"shards", "x + 1", "out.zarr", 6, []oocore.Option{oocore.Chunks(5, 8), oocore.Shards(20, 24)}},
	{"npy", "exp(-x)", "out.npy", 0, nil},
	{"raw", "transpose(x)", "out.bin?shape=48,50&dtype=float64", 0, nil},
	{"two stages", "x - mean(x, 0)", "out.zarr", 30, []oocore.Option{oocore.Chunks(10, 8)}},
	{"sums", "sum(x, 1)", "out.npy", 1, nil},
	{"one number", "std(x)", "out.zarr", 1, nil},
}

// Clean results are whole, computed anew they are the same, and a receipt says so on another machine too.
func TestReceiptsTellOfCleanResults(t *testing.T) {
	for _, c := range receiptCases {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GONBEXT_RUNS", t.TempDir())
			dir, ctx := t.TempDir(), t.Context()
			x, out, file := filepath.Join(dir, "in", "x.zarr"), filepath.Join(dir, c.to), filepath.Join(dir, "out.receipt")
			if err := os.Mkdir(filepath.Dir(x), 0o777); err != nil {
				t.Fatal(err)
			}
			saved(t, oocore.Random(oocore.Float64, 1, 50, 48), x, oocore.Chunks(10, 8))
			saved(t, oocore.Eval(c.expression, oocore.Names{"x": oocore.Open(x)}), out, append(c.opts, oocore.Receipt(file))...)
			check := func(path string, opts ...oocore.Option) {
				t.Helper()
				v, err := oocore.Recompute(ctx, path, 1, opts...)
				if err != nil || !v.Whole() || v.Recomputed != v.Chunks || c.parts > 0 && v.Chunks != c.parts || v.Trusted != (opts != nil) {
					t.Fatalf("%+v, %v", v, err)
				}
				few, err := oocore.Recompute(ctx, path, 0.1, opts...)
				if err != nil || !few.Whole() || few.Recomputed != max((v.Chunks+5)/10, 1) {
					t.Fatalf("%+v, %v", few, err)
				}
				before := filesOf(t, filepath.Dir(path))
				again, err := oocore.Repair(ctx, path, opts...)
				if err != nil || !again.Whole() || again.Repaired != nil {
					t.Errorf("%+v, %v", again, err)
				}
				if after := filesOf(t, filepath.Dir(path)); fmt.Sprint(before) != fmt.Sprint(after) {
					t.Error("a whole array was written to, or something else is left")
				}
			}
			check(out)
			other := elsewhere(t, dir)
			if _, err := oocore.Verify(ctx, filepath.Join(other, c.to)); err == nil {
				t.Fatal("there is a receipt on another machine")
			}
			there := oocore.Receipt(filepath.Join(other, "out.receipt"))
			check(filepath.Join(other, c.to), there)
			l, err := oocore.Why(ctx, filepath.Join(other, c.to), nil, there)
			if err != nil || l.Changed != "" || len(l.Inputs) != 1 || l.Inputs[0].Path != filepath.Join(other, "in", "x.zarr") || l.Inputs[0].Changed != "" {
				t.Errorf("%+v, %v", l, err)
			}
		})
	}
}

// pathOf is the file or folder of an array.
func pathOf(path string) string {
	file, _, _ := strings.Cut(path, "?")
	return file
}

// Bits that are changed anywhere in an array, or a part of it that is gone, are found and named; a repair brings the same
// bytes back, and touches nothing else. An input that has changed is named, and nothing is computed of it.
func TestRepairBringsBackWhatWasWritten(t *testing.T) {
	rounds := 3
	if testcases.Full() {
		rounds = 100
	}
	r := testcases.Rand(t)
	for _, c := range receiptCases {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GONBEXT_RUNS", t.TempDir())
			dir, ctx := t.TempDir(), t.Context()
			x, out := filepath.Join(dir, "x.zarr"), filepath.Join(dir, c.to)
			saved(t, oocore.Random(oocore.Float64, 1, 50, 48), x, oocore.Chunks(10, 8))
			saved(t, oocore.Eval(c.expression, oocore.Names{"x": oocore.Open(x)}), out, c.opts...)
			want := filesOf(t, pathOf(out))
			for range rounds {
				hit := map[string]bool{}
				for range 1 + r.IntN(3) {
					var names []string
					for name := range want {
						names = append(names, name)
					}
					slices.Sort(names)
					name := names[r.IntN(len(names))]
					if hit[name] = true; r.IntN(5) == 0 && len(want) > 1 && !hit["gone"] {
						hit["gone"] = true
						if err := os.Remove(name); err != nil {
							t.Fatal(err)
						}
					} else if _, err := os.Stat(name); err == nil {
						flip(t, r, name)
					}
				}
				torn := filesOf(t, pathOf(out))
				found, err := oocore.Verify(ctx, out)
				var ran oocore.Progress
				v, failed := oocore.Repair(ctx, out, oocore.OnProgress(func(p oocore.Progress) { ran = p }))
				if failed != nil && err != nil && strings.Contains(failed.Error(), "remove it") { // what cannot be recognised is not replaced
					if _, err := oocore.Verify(ctx, out); err == nil {
						t.Fatalf("%v damaged: %v", hit, failed)
					}
					putBack(t, want)
					continue
				}
				if failed != nil || len(v.Damaged) > 0 || v.Unknown > 0 || v.Details {
					t.Fatalf("%v damaged: %+v, %v", hit, v, failed)
				}
				got := filesOf(t, pathOf(out))
				if err == nil && found.Whole() { // nothing was to be done: bits of a codec's header, or of metadata, that mean nothing
					putBack(t, want)
					continue
				}
				for name := range want { // a bit of a codec's header that means nothing is not damage, and stays
					if got[name] != want[name] && (got[name] != torn[name] || !hit[name]) {
						t.Errorf("%v damaged: the repair left other bytes in %s", hit, name)
					}
				}
				if len(got) != len(want) {
					t.Errorf("%v damaged: the repair left %d files of %d", hit, len(got), len(want))
				}
				if err == nil && !found.Details && len(v.Repaired) != len(found.Damaged) {
					t.Errorf("%v damaged: %d found, %d computed again", hit, len(found.Damaged), len(v.Repaired))
				}
				if n := len(v.Repaired); c.parts > 1 && c.name != "two stages" && int(ran.Computed) != n {
					t.Errorf("%v damaged: %d computed again by %d tasks", hit, n, ran.Computed)
				}
				if again, err := oocore.Verify(ctx, out); err != nil || !again.Whole() {
					t.Errorf("%+v, %v", again, err)
				}
				putBack(t, want)
			}
			saved(t, oocore.Full(5.0, 1, 1), x, oocore.Region("3:4, 3:4"))
			first := slices.Sorted(maps.Keys(want))[0]
			if err := os.Truncate(first, int64(len(want[first])-1)); err != nil {
				t.Fatal(err)
			}
			before := filesOf(t, pathOf(out))
			if _, err := oocore.Repair(ctx, out); err == nil || !strings.Contains(err.Error(), x+" has changed since") {
				t.Error(err)
			}
			if after := filesOf(t, pathOf(out)); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Error("a repair that was rejected has written something")
			}
			putBack(t, want)
			if _, err := oocore.Recompute(ctx, out, 1); err == nil || !strings.Contains(err.Error(), x+" has changed since") {
				t.Error(err)
			}
		})
	}
}

// putBack writes files as they were.
func putBack(t testing.TB, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever bit of a receipt is changed, it is rejected: by verify, and by a repair, which leaves the array as it is.
func TestDamagedReceiptsAreRejected(t *testing.T) {
	rounds := 50
	if testcases.Full() {
		rounds = 1000
	}
	r := testcases.Rand(t)
	log, dir, ctx := t.TempDir(), t.TempDir(), t.Context()
	t.Setenv("GONBEXT_RUNS", log)
	out, file := filepath.Join(dir, "out.zarr"), filepath.Join(dir, "out.receipt")
	saved(t, oocore.Random(oocore.Float64, 1, 50, 48), out, oocore.Chunks(10, 8), oocore.Receipt(file))
	kept, err := filepath.Glob(filepath.Join(log, "outputs", "*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	want := filesOf(t, out)
	for _, c := range []struct {
		file string
		opts []oocore.Option
	}{{file, []oocore.Option{oocore.Receipt(file)}}, {kept[0], nil}} {
		for range rounds {
			bit, back := flip(t, r, c.file)
			if v, err := oocore.Verify(ctx, out, c.opts...); err == nil {
				t.Errorf("bit %d of %s: %+v", bit, filepath.Base(c.file), v)
			}
			if v, err := oocore.Repair(ctx, out, c.opts...); err == nil {
				t.Errorf("bit %d of %s: %+v", bit, filepath.Base(c.file), v)
			}
			back()
		}
		whole := testcases.ReadFile(t, c.file)
		for n := range min(len(whole), rounds) {
			if err := os.WriteFile(c.file, whole[:n*len(whole)/rounds], 0o666); err != nil {
				t.Fatal(err)
			}
			if v, err := oocore.Verify(ctx, out, c.opts...); err == nil {
				t.Errorf("%d bytes of %s: %+v", n*len(whole)/rounds, filepath.Base(c.file), v)
			}
		}
		if err := os.WriteFile(c.file, whole, 0o666); err != nil {
			t.Fatal(err)
		}
		if v, err := oocore.Verify(ctx, out, c.opts...); err != nil || !v.Whole() {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if got := filesOf(t, out); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error("the array was changed")
	}
}

// A receipt of another array, of the future, or that is none, is rejected by a sentence; of one whose data were changed together with it
// recomputing shows what it is.
func TestForeignReceipts(t *testing.T) {
	log, dir, ctx := t.TempDir(), t.TempDir(), t.Context()
	t.Setenv("GONBEXT_RUNS", log)
	at := func(name string) string { return filepath.Join(dir, name) }
	chunks := oocore.Chunks(10, 8)
	saved(t, oocore.Random(oocore.Float64, 1, 50, 48), at("x.zarr"), chunks)
	saved(t, oocore.Open(at("x.zarr")).Mul(2), at("y.zarr"), chunks, oocore.Receipt(at("y.receipt")))
	saved(t, oocore.Random(oocore.Float64, 1, 30, 48), at("other.zarr"), chunks, oocore.Receipt(at("other.receipt")))
	saved(t, oocore.Random(oocore.Float64, 2, 50, 48), at("z.zarr"), chunks)
	future := append([]byte("gonbext receipt 2, sha512 00\n{}\n"), testcases.ReadFile(t, at("y.receipt"))...)
	for name, text := range map[string][]byte{"future": future, "text": []byte("a text"), "empty": nil} {
		if err := os.WriteFile(at(name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, receipt, says string }{
		{"y.zarr", "other.receipt", "is the receipt of an array of shape (30, 48), and " + at("y.zarr") + " has (50, 48)"},
		{"y.zarr", "future", "the receipt was written by a later version of gonbext"},
		{"y.zarr", "text", "this is not a receipt"},
		{"y.zarr", "empty", "this is not a receipt"},
		{"y.zarr", "none", "no such file"},
		{"gone.zarr", "y.receipt", "gone.zarr"},
	} {
		if v, err := oocore.Verify(ctx, at(c.path), oocore.Receipt(at(c.receipt))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s by %s: %+v, %v, not %q", c.path, c.receipt, v, err, c.says)
		}
	}
	if v, err := oocore.Verify(ctx, at("z.zarr"), oocore.Receipt(at("y.receipt"))); err != nil || len(v.Damaged) != 30 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := oocore.Repair(ctx, at("z.zarr"), oocore.Receipt(at("y.receipt"))); err == nil || !strings.Contains(err.Error(), "is the receipt of "+at("y.zarr")) {
		t.Error(err)
	}
	for name, says := range map[string]string{"x.zarr": "x.zarr", "text": "is there, and is no receipt", "none/y.receipt": "none"} {
		if _, err := oocore.Open(at("x.zarr")).Add(1).Save(ctx, at("w.zarr"), oocore.Receipt(at(name))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("a receipt at %s: %v", name, err)
		}
	}
	if _, err := oocore.Open(at("x.zarr")).Sum().Save(ctx, at("x.zarr"), oocore.Region("0:1, 0:1"), oocore.Receipt(at("w.receipt"))); err == nil {
		t.Error("a receipt of a region")
	}
	// Elsewhere an input is another.
	there := elsewhere(t, dir)
	saved(t, oocore.Full(7.0, 1, 1), filepath.Join(there, "x.zarr"), oocore.Region("11:12, 9:10"))
	by := oocore.Receipt(filepath.Join(there, "y.receipt"))
	if v, err := oocore.Verify(ctx, filepath.Join(there, "y.zarr"), by); err != nil || !v.Whole() || !v.Trusted {
		t.Errorf("%+v, %v", v, err)
	}
	v, err := oocore.Recompute(ctx, filepath.Join(there, "y.zarr"), 1, by)
	if err != nil || v.Unknown != 1 || len(v.Damaged) != 0 || len(v.Changed) != 1 || v.Changed[0] != filepath.Join(there, "x.zarr") {
		t.Errorf("%+v, %v", v, err)
	}
	// Forged: other data, with the digests of these, under the name of an expression.
	t.Setenv("GONBEXT_RUNS", log)
	saved(t, oocore.Open(at("x.zarr")).Mul(3), at("y.zarr"), chunks, oocore.Receipt(at("three.receipt")))
	two, err := resultcache.Read(at("y.receipt"))
	if err != nil {
		t.Fatal(err)
	}
	if two.Plan, err = two.ReadPlan(); err != nil {
		t.Fatal(err)
	}
	three, err := resultcache.Read(at("three.receipt"))
	if err != nil {
		t.Fatal(err)
	}
	rest, err := three.Rest()
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Close()
	if err := resultcache.Write(at("forged.receipt"), two, func(w io.Writer) error { _, err := io.Copy(w, rest); return err }); err != nil {
		t.Fatal(err)
	}
	by = oocore.Receipt(at("forged.receipt"))
	if v, err := oocore.Verify(ctx, at("y.zarr"), by); err != nil || !v.Whole() || !v.Trusted {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := oocore.Recompute(ctx, at("y.zarr"), 1, by); err != nil || len(v.Damaged) != 30 || v.Recomputed != 30 || len(v.Changed) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if err := os.Truncate(filepath.Join(at("y.zarr"), "c", "1", "1"), 5); err != nil {
		t.Fatal(err)
	}
	if v, err := oocore.Repair(ctx, at("y.zarr"), by); err == nil || !strings.Contains(err.Error(), "chunk [10:20, 8:16] of "+at("y.zarr")+", computed anew, is not what the receipt tells") {
		t.Errorf("%+v, %v", v, err)
	}
}

// What a card says of an array follows from versions: whether it is as it was saved.
func TestCardsTellWhetherAnArrayIsAsItWasSaved(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir, ctx := t.TempDir(), t.Context()
	for _, name := range []string{"x.zarr", "x.npy"} {
		path := filepath.Join(dir, name)
		tell := func() string { return host.Receipt(ctx, oocore.Open(path)) }
		x := saved(t, oocore.Random(oocore.Float64, 1, 50, 48), path)
		if got := tell(); got != "verified" || host.Receipt(ctx, x) != got || host.Receipt(ctx, x.Add(1)) != "" {
			t.Errorf("%s, as it was saved: %q", name, got)
		}
		saved(t, oocore.Full(1.5, 1, 1), path, oocore.Region("0:1, 0:1"))
		if got := tell(); got != "changed since" {
			t.Errorf("%s, written to: %q", name, got)
		}
		if path = filepath.Join(elsewhere(t, dir), name); tell() != "no receipt" {
			t.Errorf("%s, elsewhere: %q", name, tell())
		}
	}
}
