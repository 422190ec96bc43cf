package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Foreign opens what another library wrote: script, given a folder, a seed and a number of files,
// writes them and cases.json there, a list of {path, want}. want is an npy file with the
// elements that the library reads at path, or begins with "error: " and has words of the error.
// written says what they are where testcases.Python skips the test.
func Foreign(t *testing.T, written, script string, files int) {
	t.Helper()
	python, seed, dir := testcases.Python(t, written), testcases.Seed(t), t.TempDir()
	random := testcases.Rand(t)
	if out, err := exec.Command(python, script, dir, strconv.FormatUint(seed, 10), strconv.Itoa(files)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := testcases.ReadFile(t, filepath.Join(dir, "cases.json"))
	var cases []struct{ Path, Want string }
	noError(t, json.Unmarshal(text, &cases))
	if len(cases) < files {
		t.Errorf("%d cases are too few", len(cases))
	}
	for _, c := range cases {
		got, kind, err := whole(t, filepath.Join(dir, c.Path))
		if words, rejected := strings.CutPrefix(c.Want, "error: "); rejected {
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%s of seed %d: %v, want an error with %q", c.Path, seed, err, words)
			}
			continue
		}
		if err != nil {
			t.Errorf("seed %d: %s", seed, strings.ReplaceAll(err.Error(), dir+"/", ""))
			continue
		}
		want, wantKind, err := whole(t, filepath.Join(dir, c.Want))
		switch {
		case err != nil:
			t.Fatal(err)
		case kind != wantKind:
			t.Errorf("%s of seed %d: %s, want %s", c.Path, seed, kind, wantKind)
		case !bytes.Equal(got, want):
			t.Errorf("%s of seed %d: other elements of %s", c.Path, seed, kind)
		default:
			parts(t, filepath.Join(dir, c.Path), got, random)
		}
	}
}

// parts reads a few regions of any steps, of an array with such elements.
func parts(t *testing.T, path string, data []byte, random *rand.Rand) {
	t.Helper()
	a, err := store.Open(path)
	noError(t, err)
	defer a.Close()
	info := a.Info()
	if info.Fortran || len(data) == 0 {
		return
	}
	for range 3 {
		r := All(info.Shape)
		for d, n := range info.Shape {
			r.Start[d], r.Step[d] = random.IntN(n), 1+random.IntN(3)
			room := n - 1 - r.Start[d]
			if random.IntN(3) == 0 {
				room, r.Step[d] = r.Start[d], -r.Step[d]
			}
			r.Count[d] = 1 + random.IntN(room/max(r.Step[d], -r.Step[d])+1)
		}
		checkRead(t, a, data, r)
	}
}

// whole returns an array's elements in C order, and its type and shape.
func whole(t *testing.T, path string) (data []byte, kind string, err error) {
	a, err := store.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer a.Close()
	info := a.Info()
	region := All(info.Shape)
	data = make([]byte, region.Size()*info.DType.Size())
	err = a.Read(t.Context(), data, region)
	shape := slices.Clone(info.Shape)
	if info.Fortran { // the reverse is stored
		data = transposed(data, shape, info.DType.Size())
		slices.Reverse(shape)
	}
	return data, fmt.Sprint(info.DType, shape), err
}

// transposed returns elements in C order of the reversed shape.
func transposed(data []byte, shape []int, size int) (out []byte) {
	for i := range len(data) / size {
		at := 0
		for _, n := range shape { // the first axis is the last of the result
			at = at*n + i%n
			i /= n
		}
		out = append(out, data[at*size:(at+1)*size]...)
	}
	return out
}

// Damaged changes bytes of a file: the arrays in it, paths after the file's, can be read then, or
// are an error of one line. It is one goroutine, of which a tenth does where tests are to be short.
func Damaged(t *testing.T, file string, random *rand.Rand, rounds int, arrays ...string) {
	t.Helper()
	if testing.Short() {
		rounds /= 10
	}
	text := testcases.ReadFile(t, file)
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	for range rounds {
		b := bytes.Clone(text)
		for range 1 + random.IntN(4) {
			switch at := random.IntN(len(b)); random.IntN(4) {
			case 0:
				b[at] = byte(random.Uint32())
			case 1:
				b[at] ^= 1 << random.IntN(8)
			case 2:
				b[at] = 0xff
			case 3:
				b = b[:max(at, 1)]
			}
		}
		tryDamaged(t, path, b, arrays)
	}
}

// Fuzz changes bytes of files as Damaged does, led by the code that they reach.
func Fuzz(f *testing.F, files []string, arrays ...string) {
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tryDamaged(t, filepath.Join(t.TempDir(), filepath.Base(files[0])), b, arrays)
	})
}

// tryDamaged reads arrays of a file of any bytes.
func tryDamaged(t *testing.T, path string, b []byte, arrays []string) {
	t.Helper()
	testcases.WriteFile(t, path, b, 0o600)
	for _, array := range arrays {
		a, err := store.Open(path + array)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q has several lines", err)
			}
			continue
		}
		if region := All(a.Info().Shape); region.Size() < 1<<16 {
			_ = a.Read(t.Context(), make([]byte, region.Size()*a.Info().DType.Size()), region)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}
