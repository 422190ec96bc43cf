package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// advice is what errors of opening advise, and how that is followed: by another path, for which files are written in
// the folder where the advice says so. An empty path is of what this machine cannot do.
var advice = []struct {
	says   *regexp.Regexp
	follow func(t *testing.T, dir, path string, said []string) string
}{
	{regexp.MustCompile(`(?:has|have|names) "([^"]+)".*: add #NAME to the path`), func(_ *testing.T, _, path string, said []string) string { return path + "#" + said[1] }},
	{regexp.MustCompile(`has "([^"]+)".*: add \.NAME to the path`), func(_ *testing.T, _, path string, said []string) string { return path + "." + said[1] }},
	{regexp.MustCompile(`has images (\d+).*: add #NUMBER to the path`), func(_ *testing.T, _, path string, said []string) string { return path + "#" + said[1] }},
	{regexp.MustCompile(`behind the pattern, as in (\S+)$`), func(_ *testing.T, _, _ string, said []string) string { return said[1] }},
	{regexp.MustCompile(`itself: name (\S+)$`), func(_ *testing.T, _, _ string, said []string) string { return said[1] }},
	{regexp.MustCompile(`open one of ([^,\s]+)`), func(_ *testing.T, _, _ string, said []string) string { return said[1] }},
	{regexp.MustCompile(`unpack it first \(gunzip -k (\S+)\), and name (\S+)$`), func(t *testing.T, dir, path string, said []string) string {
		r, err := gzip.NewReader(bytes.NewReader(testcases.ReadFile(t, filepath.Join(dir, said[1])))) // as gunzip does
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		testcases.WriteFile(t, filepath.Join(dir, strings.TrimSuffix(said[1], ".gz")), testcases.Must[[]byte](t)(io.ReadAll(r)), 0o600)
		return said[2]
	}},
	{regexp.MustCompile(`add (\?shape=)10,20(&dtype=float32)$`), func(_ *testing.T, _, path string, said []string) string { return path + said[1] + "4,5" + said[2] }},
	{regexp.MustCompile(`add (&dtype=float32)$`), func(_ *testing.T, _, path string, said []string) string { return path + said[1] }},
	{regexp.MustCompile(`add (&shape=)10,20$`), func(_ *testing.T, _, path string, said []string) string { return path + said[1] + "4,5" }},
	{regexp.MustCompile(`: name (\S+)$`), func(_ *testing.T, _, _ string, said []string) string { return said[1] }},
	{regexp.MustCompile(`use one of bool, .*(float32)`), func(_ *testing.T, _, path string, said []string) string {
		return path[:strings.Index(path, "dtype=")] + "dtype=" + said[1]
	}},
	{regexp.MustCompile(`: the file has images (\d+)`), func(_ *testing.T, _, path string, said []string) string {
		return path[:strings.IndexByte(path, '#')+1] + said[1]
	}},
	{regexp.MustCompile(`no \w+ "[^"]*": the (?:file|files of the model|index) (?:has|have|names) "([^"]+)"`), func(_ *testing.T, _, path string, said []string) string {
		return path[:strings.IndexByte(path, '#')+1] + said[1]
	}},
	{regexp.MustCompile(`give the index of the axis, or its name`), func(_ *testing.T, _, path string, _ []string) string { return path + "0" }},
	{regexp.MustCompile(`give one, or a name that is no number`), func(_ *testing.T, _, path string, _ []string) string {
		return path[:strings.Index(path, "axis=")] + "axis=time"
	}},
	{regexp.MustCompile(`a table is of numbers alone: name columns, as NAME\.\w+#column$`), func(_ *testing.T, _, path string, _ []string) string {
		return path[:strings.IndexByte(path, '#')+1] + "price"
	}},
	{regexp.MustCompile(`import _ "github.com/gonbext/gonbext/(\S+)"`), func(t *testing.T, _, _ string, said []string) string {
		if files, _ := filepath.Glob(filepath.Join(os.Getenv("OLDPWD"), "../../..", said[1], "*.go")); len(files) == 0 {
			t.Errorf("%s: there is no such package", said[0])
		}
		return "" // other programs import it
	}},
	{regexp.MustCompile(`save each field as an array of its own$`), func(t *testing.T, dir, path string, _ []string) string {
		return byPython(t, dir, fmt.Sprintf("numpy.save('field.npy', numpy.load(%q)['a'])", path), "field.npy")
	}},
}

// place is the line of a program that an error names.
var place = regexp.MustCompile(` \(\w+\.go:\d+\)$`)

// byPython runs a program that writes a file, where the test has Python, and returns the file.
func byPython(t *testing.T, dir, program, file string) string {
	if !testcases.Full() {
		return ""
	}
	c := exec.Command(testcases.Python(t, "advice that Python follows"), "-c", "import numpy; "+program)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", program, err, out)
		return ""
	}
	return file
}

// writeRecords makes an array of records, of fill values alone.
func writeRecords(t *testing.T, folder string) {
	testcases.Must[struct{}](t)(struct{}{}, os.Mkdir(folder, 0o700))
	testcases.WriteFile(t, filepath.Join(folder, ".zarray"), []byte(`{"zarr_format":2,"shape":[3],"chunks":[3],"dtype":[["a","<f4"],["in",[["b","<i2"]]]],
"compressor":null,"fill_value":null,"order":"C","filters":null}`), 0o600)
}

// Whoever does what an error of opening says has an array in the end, by the command and by Go.
func TestAdviceOfOpeningErrorsWorks(t *testing.T) {
	from := func(parts ...string) []byte {
		return testcases.ReadFile(t, filepath.Join(append([]string{"../../../oocore/internal/format"}, parts...)...))
	}
	for _, path := range []string{"e0.nc", "e*.nc", "e*.nc?axis=0", "e*.nc?axis=", "e*.nc?axis=1.5", "e0.nc/lat", "e0.nc#none", "small.fits", "small.fits#99", "all.gguf", "all.gguf#none",
		"model.safetensors", "model.safetensors/w", "p0.npz", "p*.npz", "p*.npz?axis=2", "two0.zarr", "two*.zarr", "two0.zarr#a", "p0.npz.gz", "x.npy#a", "x.npy?shape=3", "x.bin", "x.bin?shape=4,5", "x.bin?dtype=float32",
		"x.bin?shape=4,5&dtype=f5", "x.dat", "x.csv", "x.csv#none", "t.csv#table", "t.parquet", "t.parquet#none", "t.parquet#table", "e0.nwb", "s.npy", "s.zarr", "s.zarr#in"} {
		for _, by := range []string{"command", "Go"} {
			t.Run(by+" "+path, func(t *testing.T) {
				dir := t.TempDir()
				in := func(name string) string { return filepath.Join(dir, name) }
				floats(t, in("x.npy"), "(4, 5)", 20)
				npyFile(t, in("s.npy"), "[('a', '<f4'), ('b', '<i2')]", "(3,)", make([]byte, 18))
				writeRecords(t, in("s.zarr"))
				nc, npz := from("hdf5", "testdata", "dims.nc"), from("npz", "testdata", "stored.npz")
				for name, text := range map[string][]byte{"e0.nc": nc, "e1.nc": nc, "e0.nwb": nc, "p0.npz": npz, "p1.npz": npz, "small.fits": from("fits", "testdata", "small.fits"),
					"all.gguf": from("gguf", "testdata", "all.gguf"), "model.safetensors": from("safetensors", "testdata", "model.safetensors"),
					"x.bin": make([]byte, 80), "x.dat": make([]byte, 80), "x.csv": []byte("1,2\n3,4\n"), "t.csv": []byte("price,name\n1,a\n"),
					"t.parquet": testcases.ReadFile(t, "../../../oocore/adapters/arrow/testdata/small.parquet")} {
					testcases.WriteFile(t, in(name), text, 0o644)
				}
				for _, name := range []string{"two0.zarr/a", "two0.zarr/b", "two1.zarr/a", "two1.zarr/b"} {
					if strings.HasPrefix(path, "two") {
						succeed(t, dir, "convert", "x.npy", name)
					}
				}
				for _, name := range []string{"x.npy", "p0.npz"} {
					if strings.HasPrefix(path, name+".gz") {
						var packed bytes.Buffer
						w := gzip.NewWriter(&packed)
						_, err := w.Write(testcases.ReadFile(t, in(name)))
						if err := errors.Join(err, w.Close(), os.Remove(in(name))); err != nil {
							t.Fatal(err)
						}
						testcases.WriteFile(t, in(name+".gz"), packed.Bytes(), 0o600)
					}
				}
				open := func(path string) string {
					if by == "command" {
						return strings.TrimSpace(finish(t, command(dir, "compute", "count_nonzero(x)", "x="+path)).stderr)
					}
					if strings.Contains(path, "*") && !strings.Contains(path, "axis=") {
						path += "?axis=0" // as Go programs say it
					}
					if err := oocore.Open(path).Err(); err != nil {
						return place.ReplaceAllString(err.Error(), "")
					}
					return ""
				}
				if by == "Go" {
					t.Setenv("OLDPWD", testcases.Must[string](t)(os.Getwd()))
					t.Chdir(dir)
				}
				at := path
			steps:
				for step := range 4 {
					said := open(at)
					if !strings.HasPrefix(said, "gonbext: ") && by == "command" || said == "" {
						if step == 0 {
							t.Errorf("%s is opened", path)
						}
						return
					}
					for _, a := range advice {
						if words := a.says.FindStringSubmatch(said); words != nil {
							next := a.follow(t, dir, at, words)
							if next == "" {
								return
							}
							t.Logf("%s: %s: %s", at, said, next)
							at = next
							continue steps
						}
					}
					t.Fatalf("%s: advice that the test does not know: %s", at, said)
				}
				t.Errorf("%s is not opened after four errors", path)
			})
		}
	}
}

var updateAdvice = flag.Bool("update", false, "list the advice that there is")

// Each advice of an error of formats, stores and adapters is known here: whoever adds one does what it says, by a case above where opening
// brings it, before it is listed. -update lists those that there are.
func TestAdviceIsListed(t *testing.T) {
	literal := regexp.MustCompile(`(?:errors\.New|fmt\.Errorf)\(("(?:[^"\\]|\\.)*[:;,(] (?:or )?(?:add|use|name|give|save|open|write|convert|unpack|import|set|remove|choose|call|copy|store|put|cast|fill|leave|reshape|bring|compress)\b(?:[^"\\]|\\.)*")`)
	var said []string
	for _, root := range []string{"internal/format", "internal/storage", "internal/unpack", "internal/blob", "adapters", "cloud"} {
		err := filepath.WalkDir(filepath.Join("../../../oocore", root), func(file string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			for _, words := range literal.FindAllStringSubmatch(string(testcases.ReadFile(t, file)), -1) {
				said = append(said, words[1])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(said)
	text := strings.Join(slices.Compact(said), "\n") + "\n"
	if *updateAdvice {
		testcases.WriteFile(t, "testdata/advice.txt", []byte(text), 0o644)
	}
	listed := strings.Split(string(testcases.ReadFile(t, "testdata/advice.txt")), "\n")
	for _, s := range strings.Split(text, "\n") {
		if !slices.Contains(listed, s) {
			t.Errorf("new advice: %s: do what it says, then list it by -update", s)
		}
	}
	if len(listed) != len(strings.Split(text, "\n")) {
		t.Errorf("%d are listed, there are %d: -update", len(listed), strings.Count(text, "\n")+1)
	}
}
