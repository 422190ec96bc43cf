package oocore_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// chunkFiles are the files of a Zarr array, without its metadata.
func chunkFiles(t testing.TB, array string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.Walk(array, func(path string, st os.FileInfo, err error) error {
		if err != nil || st.IsDir() || st.Name() == "zarr.json" {
			return err
		}
		all[strings.TrimPrefix(path, array)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// An expression that is saved again after regions of its inputs have changed computes the tasks that read
// them, and no other: with the bytes of a run that computes all.
func TestOnlyWhatChangedIsComputed(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	// Each chunk of x, of 10 × 8 in 5 × 6 chunks, is read by so many tasks of the expression at the most.
	for _, c := range []struct {
		expression string
		tasks      int
	}{
		{"sqrt(x) + y", 1},
		{"where(x > 0.5, x, 2*y)", 1},
		{"transpose(x, 1, 0)", 6},
		{"gaussian_filter(x, 0.5)", 9},
		{`slice(x, "::-1") * 2`, 1},
		{"pad(x, 1)", 4},
		{"concatenate(x, y, 0)", 1},
		{`take(x, astype(floor(slice(y, ":, 0") * 50), "int64"), 0)`, 30},
	} {
		for _, codec := range []string{"zstd", "none"} { // of chunks that are written whole, and in place
			t.Run(c.expression+", "+codec, func(t *testing.T) {
				seed := rand.Uint64()
				t.Log("seed", seed)
				r := rand.New(rand.NewPCG(seed, 0))
				dir, ctx := t.TempDir(), t.Context()
				chunks := oocore.Chunks(10, 8)
				for i, name := range []string{"x", "y"} {
					if _, err := oocore.Random(oocore.Float32, uint64(i), 50, 48).Save(ctx, filepath.Join(dir, name+".zarr"), chunks); err != nil {
						t.Fatal(err)
					}
				}
				save := func(to string, opts ...oocore.Option) (ran oocore.RunReport) {
					names := oocore.Names{"x": oocore.Open(filepath.Join(dir, "x.zarr")), "y": oocore.Open(filepath.Join(dir, "y.zarr"))}
					opts = append(opts, chunks, oocore.Codec(codec), oocore.Report(&ran))
					if _, err := oocore.Eval(c.expression, names).Save(ctx, filepath.Join(dir, to), opts...); err != nil {
						t.Fatal(err)
					}
					return ran
				}
				save("out.zarr")
				for round := range 3 { // of an update of an update
					touched := map[string]bool{}
					for range 1 + r.IntN(2) {
						name := []string{"x", "y"}[r.IntN(2)]
						row, column := r.IntN(50), r.IntN(48)
						value := r.Float32()
						region := oocore.Region(fmt.Sprintf("%d:%d, %d:%d", row, row+1, column, column+1))
						if _, err := oocore.Full(value, 1, 1).Save(ctx, filepath.Join(dir, name+".zarr"), region); err != nil {
							t.Fatal(err)
						}
						touched[fmt.Sprint(name, row/10, column/8)] = true
					}
					before := chunkFiles(t, filepath.Join(dir, "out.zarr"))
					ran := save("out.zarr")
					whole := save(fmt.Sprintf("whole-%d.zarr", round), oocore.Fresh())
					got, want := chunkFiles(t, filepath.Join(dir, "out.zarr")), chunkFiles(t, filepath.Join(dir, fmt.Sprintf("whole-%d.zarr", round)))
					differ := 0
					for name, bytesOf := range want {
						if !bytes.Equal(got[name], bytesOf) {
							t.Errorf("round %d: chunk %s has other bytes than after a whole run", round, name)
						}
						if !bytes.Equal(before[name], bytesOf) {
							differ++
						}
					}
					if len(got) != len(want) {
						t.Errorf("round %d: %d chunks, want %d", round, len(got), len(want))
					}
					if n := int(ran.Computed); n < differ || n > c.tasks*len(touched) || ran.Computed+ran.Skipped != whole.Computed {
						t.Errorf("round %d: %d tasks of %d computed, %d skipped: %d of the result's chunks differ, %d of the inputs' were written to", round, n, whole.Computed, ran.Skipped, differ, len(touched))
					}
				}
			})
		}
	}
}
