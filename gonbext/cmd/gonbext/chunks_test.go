package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// A conversion to the chunks of declared reads has those that the command proposes, and the elements of the source.
func TestChunksAreProposedAndWritten(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(200, 120, 100)", 2_400_000)
	if err := os.WriteFile(filepath.Join(dir, "reads.txt"), []byte("100 :x1x1 # series\n1 1x:x:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, dir, "convert", "x.npy", "maps.zarr", "--chunks", "1x120x100")
	var told struct {
		Chunks, Shards []int
		Candidates     []struct {
			Chunks []int
			Bytes  float64
			Reads  []struct{ Bytes, Requests float64 }
		}
	}
	if err := json.Unmarshal([]byte(succeed(t, dir, "chunks", "maps.zarr", "--reads", "reads.txt", "--json")), &told); err != nil {
		t.Fatal(err)
	}
	maps := slices.IndexFunc(told.Candidates, func(c struct {
		Chunks []int
		Bytes  float64
		Reads  []struct{ Bytes, Requests float64 }
	}) bool {
		return slices.Equal(c.Chunks, []int{1, 120, 100})
	})
	if maps < 1 || told.Candidates[maps].Reads[0].Requests != 200 || told.Candidates[maps].Reads[1].Bytes != 48_000 ||
		told.Candidates[0].Bytes > told.Candidates[maps].Bytes/2 || told.Chunks[0] != 200 {
		t.Errorf("%+v", told)
	}
	if text := succeed(t, dir, "chunks", "maps.zarr", "--reads", "reads.txt"); !strings.Contains(text, "proposed") || !strings.Contains(text, "as it is") {
		t.Error(text)
	}
	succeed(t, dir, "convert", "maps.zarr", "series.zarr", "--chunks", "auto:reads.txt")
	a := oocore.Open(filepath.Join(dir, "series.zarr"))
	if !slices.Equal(a.Chunks(), told.Chunks) {
		t.Errorf("chunks %v are written, %v are proposed", a.Chunks(), told.Chunks)
	}
	succeed(t, dir, "convert", "series.zarr", "back.npy")
	if !slices.Equal(elements[float32](t, filepath.Join(dir, "back.npy")), elements[float32](t, filepath.Join(dir, "x.npy"))) {
		t.Error("the elements are others")
	}
	// Of what runs have read, the whole array is a part.
	seen := succeed(t, dir, "chunks", "maps.zarr", "--json")
	if !strings.Contains(strings.Join(strings.Fields(seen), ""), `"lengths":[200,120,100]`) {
		t.Error(seen)
	}
	for args, says := range map[string]string{
		"chunks x.npy --reads none.txt":                   "none.txt",
		"chunks x.npy --reads x.npy":                      "line 1",
		"chunks missing.zarr --reads reads.txt":           "missing.zarr",
		"convert x.npy y.zarr --chunks auto:":             "auto:reads.txt",
		"convert x.npy y.zarr --chunks auto:none.txt":     "none.txt",
		"compute x x=x.npy -o y.zarr --chunks auto:r.txt": "auto:r.txt",
	} {
		out := finish(t, command(dir, strings.Fields(args)...))
		if out.status == 0 || !strings.Contains(out.stderr, says) || strings.Count(out.stderr, "\n") != 1 {
			t.Errorf("%s: %s", args, fmt.Sprint(out))
		}
	}
}
