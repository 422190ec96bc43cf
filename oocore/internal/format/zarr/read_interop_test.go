package zarr

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestReadInterchange reads what zarr-python and TensorStore write, in all the ways
// that they can: whole, and in pieces with little memory.
func TestReadInterchange(t *testing.T) {
	if !testcases.Full() {
		t.Skip("without GONBEXT_TEST=full: arrays that zarr-python and TensorStore write were not read")
	}
	dir := t.TempDir()
	if out, err := exec.Command(zarrPython(t), "testdata/read_make.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := testcases.ReadFile(t, filepath.Join(dir, "cases.json"))
	var cases []struct {
		Name, Field, DType string
		Shape              []int
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 400 {
		t.Errorf("%d cases are too few", len(cases))
	}
	for _, c := range cases {
		path := filepath.Join(dir, c.Name+".zarr")
		if c.Field != "" {
			path, c.Name = path+"#"+c.Field, c.Name+"#"+c.Field
		}
		want := testcases.ReadFile(t, filepath.Join(dir, c.Name+".raw"))
		a, err := store.Open(path)
		if err != nil {
			t.Error(strings.TrimPrefix(err.Error(), "open "+dir+"/"))
			continue
		}
		info := a.Info()
		if info.DType.String() != c.DType || grid.Format(info.Shape) != grid.Format(c.Shape) {
			t.Errorf("%s: %s of %s, not %s of %s", c.Name, grid.Format(info.Shape), info.DType, grid.Format(c.Shape), c.DType)
		}
		for _, work := range []int64{info.Work.Whole, info.Work.Stream} {
			got := make([]byte, len(want))
			s, err := a.(storage.Coded).Session(make([]byte, work))
			if err == nil {
				_, err = s.Read(t.Context(), got, storetest.All(info.Shape))
				s.Close()
			}
			if err != nil {
				t.Errorf("%s with %d bytes: %v", c.Name, work, err)
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s with %d bytes (%s): other elements", c.Name, work, info.Codec)
			}
		}
		a.Close()
	}
	t.Logf("%d arrays", len(cases))
}
