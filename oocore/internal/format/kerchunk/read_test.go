package kerchunk

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestReadInterchange reads what kerchunk writes of HDF5 files, and references to chunks that
// numcodecs has encoded.
func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "references that kerchunk writes", "testdata/make.py", 100)
}

const zarray = `{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "order": "C", "filters": null, "compressor": null, "fill_value": 9}`

// write writes references and a file of ten bytes, which count up.
func write(t *testing.T, text string) (path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "refs.json")
	for name, b := range map[string][]byte{"refs.json": []byte(text), "data/count.bin": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		testcases.WriteFile(t, filepath.Join(dir, name), b, 0o600)
	}
	return path
}

func read(t *testing.T, path string) (string, error) {
	t.Helper()
	a, err := store.Open(path)
	if err != nil {
		return "", err
	}
	defer a.Close()
	data := make([]byte, 4)
	err = a.Read(t.Context(), data, storetest.All(a.Info().Shape))
	return fmt.Sprint(data), err
}

// References that gzip or Zstandard has packed are those that it has packed.
func TestReadPackedReferences(t *testing.T) {
	text := `{"version": 1, "refs": {"x/.zarray": ` + zarray + `, "x/0": ["data/count.bin", 3, 2], "x/1": "base64:BwI="}}`
	for extension, pack := range map[string]func(w io.Writer) io.WriteCloser{
		".gz": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		".zst": func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return z
		},
	} {
		path := write(t, text) + extension
		var packed bytes.Buffer
		w := pack(&packed)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		testcases.WriteFile(t, path, packed.Bytes(), 0o600)
		for _, name := range []string{path, path + "#x"} {
			if got, err := read(t, name); got != "[3 4 7 2]" || err != nil {
				t.Errorf("%s: %s, %v", name, got, err)
			}
		}
		testcases.WriteFile(t, path, packed.Bytes()[:packed.Len()/2], 0o600)
		if _, err := read(t, path); err == nil || !strings.Contains(err.Error(), "end too early") {
			t.Errorf("half of it: %v", err)
		}
	}
}

func TestReadReferences(t *testing.T) {
	for refs, want := range map[string]string{
		`"x/0": ["data/count.bin", 3, 2], "x/1": "base64:BwI="`:  "[3 4 7 2]",
		`"x/0": ["{{u}}/count.bin", 3, 2]`:                       "[3 4 9 9]",
		`"x/0": "ab", "x/1": ["./data/../data/count.bin", 8, 2]`: "[97 98 8 9]",
		`"x/0": ["data/count.bin"]`:                              "it has 10 bytes, its elements have 2",
		`"x/0": ["data/count.bin", 9, 2]`:                        "data/count.bin: 2 bytes at 9 are beyond its end, it has 10",
		`"x/0": ["data/count.bin", 9223372036854775807, 2]`:      "are beyond its end",
		`"x/0": ["data/none.bin", 0, 2]`:                         "data/none.bin: no such file",
		`"x/0": ["../count.bin", 0, 2]`:                          "leads out of the folder of",
		`"x/0": ["data/count.bin", -1, 2]`:                       "is not a place in a file",
		`"x/0": ["data/count.bin", 0]`:                           "is neither [url] nor [url, offset, length]",
		`"x/0": [null]`:                                          "is neither [url]",
		`"x/0": 7`:                                               "7 is no reference",
		`"x/0": "base64:!"`:                                      "its base64 is damaged",
		`"x/0": ["{{f(c=1)}}", 0, 2]`:                            "only templates without arguments",
		`"x/0": ["simplecache::s3://b/x", 0, 2]`:                 "chains of file systems are not supported",
		`"x/0": ["https://host/x?X-Amz-Signature=secret", 0, 2]`: "a user, password or signature",
		`"x/0": ["nowhere://x/y", 0, 2]`:                         "nowhere:// needs its package",
		`"x/0": "ab", "x/0": "cd"`:                               `"x/0" is there twice`,
	} {
		path := write(t, `{"version": 1, "templates": {"u": "data"}, "refs": {".zgroup": "{}", "x/.zarray": `+zarray+`, `+refs+`}}`)
		got, err := read(t, path)
		switch {
		case err == nil && got != want, err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%s: %s, %v, want %s", refs, got, err, want)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("a secret is shown: %v", err)
		}
	}
}

func TestOpenSaysWhatIsRead(t *testing.T) {
	path := write(t, `{".zgroup": "{}", "x/.zarray": `+zarray+`, "x/0": ["data/count.bin", 3, 2], "y/z/.zarray": `+zarray+`}`)
	a, err := store.Open(path + "#x")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.Info().Format, "zarr v2 by references to "+filepath.Join(filepath.Dir(path), "data/count.bin"); got != want {
		t.Errorf("the format is %s", got)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	all, err := storage.Members(t.Context(), path)
	if err != nil || fmt.Sprint(all) != fmt.Sprintf("[{x %s#x} {y/z %s#y/z}]", path, path) {
		t.Errorf("%v, %v", all, err)
	}
	for name, want := range map[string]string{
		"": `the references have "x", "y/z": add #NAME`, "#y": `no array "y": the references have "x", "y/z"`,
	} {
		if _, err := store.Open(path + name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFieldsOfRecords opens a field, whose name comes behind that of the array.
func TestFieldsOfRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "refs.json")
	testcases.WriteFile(t, path, []byte(`{"version":1,"refs":{"t/.zarray":"{\"zarr_format\":2,\"shape\":[2],\"chunks\":[2],\"dtype\":[[\"a\",\"<i2\"],[\"b\",\">i4\"]],\"compressor\":null,\"fill_value\":null,\"order\":\"C\",\"filters\":null}",
"t/0":"base64:AQAAAAACAwAAAAAE"}}`), 0o600)
	if _, err := store.Open(path + "#t"); err == nil || !strings.Contains(err.Error(), `have "a", "b" as fields: add #NAME to the path`) {
		t.Errorf("%v", err)
	}
	if _, err := store.Open(path + "#u#b"); err == nil || !strings.Contains(err.Error(), `no array "u#b"`) {
		t.Errorf("%v", err)
	}
	a := testcases.Must[store.Array](t)(store.Open(path + "#t#b"))
	defer a.Close()
	data := make([]byte, 8)
	if err := a.Read(t.Context(), data, storetest.All([]int{2})); err != nil || string(data) != "\x02\x00\x00\x00\x04\x00\x00\x00" {
		t.Errorf("%x, %v", data, err)
	}
}

func TestOpenRejectsOtherFiles(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 2, "refs": {}}`:                        "version 2 is not supported",
		`{"version": 1, "gen": [{"key": "x"}], "refs": {}}`: "references that are generated are not supported",
		`{"version": 1, "refs": []}`:                        "is not a JSON object",
		`{"version": 1, "refs": {"a": "b"`:                  "the file is cut short",
		`{"version": 1, "refs": {}} {}`:                     "more follows after the JSON object",
		`{"version": 1, "refs": {}}`:                        "the references have no array",
	} {
		if _, err := store.Open(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]bool{`{"model_type": "bert"}`: false, `{"version": 1, "refs": {}}`: true, `{".zgroup": "{}"}`: true} {
		if got := (format{}).Owns(write(t, text)); got && !want {
			t.Errorf("%s is taken for references: %v", text, got)
		}
	}
	folder := filepath.Join(t.TempDir(), "refs.parq")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, filepath.Join(folder, ".zmetadata"), []byte("{}"), 0o600)
	if _, err := store.Open(folder); err == nil || !strings.Contains(err.Error(), "where package oocore/adapters/arrow is imported") {
		t.Error(err)
	}
}

// TestReferencesOfServers holds that what a server refers to is on it, or on another.
func TestReferencesOfServers(t *testing.T) {
	for name, want := range map[string]string{
		"data/x.bin": "https://host/folder/data/x.bin", "s3://b/x": "s3://b/x", "/etc/hosts": "", "file:///etc/hosts": "", "../x": "",
	} {
		r, err := parse(fmt.Sprintf(`{"x/0": [%q]}`, name), "https://host/folder/refs.json")
		if want == "" {
			if err == nil {
				t.Errorf("%s is %s", name, r.files)
			}
		} else if err != nil || r.files[0] != want {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

func parse(text, base string) (*references, error) {
	return readReferences(strings.NewReader(text), int64(len(text)), base, func(int64) error { return nil })
}

func TestDigestChangesWithTheFiles(t *testing.T) {
	path := write(t, `{"x/.zarray": `+zarray+`, "x/0": ["data/count.bin", 3, 2]}`)
	digest := func() string {
		a, err := store.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		d, err := a.(storage.Listed).Digest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	before := digest()
	if again := digest(); again != before {
		t.Errorf("%s, then %s", before, again)
	}
	testcases.WriteFile(t, filepath.Join(filepath.Dir(path), "data/count.bin"), make([]byte, 10), 0o600)
	if after := digest(); after == before {
		t.Error("the digest is that of the file before")
	}
}

// TestFilesStayFew reads parts of many files.
func TestFilesStayFew(t *testing.T) {
	dir := t.TempDir()
	f := &Files{}
	for i := range 3 * maxOpen {
		name := filepath.Join(dir, fmt.Sprint(i))
		testcases.WriteFile(t, name, []byte{1}, 0o600)
		o, err := f.open(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Release(o, maxOpen); err != nil {
			t.Fatal(err)
		}
		if f.Held() > maxOpen {
			t.Fatalf("%d files are open", f.Held())
		}
	}
	if err := f.Close(); err != nil || f.Held() != 0 {
		t.Errorf("%v, %d files are open", err, f.Held())
	}
}

// FuzzRead reads any bytes as references.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"version": 1, "templates": {"u": "data"}, "refs": {".zgroup": "{}", "x/.zarray": ` + zarray + `, "x/0": ["{{u}}/x", 1, 2]}}`,
		`{".zgroup": "{}", "x/0": "base64:AAAA", "x/1": ["a"]}`,
		`"a\nb"`, `{"x/0": ["a",
 1]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		refs, err := parse(string(b), "/folder/refs.json")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q has several lines", err)
			}
			return
		}
		for _, ref := range refs.all {
			if got, ok := refs.find(ref.key); !ok || !bytes.Equal(got.text, ref.text) {
				t.Errorf("%q is not found", ref.key)
			}
		}
	})
}

func TestReadReferencesCountsWhatItHolds(t *testing.T) {
	var b strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&b, `,"a/%d.%d":["data.bin",%d,8]`, i/100, i%100, 8*i)
	}
	text := `{"version":1,"refs":{` + b.String()[1:] + `}}`
	testcases.Counted(t, func(take func(int64) error) (*references, error) {
		return readReferences(strings.NewReader(text), int64(len(text)), "refs.json", take)
	})
}
