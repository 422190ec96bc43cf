package storetest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// sealed puts a byte before each chunk, by way of its scratch.
type sealed struct {
	ID   string `json:"-"`
	Seal byte   `json:"seal"`
}

func (s sealed) Name() string { return s.ID }

func (s sealed) Configure(configuration json.RawMessage, _ dtype.Type) (store.Codec, error) {
	if len(configuration) == 0 {
		return s, nil
	}
	d := json.NewDecoder(bytes.NewReader(configuration))
	d.DisallowUnknownFields()
	return s, d.Decode(&s)
}

func (s sealed) Configuration() json.RawMessage { return fmt.Appendf(nil, `{"seal":%d}`, s.Seal) }

func (sealed) Bound(n int64) int64 { return n + 1 }

func (sealed) Work(n int64) (encode, decode store.Work) {
	return store.Work{Whole: n}, store.Work{Whole: n}
}

func (s sealed) Encode(dst, src, scratch []byte) ([]byte, error) {
	copy(scratch[:len(src)], src)
	return append(append(dst[:0], s.Seal), scratch[:len(src)]...), nil
}

func (s sealed) Decode(dst, src, scratch []byte) (int, error) {
	switch {
	case len(src) == 0 || src[0] != s.Seal:
		return 0, errors.New("the seal is broken")
	case len(src)-1 > len(dst):
		return 0, errors.New("it is too long")
	}
	return copy(dst, scratch[:copy(scratch[:len(src)-1], src[1:])]), nil
}

func init() {
	for _, name := range []string{"example.sealed", "numcodecs.sealed"} {
		if err := store.RegisterCodec(sealed{ID: name}); err != nil {
			panic(err)
		}
	}
}

func TestCodecOfAProgram(t *testing.T) {
	storetest.TestCodec(t, sealed{ID: "example.sealed"}, "", `{"seal":7}`)
	storetest.TestCodec(t, sealed{ID: "numcodecs.sealed"})
}

func TestRegisterCodecRejectsNamesThatAreTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zarr")
	_, unknown := store.Create(path, store.Meta{Shape: []int{2}, DType: dtype.Uint8, Codec: "unheard"})
	if unknown == nil {
		t.Fatal("a codec that there is not is taken")
	}
	// What the readers of metadata say that they know.
	for _, name := range []string{"", " x", "a+b", "none", "bytes", "transpose", "sharding_indexed", "zstd", "gzip", "blosc", "crc32c",
		"numcodecs.zlib", "numcodecs.lz4", "numcodecs.shuffle", "numcodecs.fletcher32", "numcodecs.zstd", "example.sealed"} {
		if err := store.RegisterCodec(sealed{ID: name}); err == nil {
			t.Errorf("%q is registered", name)
		}
	}
}

// The bytes of metadata and chunks are those that the codec says, in Zarr v3 and v2; what it does not know is an error by its name.
func TestCodecOfAProgramInMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zarr")
	data := []byte{1, 2, 3, 4, 5, 6}
	storetest.Save(t, path, store.Meta{Shape: []int{6}, DType: dtype.Uint8, Chunks: []int{6}, Codec: `numcodecs.sealed:{"seal":9}`}, data)
	chunk, err := os.ReadFile(filepath.Join(path, "c", "0"))
	if want := append([]byte{9}, data...); err != nil || !slices.Equal(chunk, want) {
		t.Errorf("the chunk is %v, not %v: %v", chunk, want, err)
	}
	name := filepath.Join(path, "zarr.json")
	meta, err := os.ReadFile(name)
	var have struct{ Codecs []json.RawMessage }
	if err != nil || json.Unmarshal(meta, &have) != nil {
		t.Fatalf("%s: %v", meta, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, have.Codecs[len(have.Codecs)-1]); err != nil || compact.String() != `{"name":"numcodecs.sealed","configuration":{"seal":9}}` {
		t.Errorf("the metadata are %s: %v", meta, err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(t.TempDir(), "old.zarr")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	array := `{"zarr_format":2,"shape":[6],"chunks":[6],"dtype":"|u1","fill_value":0,"order":"C","filters":null,"compressor":{"id":"sealed",%s}}`
	write(filepath.Join(old, "0"), string(chunk))
	write(filepath.Join(old, ".zarray"), fmt.Sprintf(array, `"seal":9`))
	if got := storetest.ReadAll(t, storetest.Open(t, old)); got != string(data) {
		t.Errorf("Zarr v2: %v", []byte(got))
	}
	write(filepath.Join(old, ".zarray"), fmt.Sprintf(array, `"seel":9`))
	write(name, strings.Replace(string(meta), `"seal"`, `"seel"`, 1))
	for _, path := range []string{old, path} {
		if _, err := store.Open(path); err == nil || !strings.Contains(err.Error(), "sealed") || !strings.Contains(err.Error(), "seel") {
			t.Errorf("a setting that the codec does not know: %v", err)
		}
	}
}
