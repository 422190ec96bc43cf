package zarr

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob/memblob"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

const (
	groupV3 = `{"zarr_format": 3, "node_type": "group", "attributes": {}}`
	groupV2 = `{"zarr_format": 2}`
	arrayV2 = `{"zarr_format":2,"shape":[6],"chunks":[4],"dtype":"<i2","compressor":null,"fill_value":0,"order":"C","filters":null}`
)

// makeGroup makes a group with arrays of both versions, one that cannot be opened, and
// a folder that is none of it.
func makeGroup(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "g.zarr")
	array := metadata([]int{2, 3}, []int{1, 3}, dtype.Float32, plainCodec)
	for name, text := range map[string]string{
		"zarr.json": groupV3, "a/zarr.json": array, "sub/zarr.json": groupV3, "sub/b/zarr.json": array, "sub/b/c/0/0": "xxxxxxxxxxxx",
		"old/.zgroup": groupV2, "old/v2/.zarray": arrayV2, "bad/zarr.json": strings.Replace(array, "float32", "string", 1), "notes/readme": "hello",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		testcases.WriteFile(t, file, []byte(text), 0o666)
	}
	return root
}

func treeAt(t *testing.T, path string) ([]string, error) {
	b, err := bucketOf(path)
	if err != nil {
		t.Fatal(err)
	}
	return tree(t.Context(), path, b)
}

func treeText(t *testing.T, path string) string {
	t.Helper()
	entries, err := treeAt(t, path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		entries[i] = strings.TrimPrefix(entries[i], path)
	}
	return strings.Join(entries, "\n")
}

func TestTree(t *testing.T) {
	root := makeGroup(t)
	want := "/a\n/bad\n/old/v2\n/sub/b"
	if got := treeText(t, root); got != want {
		t.Errorf("got\n%s\nnot\n%s", got, want)
	}
	if got := treeText(t, root+"/sub"); got != "/b" {
		t.Errorf("got %s", got)
	}
	for _, path := range []string{root + "/sub/b", root + "/old/v2"} {
		a, err := store.Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		a.Close()
	}
	_, err := store.Open(root)
	checkMessage(t, err, root+":", "it is a group, not an array: open one of", root+"/a", root+"/sub/b")
	_, err = store.Open(root + "/old")
	checkMessage(t, err, root+"/old:", "it is a group", root+"/old/v2")
	if _, err := treeAt(t, filepath.Join(root, "gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestConsolidated takes what a group says of its arrays instead of looking for them.
func TestConsolidated(t *testing.T) {
	array := metadata([]int{2, 3}, []int{1, 3}, dtype.Float32, plainCodec)
	root := filepath.Join(t.TempDir(), "c.zarr")
	if err := os.Mkdir(root, 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		testcases.WriteFile(t, filepath.Join(root, name), []byte(text), 0o666)
	}
	write("zarr.json", strings.Replace(groupV3, `"attributes"`, `"consolidated_metadata": {"kind": "inline", "must_understand": false,
		"metadata": {"x/y": `+array+`, "x": `+groupV3+`, "../up": `+array+`}}, "attributes"`, 1))
	if got := treeText(t, root); got != "/x/y" {
		t.Errorf("got %s", got)
	}
	if err := os.Remove(filepath.Join(root, "zarr.json")); err != nil {
		t.Fatal(err)
	}
	write(".zgroup", groupV2)
	write(".zmetadata", `{"zarr_consolidated_format": 1, "metadata": {".zgroup": `+groupV2+`, "t/.zarray": `+arrayV2+`, "t/.zattrs": {}}}`)
	if got := treeText(t, root); got != "/t" {
		t.Errorf("got %s", got)
	}
}

// TestRemoteTree lists a bucket that is not a folder.
func TestRemoteTree(t *testing.T) {
	b := memblob.New()
	array := []byte(metadata([]int{2, 3}, []int{1, 3}, dtype.Float32, plainCodec))
	for name, text := range map[string]string{"zarr.json": groupV3, "sub/zarr.json": groupV3, "old/.zgroup": groupV2, "old/v2/.zarray": arrayV2} {
		b.Put(name, []byte(text))
	}
	b.Put("a/zarr.json", array)
	b.Put("sub/b/zarr.json", array)
	b.Put("sub/b/c/0/0", array)
	var names []string
	for array, err := range arrays(t.Context(), "s3://bucket/g.zarr", b) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, array)
	}
	if len(names) != 3 || !strings.Contains(strings.Join(names, " "), "s3://bucket/g.zarr/sub/b") {
		t.Errorf("%q", names)
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ path, root, inner string }{
		{"x.zarr", "x.zarr", ""}, {"x.zarr/", "x.zarr", ""}, {"/data/x.zarr/group/array", "/data/x.zarr", "group/array"},
		{"s3://bucket/p/x.zarr/a/", "s3://bucket/p/x.zarr", "a"}, {"x.zarr/y.zarr", "x.zarr", "y.zarr"}, {"folder/array", "folder/array", ""},
		{"", "", ""}, {"x.zarray/y", "x.zarray/y", ""},
	} {
		if root, inner := split(c.path); root != c.root || inner != c.inner {
			t.Errorf("%s is %s and %s", c.path, root, inner)
		}
	}
}

// TestOwns wants Zarr's own paths, and folders with its metadata, to be its own.
func TestOwns(t *testing.T) {
	root := makeGroup(t)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.Rename(root, plain); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"new.zarr": true, "new.zarr/array": true, "s3://b/x.zarr/y": true, "a.npy": false, "s3://b/x": false,
		plain: true, plain + "/a": true, plain + "/old": true, plain + "/old/v2": true, plain + "/notes": false, plain + "/none": false,
	} {
		if got := (format{}).Owns(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	a, err := store.Open(plain + "/sub/b")
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
}

// TestNoWayOut wants names that lead out of a store rejected.
func TestNoWayOut(t *testing.T) {
	root := makeGroup(t)
	secret := filepath.Join(filepath.Dir(root), "secret")
	if err := os.MkdirAll(secret, 0o777); err != nil {
		t.Fatal(err)
	}
	text := metadata([]int{2}, []int{2}, dtype.Float32, plainCodec)
	testcases.WriteFile(t, filepath.Join(secret, "zarr.json"), []byte(text), 0o666)
	if err := os.Symlink(secret, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		root + "/../secret":     "does not name an array",
		root + "/a/../../g":     "does not name an array",
		root + "/./a":           "does not name an array",
		root + "/a//b":          "does not name an array",
		root + "/link":          "the link leads out of",
		root + "/sub/\x00/nul":  "not the name of an object",
		root + "/sub\\..\\..\\": "not the name of an object",
	} {
		_, err := store.Open(path)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v does not say %q", path, err, says)
		}
	}
}
