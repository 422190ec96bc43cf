package zarr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// strings of any length, as vlen-utf8 has them.
func vlen(texts ...string) (b []byte) {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(texts)))
	for _, text := range texts {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
	}
	return b
}

// Texts that are stored wrongly are an error, and no text is made up: NumPy, zarr-python and xarray write those that are stored rightly.
func TestTexts(t *testing.T) {
	const any = `"dtype": "|O", "filters": [{"id": "vlen-utf8"}]`
	for name, c := range map[string]struct {
		kind   string
		chunks map[string][]byte
		want   string
	}{
		"any length":        {any, map[string][]byte{"0": vlen("Oslo", "Åre"), "1": vlen("x", "", "")}, `["Oslo" "Åre" "x"]`},
		"a missing chunk":   {any, map[string][]byte{"1": vlen("x")}, `["none" "none" "x"]`},
		"too few":           {any, map[string][]byte{"0": vlen("Oslo")}, "0: the texts are not those"},
		"a count too large": {any, map[string][]byte{"0": {2, 0, 0, 0, 255, 255, 255, 255, 'x'}}, "0: the texts are not those"},
		"cut short":         {any, map[string][]byte{"0": vlen("Oslo", "Bergen")[:11]}, "0: the texts are not those"},
		"empty":             {any, map[string][]byte{"0": {}}, "0: the texts are not those"},
		"not UTF-8":         {any, map[string][]byte{"0": vlen("\xff", "")}, "0: the texts are not those"},
		"UTF-32":            {`"dtype": ">U2", "filters": null`, map[string][]byte{"0": []byte("\x00\x00\x00\xc5\x00\x00\x00a\x00\x01\xf3\x0d\x00\x00\x00\x00")}, `["Åa" "🌍" "none"]`},
		"bytes":             {`"dtype": "|S3", "filters": null`, map[string][]byte{"0": []byte("ab\x00c\x00\x00"), "1": []byte("xyz\x00\x00\x00")}, `["ab" "c" "xyz"]`},
		"beyond Unicode":    {`"dtype": "<U1", "filters": null`, map[string][]byte{"0": {0, 0, 0, 1, 0, 0, 0, 0}}, "0: the texts are not those"},
		"half a chunk":      {`"dtype": "<U1", "filters": null`, map[string][]byte{"0": {65, 0, 0, 0}}, "0: "},
		"numbers":           {`"dtype": "<f4", "filters": null`, nil, "[]"},
		"objects":           {`"dtype": "|O", "filters": [{"id": "pickle"}]`, nil, "[]"},
		"by lzma":           {any + `, "compressor": {"id": "lzma"}`, map[string][]byte{"0": vlen("Oslo", "Åre")}, `strings by codec "lzma" are not supported`},
		"no zstd":           {any + `, "compressor": {"id": "zstd"}`, map[string][]byte{"0": vlen("Oslo", "Åre")}, `strings by codec "zstd" are not supported`},
		"a huge blosc":      {any + `, "compressor": {"id": "blosc"}`, map[string][]byte{"0": bytes.Repeat([]byte{255}, 16)}, "are no labels"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text := `{"zarr_format": 2, "shape": [3], "chunks": [2], "order": "C", "fill_value": "none", ` + c.kind
			if !strings.Contains(text, "compressor") {
				text += `, "compressor": null`
			}
			testcases.WriteFile(t, filepath.Join(dir, v2File), []byte(text+"}"), 0o600)
			for key, b := range c.chunks {
				testcases.WriteFile(t, filepath.Join(dir, key), b, 0o600)
			}
			texts, _, err := TextsIn(t.Context(), blob.Dir(dir))
			if got := fmt.Sprintf("%q", texts); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
			if err != nil && slices.Contains(texts, "Oslo") {
				t.Errorf("beside the error %q", texts)
			}
		})
	}
}
