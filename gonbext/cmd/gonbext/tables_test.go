package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// Tables go through the command in both directions, by column, as a whole, and as collections.
func TestTablesAreConverted(t *testing.T) {
	dir := t.TempDir()
	testcases.WriteFile(t, filepath.Join(dir, "t.csv"), []byte("price;count\n1.5;1\n;2\n-3;3\n"), 0o600)
	for _, step := range [][]string{{"t.csv", "t.parquet"}, {"t.parquet", "t.zarr"}, {"t.zarr", "back.parquet"}, {"back.parquet#table", "back.csv"}, {"back.csv#table", "back.npy"}, {"back.npy", "numbered.parquet"}} {
		succeed(t, dir, append([]string{"convert"}, step...)...)
	}
	for path, want := range map[string]string{
		"t.csv#price": "[ 1.5  nan -3. ]", "t.parquet#count": "[1 2 3]", "numbered.parquet#1": "[ 1.5  nan -3. ]",
		"t.parquet#table": "[[ 1.5  1. ]\n [ nan  2. ]\n [-3.   3. ]]", "back.npy": "[[ 1.   1.5]\n [ 2.   nan]\n [ 3.  -3. ]]",
	} {
		if got := strings.TrimSpace(succeed(t, dir, "compute", "x", "x="+path)); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
