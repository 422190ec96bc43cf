package kerchunk

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
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
	if ext != ".parq" && ext != ".parquet" || blob.Remote(path) {
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
	refs := make(map[string]any, len(head.Metadata))
	for key, of := range head.Metadata {
		refs[key] = of
		if dir, ok := strings.CutSuffix(key, ".zarray"); ok && (dir == "" || fs.ValidPath(strings.TrimSuffix(dir, "/"))) {
			if err := readChunks(ctx, folder, dir, of, head.RecordSize, refs); err != nil {
				return nil, fmt.Errorf("%.80q: %w", key, err)
			}
		}
	}
	if text, err = json.Marshal(map[string]any{"refs": refs}); err != nil {
		return nil, err
	}
	return readReferences(bytes.NewReader(text), int64(len(text)), folder)
}

// readChunks adds the references of an array in a folder, which ends in a slash, in the form that JSON has them.
func readChunks(ctx context.Context, folder, dir string, zarray []byte, record int, refs map[string]any) error {
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
			key := dir + strings.Join(index, of.Separator)
			switch {
			case row.Raw != nil:
				refs[key] = "base64:" + base64.StdEncoding.EncodeToString(row.Raw)
			case row.Size == 0:
				refs[key] = []any{row.Path}
			default:
				refs[key] = []any{row.Path, row.Offset, row.Size}
			}
		}
	}
	return nil
}
