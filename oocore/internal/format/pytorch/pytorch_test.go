package pytorch

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/types"
)

// tensorsOf are what PyTorch reads in the files of testdata.
func tensorsOf(t testing.TB) (all map[string]map[string]struct {
	DType, Bytes string
	Shape        []int
}) {
	if err := json.Unmarshal(testcases.ReadFile(t, "testdata/torch.json"), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFilesOfPyTorchHaveItsValues compares whole tensors, and random regions of them, with what torch.load gives: all types, views that
// share a storage, dictionaries in each other, pickles of protocols 2 and 4, and the format before 1.6.
func TestFilesOfPyTorchHaveItsValues(t *testing.T) {
	random := testcases.Rand(t)
	for file, tensors := range tensorsOf(t) {
		path := filepath.Join("testdata", file)
		members, err := storage.Members(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if listed := len(members); listed != len(tensors) && file != "unread.pt" {
			t.Errorf("%s lists %v", file, members)
		}
		for name, want := range tensors {
			a := storetest.Open(t, path+"#"+name)
			info := a.Info()
			shape := slices.Clone(info.Shape)
			data, _ := hex.DecodeString(want.Bytes)
			if info.Fortran { // the reverse is stored
				slices.Reverse(shape)
				data = reversed(data, shape, info.DType.Size())
			}
			if info.DType.String() != want.DType || !slices.Equal(shape, want.Shape) {
				t.Errorf("%s#%s is %s %v, want %s %v", file, name, info.DType, shape, want.DType, want.Shape)
				continue
			}
			for _, r := range append(regions(random, info.Shape), storetest.All(info.Shape)) {
				got := make([]byte, r.Size()*info.DType.Size())
				if err := a.Read(t.Context(), got, r); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, storetest.Pick(data, info.Shape, info.DType.Size(), r)) {
					t.Errorf("%s#%s: other elements in %v", file, name, r)
				}
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// reversed returns the elements of a shape in C order in Fortran's.
func reversed(data []byte, shape []int, size int) (out []byte) {
	for i := range len(data) / size {
		at, rest, step := 0, i, 1
		strides := make([]int, len(shape))
		for d := len(shape) - 1; d >= 0; d-- {
			strides[d], step = step, step*shape[d]
		}
		for d, n := range shape { // the first axis is the fastest
			at += rest % n * strides[d]
			rest /= n
		}
		out = append(out, data[at*size:(at+1)*size]...)
	}
	return out
}

func regions(random *rand.Rand, shape []int) (all []types.Region) {
	for range 8 {
		r := storetest.All(slices.Clone(shape))
		for d, n := range shape {
			if n == 0 {
				return nil
			}
			r.Start[d] = random.IntN(n)
			r.Count[d], r.Step[d] = 1+random.IntN(n-r.Start[d]), 1
			if random.IntN(3) == 0 { // backwards
				r.Start[d] += r.Count[d] - 1
				r.Step[d] = -1
			}
		}
		all = append(all, r)
	}
	return all
}

func TestTensorsThatCannotBeReadAreNamed(t *testing.T) {
	for name, cause := range map[string]string{
		"sparse": "it is sparse: save its to_dense()", "csr": "it is sparse", "quantized": "it is quantized: save its dequantize()",
		"conjugated": "save its resolve_conj()", "meta": "a meta tensor", "float8_e8m0fnu": "dtype torch.float8_e8m0fnu cannot be read",
	} {
		_, err := store.Open("testdata/unread.pt#" + name)
		storetest.CheckError(t, err, "testdata/unread.pt#"+name, fmt.Sprintf("tensor %q: ", name))
		storetest.CheckError(t, err, "testdata/unread.pt#"+name, cause)
	}
	_, err := store.Open("testdata/model.pt")
	storetest.CheckError(t, err, "testdata/model.pt", "its pickle calls torch.nn.modules.linear.Linear, which no tensor needs")
	_, err = store.Create("testdata/new.pt#x", store.Meta{Shape: []int{1}, DType: dtype.Float32})
	storetest.CheckError(t, err, "testdata/new.pt#x", "files of PyTorch are only read: save to NAME.safetensors")
}

// archive writes a file with a pickle, and a storage 0 of 16 bytes.
func archive(t testing.TB, pickle string, method uint16, more ...string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	var current io.Writer
	for _, m := range append([]string{"a/data.pkl", pickle, "a/byteorder", "little", "a/data/0", strings.Repeat("\x01", 16)}, more...) {
		if strings.HasPrefix(m, "a/") {
			w, err := z.CreateHeader(&zip.FileHeader{Name: m, Method: method})
			if err != nil {
				t.Fatal(err)
			}
			current = w
			continue
		}
		if _, err := io.WriteString(current, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.pt")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// floats is a pickle of a tensor with an offset, a shape and strides of numbers below 256, in storage 0 of so many float32.
func floats(n, offset int, shape, strides string) string {
	ints := func(text string) string {
		s := "("
		for _, c := range []byte(text) {
			s += "K" + string([]byte{c - '0'})
		}
		return s + "t"
	}
	return "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK" + string([]byte{byte(n)}) + "tQ" +
		"K" + string([]byte{byte(offset)}) + ints(shape) + ints(strides) + "\x89}tR."
}

func TestHostilePicklesAreRejected(t *testing.T) {
	if _, err := store.Open(archive(t, floats(4, 0, "22", "21"), zip.Store)); err != nil {
		t.Fatal(err)
	}
	deep := "\x80\x02" + strings.Repeat("]", 5000) + strings.Repeat("a", 4999) + "."
	bomb := "\x80\x02]q\x00" // lists of the list before, twenty times: 20^20 values
	for i := range 20 {
		bomb += "]q" + string([]byte{byte(i + 1)}) + "(" + strings.Repeat("h"+string([]byte{byte(i)}), 20) + "e"
	}
	for name, c := range map[string]struct{ pickle, cause string }{
		"system":       {"\x80\x02cos\nsystem\n(X\x04\x00\x00\x00truetR.", "its pickle calls os.system, which no tensor needs: a file that does this may be an attack"},
		"eval":         {"\x80\x02c__builtin__\neval\n(X\x01\x00\x00\x001tR.", "its pickle calls builtins.eval"},
		"stack global": {"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02ls\x85R.", "its pickle calls posix.system"},
		"torch":        {"\x80\x02ctorch\nload\n(X\x01\x00\x00\x001tR.", "its pickle calls torch.load"},
		"script":       {"\x80\x02c__torch__.net\nNet\n)\x81.", "it is a TorchScript program"},
		"extension":    {"\x80\x02\x82\x01.", "operation 0x82"},
		"cut short":    {"\x80\x02]q\x00(K\x01", "cut short or broken"},
		"empty stack":  {"\x80\x02.", "cut short or broken"},
		"no memo":      {"\x80\x02h\x07.", "cut short or broken"},
		"call of text": {"\x80\x02X\x01\x00\x00\x00a)R.", "cut short or broken"},
		"long text":    {"\x80\x02X\xff\xff\xff\xff.", "cut short or broken"},
		"longer text":  {"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "cut short or broken"},
		"deep":         {deep, "lie in each other deeper than 64 times"},
		"bomb":         {bomb + ".", "or are more than"},
		"itself":       {"\x80\x02]q\x00h\x00a.", "lie in each other deeper"},
		"lies":         {floats(5, 0, "5", "1"), `storage "0" claims 5 elements, which its 16 bytes do not have`},
		"beyond":       {floats(4, 0, "22", "31"), "reaches beyond storage"},
		"offset":       {floats(4, 4, "1", "1"), `begins at element 4 of storage "0", which has 4`},
		"before":       {strings.Replace(floats(4, 7, "1", "1"), "tQK\x07", "tQJ\xfc\xff\xff\xff", 1), `begins at element -4 of storage "0", which has 4`},
		"shapes":       {floats(4, 0, "22", "1"), "cut short or broken"},
		"no tensor":    {"\x80\x02}.", "this file of PyTorch has no tensor"},
		"missing":      {strings.Replace(floats(4, 0, "4", "1"), "X\x01\x00\x00\x000", "X\x01\x00\x00\x007", 1), `storage "7", which data.pkl names, is missing`},
		"leads out":    {strings.Replace(floats(4, 0, "4", "1"), "X\x01\x00\x00\x000", "X\x09\x00\x00\x00../../../", 1), "is missing in the archive"},
	} {
		path := archive(t, c.pickle, zip.Store)
		_, err := store.Open(path)
		if err == nil || !strings.Contains(err.Error(), c.cause) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want an error with %q", name, err, c.cause)
		}
	}
	_, err := store.Open(archive(t, floats(4, 0, "4", "1"), zip.Deflate))
	if err == nil || !strings.Contains(err.Error(), "a/data/0: it is compressed") {
		t.Errorf("deflated: %v", err)
	}
	b := testcases.ReadFile(t, "testdata/old.ckpt")
	path := filepath.Join(t.TempDir(), "x.ckpt")
	if err := os.WriteFile(path, b[:len(b)-1], 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = store.Open(path)
	storetest.CheckError(t, err, path, "the file is cut short: storage")
}

// TestNamesAreHints opens files by their first bytes.
func TestNamesAreHints(t *testing.T) {
	dir := t.TempDir()
	for from, to := range map[string]string{"types.pt": "weights.bin", "old.ckpt": "weights", "views.pt": "pytorch_model-00001-of-00002.bin", "nested.pt": "nested.npy"} {
		path := filepath.Join(dir, to)
		if err := os.WriteFile(path, testcases.ReadFile(t, filepath.Join("testdata", from)), 0o666); err != nil {
			t.Fatal(err)
		}
		members, err := storage.Members(context.Background(), path)
		if err != nil || len(members) < 7 {
			t.Fatalf("%s: %v, %v", to, members, err)
		}
		storetest.Open(t, members[0].Path).Close()
	}
}

func TestDamagedFiles(t *testing.T) {
	random := testcases.Rand(t)
	for _, file := range []string{"nested.pt", "old.ckpt", "protocol4.pth"} {
		storetest.Damaged(t, filepath.Join("testdata", file), random, 300, "#list.0", "#permuted")
	}
}

func FuzzPickle(f *testing.F) {
	for _, file := range []string{"nested.pt", "views.pt", "unread.pt"} {
		z, err := zip.OpenReader(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		text, err := whole(z.File[0], 1<<20)
		z.Close()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, pickle string) {
		path := archive(t, pickle, zip.Store)
		members, err := storage.Members(context.Background(), path)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		for _, m := range members[:min(len(members), 20)] {
			if a, err := store.Open(m.Path); err == nil {
				storetest.ReadAll(t, a)
				a.Close()
			}
		}
	})
}
