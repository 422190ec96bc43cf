package inspect

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/gonbext/chart"
	"github.com/gonbext/gonbext/oocore"
)

// tensorFile is a safetensors file of the header's tensors, all zero.
func tensorFile(t *testing.T, header string, data int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.safetensors")
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	if err := os.WriteFile(path, append(append(file, header...), make([]byte, data)...), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDescribe(t *testing.T) {
	two := tensorFile(t, `{"b": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "a": {"dtype": "F8_E8M0", "shape": [4], "data_offsets": [24, 28]}}`, 28)
	d, err := Describe(context.Background(), two, false)
	if err != nil {
		t.Fatal(err)
	}
	c, ok := d.(*Contents)
	if !ok || len(c.Arrays) != 2 || c.Arrays[0].Name != "a" || c.Arrays[0].Info != nil || !strings.Contains(c.Arrays[0].Error, "F8_E8M0") ||
		c.Arrays[1].Name != "b" || c.Arrays[1].Bytes != 24 {
		t.Errorf("%+v", d)
	}
	if text := d.Text(); !strings.Contains(text, "2 × 3") || !strings.Contains(text, "F8_E8M0") || !strings.Contains(text, "\n1 array of float32: 24 bytes\n") {
		t.Errorf("%s", text)
	}
	b, err := json.Marshal(d)
	if err != nil || !strings.Contains(string(b), `"name":"b","path":"`+two+`#b","format":"safetensors","shape":[2,3],"dtype":"float32","chunks":null`) {
		t.Errorf("%s, %v", b, err)
	}

	one := tensorFile(t, `{"b": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}`, 24)
	if d, err := Describe(context.Background(), one, false); err != nil || d.(*Info).Bytes != 24 || *d.(*Info).FileBytes < 24 {
		t.Errorf("one tensor: %+v, %v", d, err)
	}
	if d, err := Describe(context.Background(), one, true); err != nil || d.(*Info).Listing != nil {
		t.Errorf("a tensor has no chunks to list: %+v, %v", d, err)
	}
	if _, err := Chunks(context.Background(), one); err == nil || !strings.Contains(err.Error(), "one piece") {
		t.Errorf("the chunks of a tensor: %v", err)
	}
	if _, err := Describe(context.Background(), filepath.Join(t.TempDir(), "none.npz"), false); err == nil || !strings.Contains(err.Error(), "none.npz") {
		t.Errorf("nothing: %v", err)
	}
}

// Attributes come from files: one line each, no more than fits, nothing that could
// steer a terminal.
func TestAttributes(t *testing.T) {
	for _, raw := range []string{"", "null", "[]", "{}", "{"} {
		if lines := attributeLines([]byte(raw)); lines != nil {
			t.Errorf("%q: %q", raw, lines)
		}
	}
	lines := attributeLines([]byte("{\"unit\": \"m\",\n \"a\\nb\": [1,\n 2], \"long\": \"" + strings.Repeat("x", 1000) + "\", \"\x1b[31m\": 1}"))
	if lines != nil {
		t.Errorf("control characters are no JSON: %q", lines)
	}
	lines = attributeLines([]byte("{\"unit\": \"m\",\n \"a\\nb\": [1,\n 2], \"long\": \"" + strings.Repeat("x", 1000) + "\", \"\\u001b[31m\": 1}"))
	if len(lines) != 4 || lines[0] != "a b = [1,2]" || lines[2] != `unit = "m"` || len([]rune(lines[1])) != maxAttribute || strings.ContainsAny(strings.Join(lines, ""), "\n\x1b") {
		t.Errorf("%q", lines)
	}
}

// Grids of any number of dimensions are drawn, also of one chunk and of none.
func TestChunksOfEveryShape(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	for i, c := range []struct {
		shape, chunks []int
		stored        int64
	}{
		{[]int{}, nil, 1},
		{[]int{0, 3}, []int{2, 2}, 0},
		{[]int{7}, []int{2}, 4},
		{[]int{4, 5, 6}, []int{2, 2, 4}, 12},
		{[]int{2, 3, 4, 5}, []int{1, 1, 1, 5}, 24},
	} {
		path := filepath.Join(t.TempDir(), "x.zarr")
		var opts []oocore.Option
		if c.chunks != nil {
			opts = append(opts, oocore.Chunks(c.chunks...))
		}
		if _, err := oocore.Full(float32(1.5), c.shape...).Save(t.Context(), path, opts...); err != nil {
			t.Fatal(err)
		}
		m, err := Chunks(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if m.Chunks() != c.stored || m.Missing() != 0 || (m.StoredBytes() == 0) != (c.stored == 0) {
			t.Errorf("%d: %d chunks, %d missing, %d bytes", i, m.Chunks(), m.Missing(), m.StoredBytes())
		}
		out, err := m.Output(chart.Options{})
		if err != nil || !strings.Contains(out.Text, "x.zarr") || strings.Contains(out.Text+out.HTML, "NaN") || strings.Contains(out.Text, "%!") {
			t.Errorf("%d: %v\n%s", i, err, out.Text)
		}
		info, err := Read(t.Context(), path, true)
		if err != nil || info.Listing == nil || info.Listing.Chunks != c.stored {
			t.Errorf("%d: %+v, %v", i, info, err)
		} else if text := info.Text(); strings.Contains(text, "%!") {
			t.Errorf("%d: %s", i, text)
		}
	}
}
