package icechunk

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestReadInterchange reads every commit, branch and tag of repositories that icechunk and zarr-python write.
func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "repositories that icechunk-python writes", "testdata/make.py", 100)
}

// unpacked is a repository of a version, in a folder of its own.
func unpacked(t testing.TB, version int) string {
	t.Helper()
	z := testcases.Must[*zip.ReadCloser](t)(zip.OpenReader(fmt.Sprintf("testdata/v%d.zip", version)))
	defer z.Close()
	dir := filepath.Join(t.TempDir(), "repo")
	if err := os.CopyFS(dir, z); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read32(t *testing.T, path string) (string, error) {
	t.Helper()
	a, err := store.Open(path)
	if err != nil {
		return "", err
	}
	info := a.Info()
	data := make([]byte, storetest.All(info.Shape).Size()*info.DType.Size())
	err = a.Read(t.Context(), data, storetest.All(info.Shape))
	if closed := a.Close(); closed != nil {
		t.Error(closed)
	}
	var out []string
	for ; len(data) > 0; data = data[info.DType.Size():] {
		switch info.DType.Size() {
		case 1:
			out = append(out, fmt.Sprint(data[0]))
		case 2:
			out = append(out, fmt.Sprint(int16(binary.LittleEndian.Uint16(data))))
		case 4:
			bits := binary.LittleEndian.Uint32(data)
			if info.DType == dtype.Float32 {
				out = append(out, fmt.Sprint(math.Float32frombits(bits)))
			} else {
				out = append(out, fmt.Sprint(int32(bits)))
			}
		case 8:
			out = append(out, fmt.Sprint(math.Float64frombits(binary.LittleEndian.Uint64(data))))
		}
	}
	return strings.Join(out, " "), err
}

func TestReadRepositories(t *testing.T) {
	for version := 1; version <= 2; version++ {
		repo := unpacked(t, version)
		for path, want := range map[string]string{
			"#scalar":                              "3.5",
			"#grp/x":                               "0 10 20 30 40 50 60 70",
			"?tag=v1#grp/x":                        "0 10 20 30 40 50 60 70",
			"?branch=dev#/grp/x/":                  "0 10 20 30 40 50 60 70",
			"#shards":                              strings.TrimSpace(numbers(0, 40)),
			"#grp/a":                               strings.TrimSpace(numbers(0, 48)),
			"?branch=dev#grp/a":                    "-1 -1 -1 -1 4 5 6 7 -1 -1 -1 -1 12 13 14 15 " + numbers(16, 48) + strings.TrimSpace(strings.Repeat("0 ", 16)),
			"?snapshot=1CECHNKREP0F1RSTCMT":        "is no snapshot: it has 20 digits and letters",
			"#virtual":                             "/data/none.bin: no such file",
			"":                                     `has "grp/a", "grp/x", "scalar", "shards", "virtual": add #NAME to the path`,
			"?snapshot=1cechnkrep0f1rstcmt0#grp/x": `no array "grp/x": the snapshot of snapshot "1cechnkrep0f1rstcmt0" has no array`,
			"#grp":                                 `"grp" is a group: it has "grp/a", "grp/x"`,
			"#none":                                `no array "none": the snapshot of branch "main" has "grp/a"`,
			"?branch=prod#grp/x":                   `no branch "prod": the repository has "dev", "main"`,
			"?tag=main#grp/x":                      `no tag "main": the repository has "v1"`,
			"?snapshot=00000000000000000000#grp/x": "no snapshot 00000000000000000000 (any more)",
		} {
			got, err := read32(t, repo+path)
			if err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("version %d, %s: %s, %v", version, path, got, err)
			}
		}
	}
}

func numbers(from, to int) (s string) {
	for i := from; i < to; i++ {
		s += fmt.Sprint(i, " ")
	}
	return s
}

func TestInfoSaysWhatIsRead(t *testing.T) {
	repo := unpacked(t, 2)
	a := testcases.Must[store.Array](t)(store.Open(repo + "?branch=dev#grp/a"))
	info := a.Info()
	if !strings.HasPrefix(info.Format, "zarr v3 in Icechunk, snapshot ") || !strings.HasSuffix(info.Format, ` of branch "dev"`) ||
		!slices.Equal(info.Details.Dims, []string{"y", "x"}) || !strings.Contains(string(info.Details.Attributes), `"units": "K"`) {
		t.Errorf("%+v", info)
	}
	if label, ok, err := storage.Coordinate(t.Context(), &info, 1); !ok || err != nil || label.Path != repo+"?branch=dev#grp/x" {
		t.Errorf("%v, %v, %v", label, ok, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	all, err := storage.Members(t.Context(), repo+"?tag=v1#grp")
	if err != nil || fmt.Sprint(all) != fmt.Sprintf("[{grp/a %[1]s?tag=v1#grp/a} {grp/x %[1]s?tag=v1#grp/x}]", repo) {
		t.Errorf("%v, %v", all, err)
	}
	groups, err := storage.Groups(t.Context(), repo)
	if err != nil || string(groups[""].Attributes) != `{"title":"small"}` || len(groups) != 2 {
		t.Errorf("%v, %v", groups, err)
	}
	if _, err := store.Create(repo+"#new", store.Meta{}); err == nil || !strings.Contains(err.Error(), "are read only: save to NAME.zarr") {
		t.Error(err)
	}
}

// TestVersionIsThatOfTheArray compares versions of arrays in two commits, one of which has changed a chunk of one of them.
func TestVersionIsThatOfTheArray(t *testing.T) {
	repo := unpacked(t, 1)
	version := func(path string) storage.Version {
		return testcases.Must[storage.Version](t)(storage.VersionOf(t.Context(), repo+path))
	}
	if !version("#grp/x").Equal(version("?branch=dev#grp/x")) || version("#grp/a").Equal(version("?branch=dev#grp/a")) {
		t.Error("other versions of what is the same, or the same of others")
	}
	units := func(path string) map[int]uint64 {
		a := testcases.Must[store.Array](t)(store.Open(repo + path))
		defer a.Close()
		all := map[int]uint64{}
		if err := a.(storage.Versioned).Versions(t.Context(), func(unit int, version uint64) { all[unit] = version }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	before, after := units("#grp/a"), units("?branch=dev#grp/a")
	for unit, version := range before {
		if same := after[unit] == version; same != (unit != 0) {
			t.Errorf("chunk %d: the same is %v", unit, same)
		}
	}
	if len(before) != 7 {
		t.Errorf("%d units", len(before))
	}
}

func TestOpenRejectsBrokenRepositories(t *testing.T) {
	for name, c := range map[string]struct {
		file  func(b []byte) []byte
		where string
		want  string
	}{
		"a later version":    {func(b []byte) []byte { b[36] = 3; return b }, "repo", "repo: version 3 of Icechunk's format is not supported: 1 and 2 are"},
		"another kind":       {func(b []byte) []byte { b[37] = 2; return b }, "repo", "it is a file of kind 2, in place of kind 6"},
		"another method":     {func(b []byte) []byte { b[38] = 2; return b }, "repo", "compressed by method 2: none and zstd are supported"},
		"a cut repo":         {func(b []byte) []byte { return b[:len(b)/2] }, "repo", "repo: it is damaged or cut short"},
		"a short repo":       {func(b []byte) []byte { return b[:20] }, "repo", "repo: it is cut short"},
		"garbage":            {func(b []byte) []byte { return []byte(strings.Repeat("x", len(b))) }, "snapshots", "it does not begin as files of Icechunk do"},
		"a cut snapshot":     {func(b []byte) []byte { return b[:len(b)-9] }, "snapshots", "it is damaged or cut short"},
		"not compressed":     {func(b []byte) []byte { b[38] = 0; return b }, "snapshots", "it is damaged"},
		"no snapshot":        {nil, "snapshots", "(any more): it may have expired"},
		"no manifest":        {nil, "manifests", "the file is gone: the chunks in it cannot be found"},
		"another manifest":   {func(b []byte) []byte { b[37] = 1; return b }, "manifests", "manifest "},
		"no chunk":           {nil, "chunks", "is gone from the repository"},
		"a chunk cut short":  {func(b []byte) []byte { return b[:len(b)-1] }, "chunks", "are beyond its end"},
		"more than a chunk":  {func(b []byte) []byte { return append(b, 1) }, "chunks", ""},
		"a chunk of nothing": {func(b []byte) []byte { return nil }, "chunks", "are beyond its end"},
	} {
		repo := unpacked(t, 2)
		files := []string{filepath.Join(repo, c.where)}
		if c.where != "repo" {
			files = nil
			for _, e := range testcases.Must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(repo, c.where))) {
				files = append(files, filepath.Join(repo, c.where, e.Name()))
			}
		}
		for _, file := range files {
			if c.file == nil {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
				continue
			}
			testcases.WriteFile(t, file, c.file(testcases.ReadFile(t, file)), 0o600)
		}
		_, err := read32(t, repo+"?branch=main#grp/a")
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := store.Open(t.TempDir() + "?branch=main#a"); err == nil || !strings.Contains(err.Error(), "there is no Icechunk repository") {
		t.Error(err)
	}
}

func TestReadVirtualChunks(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a b.bin")
	testcases.WriteFile(t, file, []byte{0, 1, 2, 3, 4}, 0o600)
	written := testcases.Must[os.FileInfo](t)(os.Stat(file)).ModTime().Unix()
	p := place{root: dir}
	at := testcases.Must[string](t)(p.elsewhere("file://" + dir + "/a%20b.bin"))
	for v, want := range map[virtual]string{
		{file: at}:                                "",
		{file: at, modified: uint64(written)}:     "",
		{file: at, modified: uint64(written) - 1}: "after the repository's references to it were made",
	} {
		b := &bucket{chunks: &chunks{grid: []int{1}, all: []chunk{{kind: elsewhere, at: 3, size: 2}}, files: []virtual{v}}}
		got := make([]byte, 2)
		e, err := b.Get(t.Context(), "c/0", got)
		if want == "" && (err != nil || !bytes.Equal(got, []byte{3, 4}) || e.Size != 2) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %v, %v", v, got, err)
		}
		if err := b.files.Close(); err != nil {
			t.Error(err)
		}
	}
	for url, want := range map[string]string{
		"vcc://data/x.nc":        "lies in a container of the repository's configuration",
		"s3://u:p@bucket/x":      "a user, password or signature",
		"gcs://bucket/a%3Fb":     "a user, password or signature",
		"file:///%zz":            "is no address",
		"https://host/x::y":      "chains of file systems",
		"s3://bucket/a%20b":      "s3://bucket/a b",
		"https://host/a%20b.nc":  "https://host/a%20b.nc",
		"file:///data/../etc/x":  "/etc/x",
		"../outside of the repo": "leads out of the folder",
	} {
		got, err := p.elsewhere(url)
		if err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", url, got, err)
		}
	}
	if _, err := (place{root: "s3://bucket/repo"}).elsewhere("file:///etc/passwd"); err == nil || !strings.Contains(err.Error(), "refers to a file of this machine") {
		t.Error(err)
	}
}

// manifest is a file of n chunks of an array whose number is zero, in files of the repository.
func manifest(n int) []byte {
	b := []byte(magic + strings.Repeat(" ", 24) + "\x02\x02\x00")
	u16, u32 := binary.LittleEndian.AppendUint16, func(v ...int) {
		for _, v := range v {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	u32(36)
	for _, v := range []uint16{8, 20, 4, 16, 8, 16, 4, 12, 14, 28, 4, 0, 0, 20, 8, 0} { // vtables, from 4, 12 and 20 on
		b = u16(b, v)
	}
	u32(36-4, 0, 0, 0, 4)     // a Manifest: its identifier, and its arrays
	u32(1, 4, 64-12, 0, 0, 4) // the array's, and the chunks'
	u32(n)
	for i := range n {
		u32(4*(n-i) + 36*i)
	}
	for i := range n {
		at := 84 + 4*n + 36*i
		u32(at-20, 24, i, 0, 0, 10, 0, 1, i)
	}
	return b
}

func TestReadManifestCountsWhatItHolds(t *testing.T) {
	const n = 200_000
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "manifests"), 0o700); err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, filepath.Join(dir, "manifests/00000000000000000000"), manifest(n), 0o600)
	of := &node{path: "a", manifests: []manifestRef{{from: []int{5}, to: []int{n - 1}}}}
	read := func(take func(int64) error) (*chunks, error) {
		return place{root: dir}.readChunks(t.Context(), of, take)
	}
	testcases.Counted(t, read)
	c, err := read(func(int64) error { return nil })
	if err != nil || len(c.all) != n-6 || c.find([]int{4}) != nil || c.find([]int{n - 1}) != nil {
		t.Fatalf("%d chunks, %v", len(c.all), err)
	}
	if at := c.find([]int{77_777}); at == nil || *at != (chunk{number: 77_777, size: 10, id: objectID{0: 0x11 + 0xc0, 1: 0x2f, 2: 1}}) {
		t.Errorf("%+v", at)
	}
}

// FuzzParse reads any bytes as what is in the files of a repository.
func FuzzParse(f *testing.F) {
	d, err := zstd.NewReader(nil)
	if err != nil {
		f.Fatal(err)
	}
	defer d.Close()
	for version := 1; version <= 2; version++ {
		repo := unpacked(f, version)
		for _, folder := range []string{"snapshots", "manifests"} {
			for _, e := range testcases.Must[[]os.DirEntry](f)(os.ReadDir(filepath.Join(repo, folder))) {
				b := testcases.ReadFile(f, filepath.Join(repo, folder, e.Name()))
				f.Add(testcases.Must[[]byte](f)(d.DecodeAll(b[headerBytes:], nil)))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		room := &meter.Room{Take: func(int64) error { return nil }}
		root := func() table {
			f := &flat{b: b, left: 8*len(b) + 64}
			return table{f, f.offset(0)}
		}
		if _, err := parseSnapshot(root(), root().id(0).String(), room); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q has several lines", err)
		}
		of := &node{path: "a"}
		for _, a := range root().tables(1) {
			copy(of.id[:], a.fixed(0, 8))
			break
		}
		for dims := range 4 {
			m := manifestRef{from: make([]int, dims), to: slices.Repeat([]int{1 << 20}, dims)}
			c := &chunks{grid: m.to}
			_ = c.add(place{root: "/repo"}, of, m, root(), map[virtual]int{}, room)
			for _, at := range c.all {
				if at.kind == inline && at.at+at.size > int64(len(c.inline)) {
					t.Error("text that is not there")
				}
			}
		}
	})
}
