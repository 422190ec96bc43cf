package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

func TestCommandsWarnOfPackedNumbers(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, ".runs"))
	a := oocore.FromSlice([]int16{2, 4, -1})
	if _, err := a.Save(t.Context(), filepath.Join(dir, "x.zarr"), oocore.Attributes(map[string]any{"scale_factor": 0.5, "_FillValue": -1})); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "group"), 0o777); err != nil {
		t.Fatal(err)
	}
	const warning = "gonbext: warning: x.zarr holds packed numbers (scale_factor 0.5, _FillValue -1), "
	for _, args := range [][]string{
		{"compute", "mean(x)", "x=x.zarr"},
		{"compute", "mean(x)", "x=x.zarr", "--json"},
		{"compute", "x + 1", "x=x.zarr", "-o", "o.npy"},
		{"compute", "x + 1", "x=x.zarr", "-o", "o.npy", "--plan"},
		{"compute", "x + 1", "x=x.zarr", "-o", "o.npy", "--plan", "--json"},
		{"compute", "x + 1", "x=x.zarr", "-o", "o.npy", "--explain", "--fresh"},
		{"compute", "y = x + 1; z = y * 2", "x=x.zarr", "-o", "y=y.npy", "-o", "z=z.zarr"},
		{"convert", "x.zarr", "copy.npy"},
		{"convert", "x.zarr", "each.npz", "--each", "x + 1"},
	} {
		o := finish(t, command(dir, args...))
		call := strings.Join(args, " ")
		if o.status != 0 || strings.Count(o.stderr, "\n") != 1 || !strings.HasPrefix(o.stderr, warning) || !strings.HasSuffix(o.stderr, "decode_cf(x) decodes them\n") {
			t.Errorf("gonbext %s: status %d, %q", call, o.status, o.stderr)
		}
		if in := strings.Contains(o.stdout, "decode_cf(x) decodes them"); in != (strings.Contains(call, "--json") || strings.Contains(call, "--plan") || strings.Contains(call, "--explain")) {
			t.Errorf("gonbext %s: %s", call, o.stdout)
		}
	}
	for _, args := range [][]string{
		{"convert", "x.zarr", "copy.zarr"}, {"compute", "decode_cf(x)", "x=x.zarr", "-o", "d.npy"}, {"convert", "x.zarr", "each2.npz", "--each", "decode_cf(x)"},
	} {
		succeed(t, dir, args...)
	}
	if text := succeed(t, dir, "info", "x.zarr"); !strings.Contains(text, "holds packed numbers (scale_factor 0.5, _FillValue -1), which are used as they are stored: decode_cf(x) decodes them") {
		t.Error(text)
	}
	if i := object(t, dir, 0, "info", "x.zarr", "--json"); len(i["notes"].([]any)) != 1 {
		t.Errorf("%v", i)
	}
}
