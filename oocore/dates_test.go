package oocore_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// dates writes an npy file of NumPy's dates, as np.save does.
func dates(t *testing.T, descr string, values []int64) string {
	t.Helper()
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", descr, len(values))
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	var file bytes.Buffer
	file.WriteString("\x93NUMPY\x01\x00")
	_ = binary.Write(&file, binary.LittleEndian, uint16(len(header)))
	file.WriteString(header)
	if err := binary.Write(&file, map[bool]binary.ByteOrder{false: binary.LittleEndian, true: binary.BigEndian}[descr[0] == '>'], values); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "dates.npy")
	testcases.WriteFile(t, path, file.Bytes(), 0o644)
	return path
}

func TestDatesOfNpyAreIntegersWithUnits(t *testing.T) {
	want := []int64{0, 86400, -62135596800, math.MinInt64} // 1970-01-01, a day later, year 1, NaT
	for descr, units := range map[string]string{
		"<M8[s]": "seconds since 1970-01-01", ">M8[ns]": "nanoseconds since 1970-01-01", "<M8[D]": "days since 1970-01-01", "<m8[us]": `"microseconds"`,
	} {
		path := dates(t, descr, want)
		x := oocore.Open(path)
		if got, err := oocore.Collect[int64](t.Context(), x); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", descr, got, err)
		}
		info, err := storage.Describe(path)
		if err != nil || !strings.Contains(string(info.Details.Attributes), units) {
			t.Errorf("%s: attributes %s, %v", descr, info.Details.Attributes, err)
		}
		copied := filepath.Join(t.TempDir(), "dates.zarr")
		saved(t, x, copied)
		if info, err := storage.Describe(copied); err != nil || !strings.Contains(string(info.Details.Attributes), units) {
			t.Errorf("%s: attributes of a copy %s, %v", descr, info.Details.Attributes, err)
		}
	}
	for _, descr := range []string{"<M8", "<M8[Y]", "<M8[25s]", "<m8[generic]", "<M4[s]"} {
		if err := oocore.Open(dates(t, descr, want)).Err(); err == nil || !strings.Contains(err.Error(), "of this unit") {
			t.Errorf("%s: %v", descr, err)
		}
	}
}
