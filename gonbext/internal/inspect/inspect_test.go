package inspect

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// tensorFile is a safetensors file of the header's tensors, all zero.
func tensorFile(t *testing.T, header string, data int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.safetensors")
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	testcases.WriteFile(t, path, append(append(file, header...), make([]byte, data)...), 0o644)
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
	scanned := filepath.Join("..", "..", "..", "oocore", "internal", "format", "nifti", "testdata", "small.nii")
	if d, err := Describe(context.Background(), scanned, false); err != nil || !slices.Equal(d.(*Info).Dims, []string{"x", "y", "z"}) {
		t.Errorf("axes in Fortran order: %+v, %v", d, err)
	}
	if _, err := Chunks(context.Background(), one); err == nil || !strings.Contains(err.Error(), "one piece") {
		t.Errorf("the chunks of a tensor: %v", err)
	}
	if _, err := Describe(context.Background(), filepath.Join(t.TempDir(), "none.npz"), false); err == nil || !strings.Contains(err.Error(), "none.npz") {
		t.Errorf("nothing: %v", err)
	}
}

// The layers of a model stand in one line, as text only; what differs in more than numbers does not.
func TestManyAlikeArraysAreOneLine(t *testing.T) {
	var header []string
	at := 0
	add := func(name string, n int) {
		header = append(header, fmt.Sprintf(`%q: {"dtype": "F32", "shape": [%d], "data_offsets": [%d, %d]}`, name, n, at, at+4*n))
		at += 4 * n
	}
	for i := range 30 {
		add(fmt.Sprintf("layers.%d.a", i), 3)
		add(fmt.Sprintf("layers.%d.b", i), 3+i/29) // the last one is longer
	}
	d, err := Describe(context.Background(), tensorFile(t, "{"+strings.Join(header, ", ")+"}", at), false)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(d.Text()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	if want := []string{"arrays name shape dtype chunks codec bytes of each", "30 layers.{0–29}.a 3 float32 – none 12 bytes", "29 layers.{0–28}.b 3 float32 – none 12 bytes",
		"1 layers.29.b 4 float32 – none 16 bytes", "60 arrays of float32: 724 bytes"}; !slices.Equal(lines[1:], want) {
		t.Errorf("%q, want %q", lines[1:], want)
	}
	if n := len(d.(*Contents).Arrays); n != 60 {
		t.Errorf("%d arrays", n)
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
	if len(lines) != 4 || lines[0] != "a b = [1,2]" || lines[2] != `unit = "m"` || len([]rune(lines[1])) != 200 || strings.ContainsAny(strings.Join(lines, ""), "\n\x1b") {
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
		info, err := read(t, path, true)
		if err != nil || info.Listing == nil || info.Listing.Chunks != c.stored {
			t.Errorf("%d: %+v, %v", i, info, err)
		} else if text := info.Text(); strings.Contains(text, "%!") {
			t.Errorf("%d: %s", i, text)
		}
	}
}
