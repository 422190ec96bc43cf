package oocore_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// sparse is a float32 array whose elements take no room on the disk.
func sparse(t *testing.T, shape ...int) *oocore.Array {
	t.Helper()
	dims, size := "", int64(4)
	for _, n := range shape {
		dims += fmt.Sprintf("%d, ", n)
		size *= int64(n)
	}
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", dims)
	for (10+len(text)+1)%64 != 0 {
		text += " "
	}
	text += "\n"
	header := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	path := filepath.Join(t.TempDir(), "sparse.npy")
	header = append(header, text...)
	if err := os.WriteFile(path, header, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(header))+size); err != nil {
		t.Skip("the file system has no sparse files: ", err)
	}
	return oocore.Open(path)
}

// What OPERATIONS.md says of passes holds for the plan.
func TestPassesOverLongAxes(t *testing.T) {
	wide := sparse(t, 3_075_200, 512)
	long := sparse(t, 6_400_000_000)
	for _, c := range []struct {
		name          string
		x             *oocore.Array
		of            *oocore.Array
		read, written float64 // times the input
	}{
		{"median(x, 0)", wide.Median(0), wide, 3, 0},
		{"topk(x, 5, 0)", wide.TopK(5, 0), wide, 1, 0},
		{"argtopk(x, 5, 0)", wide.ArgTopK(5, 0), wide, 1, 0},
		{"sort(x) of 25.6 GB", long.Sort(0), long, 2, 2},
	} {
		p, err := c.x.Plan(filepath.Join(t.TempDir(), "o.npy"), oocore.Memory("256MiB"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var read, written int64
		for i := range p.Stages {
			read += p.Stages[i].Read
			written += p.Stages[i].Written
		}
		bytes := float64(c.of.Size()) * 4
		if r, w := float64(read)/bytes, float64(written)/bytes; r > c.read+0.2 || w > c.written+0.1 {
			t.Errorf("%s reads its input %.2f times and writes %.2f times as much, want %g and %g", c.name, r, w, c.read, c.written)
		}
	}
}
