package zarr

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// Texts returns the texts of an array of strings of one dimension, and its attributes: of NumPy's types U and S in version 2, which are
// fixed_length_utf32 and null_terminated_bytes in version 3, and of any length as vlen-utf8 encodes them.
func (format) Texts(ctx context.Context, path string) ([]string, json.RawMessage, error) {
	b, err := bucketOf(path)
	if err != nil {
		return nil, nil, err
	}
	return TextsIn(ctx, b)
}

// TextsIn is Texts of the array whose metadata and chunks are the objects of a bucket.
func TextsIn(ctx context.Context, b blob.Bucket) ([]string, json.RawMessage, error) {
	s, err := readStrings(ctx, b)
	if s == nil || err != nil {
		return nil, nil, err
	}
	all, err := s.texts(ctx, b)
	return all, s.attributes, err
}

// stringArray is an array of strings of one dimension.
type stringArray struct {
	bytes      *meta // of an array of uint8 in its place
	attributes json.RawMessage
	length     int              // of a text in bytes; 0 of texts of any length
	wide       binary.ByteOrder // of UTF-32; nil of bytes
	fill       string
	compressor json.RawMessage   // in version 2
	codecs     []json.RawMessage // in version 3
	last       string            // of these
}

// readStrings reads the metadata of an array of strings of one dimension; nil of another.
func readStrings(ctx context.Context, b blob.Bucket) (*stringArray, error) {
	s := &stringArray{}
	text, _, err := ReadMetadata(ctx, b, v3File)
	read, v2 := s.readV3, errors.Is(err, fs.ErrNotExist)
	if v2 {
		read = s.readV2
		text, _, err = ReadMetadata(ctx, b, v2File)
	}
	if err != nil {
		return nil, err
	}
	o, err := parseObject(text)
	if err != nil {
		return nil, err
	}
	shape, err := o.lengths("shape", 0)
	if err != nil || len(shape) != 1 {
		return nil, err
	}
	is, err := read(o)
	if err != nil || !is {
		return nil, err
	}
	_ = json.Unmarshal(o["fill_value"], &s.fill) // of another form: nothing is there
	o["fill_value"] = json.RawMessage("0")
	if text, err = json.Marshal(o); err != nil {
		return nil, err
	}
	if v2 {
		if s.attributes, _, err = ReadMetadata(ctx, b, v2Attributes); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		s.bytes, err = parseV2(text, nil)
	} else {
		s.attributes = o["attributes"]
		s.bytes, err = parseV3(text)
	}
	return s, err
}

// readV2 makes the metadata of an array of uint8 of those of one of strings.
func (s *stringArray) readV2(o object) (is bool, err error) {
	var name string
	if json.Unmarshal(o["dtype"], &name) != nil || len(name) < 2 {
		return false, nil
	}
	var by struct{ ID string }
	var filters []struct{ ID string }
	if json.Unmarshal(o["filters"], &filters) != nil || json.Unmarshal(o["compressor"], &by) != nil {
		return false, nil
	}
	if anyLength := len(filters) == 1 && filters[0].ID == "vlen-utf8"; name != "|O" || !anyLength {
		s.length, err = npy.CodeBytes(name)
		if kind := name[1]; err != nil || s.length < 1 || s.length > storage.MaxTexts || len(filters) > 0 || kind != 'S' && kind != 'U' {
			return false, nil
		}
	}
	if name[1] == 'U' {
		s.wide = binary.LittleEndian
		if name[0] == '>' {
			s.wide = binary.BigEndian
		}
	}
	s.compressor, s.last = o["compressor"], by.ID
	o["dtype"], o["filters"] = json.RawMessage(`"|u1"`), json.RawMessage("null")
	return true, nil
}

// readV3 makes the metadata of an array of uint8 of those of one of strings.
func (s *stringArray) readV3(o object) (is bool, err error) {
	kind, err := o.named("data_type")
	if err != nil {
		return false, nil // a group
	}
	if err := o.field("codecs", &s.codecs); err != nil || len(s.codecs) == 0 {
		return false, err
	}
	first, err := parseNamed(s.codecs[0])
	if err != nil {
		return false, err
	}
	switch kind.name {
	case "string":
		if first.name != "vlen-utf8" {
			return false, fmt.Errorf("codecs: strings by %q are not supported, those by vlen-utf8 are", shorten([]byte(first.name)))
		}
		s.codecs[0] = json.RawMessage(`{"name": "bytes"}`)
	case "fixed_length_utf32", "null_terminated_bytes":
		if err := kind.configuration.field("length_bytes", &s.length); err != nil {
			return false, fmt.Errorf("data_type: %w", err)
		}
		if s.length < 1 || s.length > storage.MaxTexts || kind.name == "fixed_length_utf32" && s.length%4 > 0 {
			return false, fmt.Errorf("data_type: texts of %d bytes are no labels", s.length)
		}
		if kind.name == "fixed_length_utf32" {
			s.wide = binary.LittleEndian
			if string(first.configuration["endian"]) == `"big"` {
				s.wide = binary.BigEndian
			}
		}
	default:
		return false, nil
	}
	last, err := parseNamed(s.codecs[len(s.codecs)-1])
	if err != nil {
		return false, err
	}
	s.last, o["data_type"] = last.name, json.RawMessage(`"uint8"`)
	o["codecs"], err = json.Marshal(s.codecs)
	return true, err
}

// text is that of its bytes, which zeros fill up where all have one length.
func (s *stringArray) text(b []byte) (string, bool) {
	if s.wide == nil {
		if s.length > 0 {
			b = bytes.TrimRight(b, "\x00")
		}
		return string(b), utf8.Valid(b)
	}
	var text strings.Builder
	for ; len(b) > 0; b = b[4:] {
		r := s.wide.Uint32(b)
		if r > utf8.MaxRune {
			return "", false
		}
		text.WriteRune(rune(r))
	}
	return strings.TrimRight(text.String(), "\x00"), true
}

// texts reads all texts, chunk by chunk.
func (s *stringArray) texts(ctx context.Context, b blob.Bucket) ([]string, error) {
	m := meter.Meter{What: "labels that are text"}
	defer m.Done()
	n, chunk := s.bytes.shape[0], s.bytes.chunks[0]
	if len(s.bytes.shards) > 0 || s.bytes.runs != nil {
		return []string{}, errors.New("strings in shards or in chunks of several lengths are not supported")
	}
	if n > storage.MaxTexts || chunk > storage.MaxTexts/max(s.length, 1) {
		return []string{}, fmt.Errorf("%d texts in chunks of %d are no labels", n, chunk)
	}
	if err := m.Take(32 * int64(n)); err != nil {
		return []string{}, err
	}
	all := make([]string, 0, n)
	for i := 0; len(all) < n; i++ {
		key, most := s.bytes.key([]int{i}), min(chunk, n-len(all))
		texts, err := s.chunk(ctx, b, key, most, m.Take)
		if errors.Is(err, fs.ErrNotExist) {
			for range most {
				texts = append(texts, s.fill)
			}
		} else if err != nil {
			return []string{}, fmt.Errorf("%s: %w", key, err)
		}
		all = append(all, texts...)
	}
	return all, nil
}

// errDamaged is of texts whose bytes are none.
var errDamaged = errors.New("the texts are not those that its lengths say: the file is damaged")

// chunk reads the first n texts of a chunk: of one length, or of any as numcodecs' vlen-utf8 has them, a count, and of each text its length and
// its bytes, both numbers of 32 bits.
func (s *stringArray) chunk(ctx context.Context, b blob.Bucket, key string, n int, take func(bytes int64) error) ([]string, error) {
	encoded, _, err := readUpTo(ctx, b, key, storage.MaxTexts)
	if err != nil {
		return nil, err
	}
	size, ok := int64(s.bytes.chunks[0])*int64(s.length), true
	if s.length == 0 {
		size, ok = codec.StatedSize(s.last, encoded)
	}
	if !ok {
		return nil, fmt.Errorf("strings by codec %q are not supported: by zstd, blosc, gzip and lz4 they are", shorten([]byte(s.last)))
	}
	if size > storage.MaxTexts {
		return nil, fmt.Errorf("texts of %d bytes are no labels, which have at most %d", size, storage.MaxTexts)
	}
	if err := take(2 * size); err != nil { // the chunk, and its texts
		return nil, err
	}
	data, err := s.decode(encoded, int(size))
	if err != nil {
		return nil, err
	}
	if s.length == 0 {
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) < uint64(n) {
			return nil, errDamaged
		}
		data = data[4:]
	}
	texts := make([]string, n)
	for i := range texts {
		end := s.length
		if end == 0 {
			if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
				return nil, errDamaged
			}
			end, data = int(binary.LittleEndian.Uint32(data)), data[4:]
		}
		if texts[i], ok = s.text(data[:end]); !ok {
			return nil, errDamaged
		}
		data = data[end:]
	}
	return texts, nil
}

// decode returns the size bytes that a chunk of texts holds.
func (s *stringArray) decode(encoded []byte, size int) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	var p *codec.Pipeline
	var err error
	if s.bytes.version == 2 {
		p, err = codec.FromV2(s.compressor, nil, "C", false, []int{size}, dtype.Uint8)
	} else {
		p, err = codec.FromV3(s.codecs, []int{size}, dtype.Uint8)
	}
	if err != nil {
		return nil, err
	}
	d, err := p.Decoder(make([]byte, p.DecodeWork().Whole))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	data := make([]byte, size)
	_, err = d.Get(data, func(into []byte) (int64, error) { return int64(copy(into, encoded)), nil })
	return data, err
}
