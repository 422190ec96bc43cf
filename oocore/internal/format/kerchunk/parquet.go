package kerchunk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/meter"
)

// Row is a reference in a Parquet file, as fsspec's LazyReferenceMapper writes it: to a part of a file, to
// a whole one where the size is 0, or the object itself. One without any is of a chunk that is missing.
type Row struct {
	Path         string
	Offset, Size int64
	Raw          []byte
}

// Rows reads a Parquet file of at most so many references. Package oocore/adapters/arrow sets it.
var Rows func(ctx context.Context, path string, most int) ([]Row, error)

// parquet reports a folder of references in Parquet.
func parquet(path string) bool {
	ext := filepath.Ext(path)
	if ext != ".parq" && ext != ".parquet" || !blob.PlaceOf(path).Files {
		return false
	}
	_, err := os.Stat(filepath.Join(path, ".zmetadata"))
	return err == nil
}

// readFolder reads references in Parquet: .zmetadata, and for each array files of its chunks in C order.
func readFolder(ctx context.Context, folder string) (*references, error) {
	if Rows == nil {
		return nil, errors.New("references in Parquet are read where package oocore/adapters/arrow is imported: import it, or write them as JSON")
	}
	text, err := disk.ReadFile(filepath.Join(folder, ".zmetadata"))
	if err != nil {
		return nil, err
	}
	var head struct {
		Metadata   map[string]json.RawMessage `json:"metadata"`
		RecordSize int                        `json:"record_size"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf(".zmetadata: %w", err)
	}
	if head.RecordSize < 1 {
		return nil, errors.New(".zmetadata has no record_size")
	}
	m := meter.Meter{What: "the list of its references"}
	defer m.Done()
	p := newParser(nil, 1, m.Take)
	for _, key := range slices.Sorted(maps.Keys(head.Metadata)) {
		of := head.Metadata[key]
		if err := p.value(key, of); err != nil {
			return nil, fmt.Errorf(".zmetadata: %.80q: %w", key, err)
		}
		if dir, ok := strings.CutSuffix(key, ".zarray"); ok && (dir == "" || fs.ValidPath(strings.TrimSuffix(dir, "/"))) {
			if err := p.chunks(ctx, folder, dir, of, head.RecordSize); err != nil {
				return nil, fmt.Errorf("%.80q: %w", key, err)
			}
		}
	}
	refs, err := p.references(folder, "")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, ref := range refs.all {
		file := ""
		if ref.text == nil {
			file = refs.files[ref.file]
		}
		fmt.Fprintf(sum, "%q %q %q %d %d\n", ref.key, ref.text, file, ref.offset, ref.size)
	}
	refs.version = hex.EncodeToString(sum.Sum(nil))
	return refs, nil
}

// chunks adds the references of an array in a folder, which ends in a slash.
func (p *parser) chunks(ctx context.Context, folder, dir string, zarray []byte, record int) error {
	of := struct {
		Shape     []int  `json:"shape"`
		Chunks    []int  `json:"chunks"`
		Separator string `json:"dimension_separator"`
	}{Separator: "."}
	if err := json.Unmarshal(zarray, &of); err != nil {
		return err
	}
	if len(of.Shape) != len(of.Chunks) || slices.ContainsFunc(of.Chunks, func(n int) bool { return n < 1 }) {
		return fmt.Errorf("chunks of %v of an array of %v", of.Chunks, of.Shape)
	}
	if err := grid.Check(of.Shape, 1); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(folder, filepath.FromSlash(dir)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	g := grid.Grid{Shape: of.Shape, Chunks: of.Chunks}
	chunks := g.Len()
	for _, e := range entries {
		text, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".parq"), "refs.")
		number, err := strconv.Atoi(text)
		if !ok || err != nil {
			continue
		}
		if number < 0 || number > chunks/record {
			return fmt.Errorf("%s is beyond the array's %d chunks", e.Name(), chunks)
		}
		rows, err := Rows(ctx, filepath.Join(folder, filepath.FromSlash(dir), e.Name()), record)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		held := int64(len(rows)) * int64(unsafe.Sizeof(Row{}))
		p.room.For(held)
		for i, row := range rows {
			at := number*record + i
			if row.Path == "" && row.Raw == nil {
				continue
			}
			if at >= chunks {
				return fmt.Errorf("%s has more rows than the array has chunks", e.Name())
			}
			index := []string{}
			for d, start := range g.Box(at).Start {
				index = append(index, strconv.Itoa(start/of.Chunks[d]))
			}
			if len(index) == 0 {
				index = []string{"0"}
			}
			ref := reference{key: dir + strings.Join(index, of.Separator), text: row.Raw, offset: row.Offset, size: row.Size}
			if row.Raw == nil {
				if row.Offset < 0 || row.Size < 0 || row.Path == "" {
					return fmt.Errorf("%s: row %d: %d bytes at %d of %.80q are no place in a file", e.Name(), i, row.Size, row.Offset, row.Path)
				}
				if row.Size == 0 {
					ref.offset, ref.size = 0, -1
				}
				p.in(&ref, row.Path)
			}
			p.add(ref, 1)
		}
		p.room.For(-held)
	}
	return nil
}
