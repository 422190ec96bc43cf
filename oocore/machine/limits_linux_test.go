package machine

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestReadHasUlimits(t *testing.T) {
	const child = "GONBEXT_TEST_ULIMITS"
	if os.Getenv(child) != "" {
		l := Read()
		if l.AddressSpace.Max != 4096*mib || l.Data.Max != 1024*mib || l.Data.Used <= 0 {
			t.Errorf("limits %+v", l)
		}
		if n, why := l.Headroom(); n > 1024*mib-l.Data.Used || why == "" {
			t.Errorf("headroom %d, %q", n, why)
		}
		return
	}
	if l := Read(); l.AddressSpace.Max != 0 || l.Data.Max != 0 {
		t.Skipf("limits are set already: %+v", l)
	}
	c := exec.Command("sh", "-c", `ulimit -v 4194304 && ulimit -d 1048576 && exec "$0" -test.run=^TestReadHasUlimits$`, os.Args[0])
	c.Env = append(os.Environ(), child+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// Files of the kernel are opened once, and read anew each time, whatever their length.
func TestKeptOpenReadsWhatAFileHoldsNow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	name := strings.TrimPrefix(path, "/")
	k := &keptOpen{FS: os.DirFS("/"), files: map[string]int{}}
	if _, err := fs.ReadFile(k, name); !os.IsNotExist(err) {
		t.Fatalf("a file that is not there: %v", err)
	}
	for _, n := range []int{5, 0, 4095, 4096, 4097, 100_000, 7} {
		want := bytes.Repeat([]byte{byte('a' + n%26)}, n)
		testcases.WriteFile(t, path, want, 0o600)
		if got, err := fs.ReadFile(k, name); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes were read as %d, %v", n, len(got), err)
		}
	}
	if len(k.files) != 1 {
		t.Errorf("open are %v", k.files)
	}
}
