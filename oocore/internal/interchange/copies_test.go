package interchange

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestCopiesOfNetCDFAreWhatXarrayReads copies random NetCDF files, of all formats, to Zarr and to NetCDF: in
// the copies xarray finds what it finds in the files, attributes and their types too, or a warning has named what differs.
func TestCopiesOfNetCDFAreWhatXarrayReads(t *testing.T) {
	python := full(t)
	dir := t.TempDir()
	const files = 60
	run(t, python, "copies_check.py", "make", dir, fmt.Sprint(testcases.Rand(t).Uint64()), strconv.Itoa(files))
	for i := range files {
		name := filepath.Join(dir, strconv.Itoa(i))
		for _, to := range []string{name + ".zarr", name + "-copy.nc"} {
			var said []string
			if _, err := oocore.OpenAll(name+".nc").Save(t.Context(), to, oocore.Memory("256MiB"), host.Warn(func(w string) { said = append(said, w) })); err != nil {
				t.Error(err)
				continue
			}
			testcases.WriteFile(t, to+".said", []byte(strings.Join(said, "\n")), os.FileMode(0o666))
		}
	}
	if out := strings.TrimSpace(string(run(t, python, "copies_check.py", "check", dir))); out != fmt.Sprint(2*files, " copies") {
		t.Error(out)
	}
}
