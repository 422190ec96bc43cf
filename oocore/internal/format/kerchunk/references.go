package kerchunk

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/units"
)

// references are the objects of a store: a key, and what the object is (Kerchunk's specification,
// versions 0 and 1). Nothing in them is trusted.
type references struct {
	all     []reference // by key
	files   []string    // that they refer to
	version string      // another where the text is another
}

// reference is an object: text, or bytes of a file.
type reference struct {
	key    string
	text   []byte // nil where the object is in a file
	file   int
	offset int64
	size   int64 // -1 is the whole file
}

// referenceBytes is what a reference takes of memory, besides key and text.
const referenceBytes = 64 + 24

// readReferences reads references. base is the path of what has them, below whose folder relative paths are. take
// counts the memory that they hold.
func readReferences(r io.ReaderAt, size int64, base string, take func(bytes int64) error) (*references, error) {
	sum := sha256.New()
	p := newParser(io.TeeReader(io.NewSectionReader(r, 0, size), sum), size, take)
	if err := p.top(); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file is cut short")
		}
		return nil, fmt.Errorf("references: %w", err)
	}
	return p.references(base, hex.EncodeToString(sum.Sum(nil)))
}

// newParser returns a parser of JSON of so many bytes.
func newParser(r io.Reader, size int64, take func(bytes int64) error) *parser {
	return &parser{d: meter.NewDecoder(r, take), size: size, at: map[string]int{}, room: meter.Room{Take: take}}
}

// references are those that the parser has read.
func (p *parser) references(base, version string) (*references, error) {
	if p.room.Err != nil {
		return nil, p.room.Err
	}
	out := &references{all: p.all, version: version}
	for _, name := range p.files {
		file, err := p.place(name, base)
		if err != nil {
			return nil, err
		}
		out.files = append(out.files, file)
	}
	slices.SortStableFunc(out.all, func(a, b reference) int { return strings.Compare(a.key, b.key) })
	for i, ref := range out.all {
		if i > 0 && ref.key == out.all[i-1].key {
			return nil, fmt.Errorf("references: %.80q is there twice", ref.key)
		}
	}
	return out, nil
}

// find returns the object of a key.
func (r *references) find(key string) (*reference, bool) {
	at, ok := slices.BinarySearchFunc(r.all, key, func(ref reference, key string) int { return strings.Compare(ref.key, key) })
	if !ok {
		return nil, false
	}
	return &r.all[at], true
}

// below are the objects whose keys begin with a prefix.
func (r *references) below(prefix string) []reference {
	at, _ := slices.BinarySearchFunc(r.all, prefix, func(ref reference, key string) int { return strings.Compare(ref.key, key) })
	end := at
	for end < len(r.all) && strings.HasPrefix(r.all[end].key, prefix) {
		end++
	}
	return r.all[at:end]
}

// arrays are the names of the arrays; "" is one that is the whole store.
func (r *references) arrays() (names []string) {
	for _, ref := range r.all {
		switch dir, file := path.Split(ref.key); file {
		case ".zarray":
			names = append(names, strings.TrimSuffix(dir, "/"))
		case "zarr.json":
			var node struct {
				Kind string `json:"node_type"`
			}
			if json.Unmarshal(ref.text, &node) == nil && node.Kind == "array" {
				names = append(names, strings.TrimSuffix(dir, "/"))
			}
		}
	}
	return names
}

// parser reads references as a stream. What does not fit into memory it only counts.
type parser struct {
	d         *json.Decoder
	size      int64
	room      meter.Room
	all       []reference
	files     []string
	at        map[string]int // of files
	templates map[string]string
}

// object goes through the members of an object, whose values yield takes.
func (p *parser) object(yield func(key string) error) error {
	if t, err := p.d.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return fmt.Errorf("%.80q is not a JSON object", fmt.Sprint(t))
	}
	for p.d.More() {
		t, err := p.d.Token()
		if err != nil {
			return err
		}
		if err := yield(t.(string)); err != nil {
			return fmt.Errorf("%.80q: %w", t, err)
		}
	}
	_, err := p.d.Token()
	return err
}

// top reads a file: of version 1, or the references themselves.
func (p *parser) top() error {
	err := p.object(func(key string) error {
		switch key {
		case "refs":
			return p.object(p.reference)
		case "version":
			var version int
			if err := p.d.Decode(&version); err != nil {
				return err
			}
			if version != 0 && version != 1 {
				return fmt.Errorf("version %d is not supported: supported are 0 and 1", version)
			}
			return nil
		case "templates":
			return p.d.Decode(&p.templates)
		case "gen":
			var gen []json.RawMessage
			if err := p.d.Decode(&gen); err != nil || len(gen) == 0 {
				return err
			}
			return errors.New("references that are generated are not supported: write them one by one")
		}
		return p.reference(key)
	})
	if err != nil {
		return err
	}
	if _, err := p.d.Token(); err != io.EOF {
		return errors.New("more follows after the JSON object")
	}
	return nil
}

// reference reads a value: text, base64, an object that is meant as text, or a place in a file.
func (p *parser) reference(key string) error {
	var raw json.RawMessage
	if err := p.d.Decode(&raw); err != nil {
		return err
	}
	return p.value(key, raw)
}

// value takes a value that was read.
func (p *parser) value(key string, raw json.RawMessage) error {
	ref := reference{key: key}
	switch raw[0] {
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		ref.text = []byte(text)
		if data, ok := strings.CutPrefix(text, "base64:"); ok {
			var err error
			if ref.text, err = base64.StdEncoding.DecodeString(data); err != nil {
				return errors.New("its base64 is damaged")
			}
		}
	case '{':
		ref.text = bytes.Clone(raw)
	case '[':
		var place []json.RawMessage
		var file string
		err := json.Unmarshal(raw, &place)
		if err != nil || len(place) != 1 && len(place) != 3 || json.Unmarshal(place[0], &file) != nil || file == "" {
			return fmt.Errorf("%.80s is neither [url] nor [url, offset, length]", units.Line(string(raw)))
		}
		ref.size = -1
		if len(place) == 3 && (json.Unmarshal(place[1], &ref.offset) != nil || json.Unmarshal(place[2], &ref.size) != nil || ref.offset < 0 || ref.size < 0) {
			return fmt.Errorf("%.80s is not a place in a file", units.Line(string(raw)))
		}
		p.in(&ref, file)
	default:
		return fmt.Errorf("%.80s is no reference", units.Line(string(raw)))
	}
	p.add(ref, p.d.InputOffset())
	return nil
}

// in says which file a reference is to.
func (p *parser) in(ref *reference, file string) {
	const few = 1024
	at, ok := p.at[file]
	if !ok {
		if !p.room.For(int64(2*len(file))+128) && len(p.files) > few {
			return
		}
		at = len(p.files)
		p.at[file], p.files = at, append(p.files, file)
	}
	ref.file = at
}

// add adds a reference, after which the parser has read done bytes of p.size.
func (p *parser) add(ref reference, done int64) {
	if p.room.For(referenceBytes + int64(len(ref.key)+len(ref.text))) {
		p.all = meter.Append(&p.room, p.all, ref, done, p.size)
	}
}

// place returns the path or address of a file that references name. Relative paths are those of
// files below the folder of the references.
func (p *parser) place(name, base string) (string, error) {
	text := name
	for strings.Contains(name, "{{") {
		before, rest, _ := strings.Cut(name, "{{")
		key, after, ok := strings.Cut(rest, "}}")
		value, known := p.templates[strings.TrimSpace(key)]
		if !ok || !known || strings.Contains(value, "{{") {
			return "", fmt.Errorf("references: %.80q: only templates without arguments are supported", text)
		}
		name = before + value + after
	}
	file, err := Place(name, base)
	if err != nil {
		return "", fmt.Errorf("references: %w", err)
	}
	return file, nil
}

// Place is the path or address of a file that is named in the one at base, below whose folder relative paths are.
func Place(name, base string) (string, error) {
	if strings.Contains(name, "::") {
		return "", fmt.Errorf("%.80q: chains of file systems are not supported", name)
	}
	local := false
	for _, scheme := range []string{"file://", "local://"} {
		if rest, ok := strings.CutPrefix(name, scheme); ok {
			name, local = rest, true
		}
	}
	from := blob.PlaceOf(base)
	switch {
	case !blob.PlaceOf(name).Files:
		if u, err := url.Parse(name); err != nil || u.User != nil || u.RawQuery != "" {
			return "", errors.New("an address that cannot be, or has a user, password or signature, is rejected, since paths are shown and recorded")
		}
		return name, nil
	case local || filepath.IsAbs(name):
		if !from.Files {
			return "", fmt.Errorf("%s refers to a file of this machine, %.80q: download it, if it is meant so", base, name)
		}
		return filepath.Clean(name), nil
	}
	at, err := storage.Beside(base, name)
	if err != nil {
		return "", fmt.Errorf("%w: write where it is in full", err)
	}
	return at, nil
}

// opens says which files are read.
func (r *references) opens() string {
	if len(r.files) == 0 {
		return "text"
	}
	if n := len(r.files) - 1; n > 0 {
		return fmt.Sprintf("%s and %d more", r.files[0], n)
	}
	return r.files[0]
}
