// Package inspect describes stored arrays: what info prints, and the chunks that %chunks
// draws.
package inspect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/gonbext/internal/names"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/units"
)

// Info is what is said of a stored array. Sizes are bytes.
type Info struct {
	Path      string     `json:"path"`
	Format    string     `json:"format"`
	Shape     []int      `json:"shape"`
	DType     dtype.Type `json:"dtype"`
	Chunks    []int      `json:"chunks"`     // null where any region is as good as another
	Shards    []int      `json:"shards"`     // null where each chunk is stored by itself
	Bytes     int64      `json:"bytes"`      // of the elements
	FileBytes *int64     `json:"file_bytes"` // null where only a listing of all chunks would tell
	Codec     string     `json:"codec"`
	Fortran   bool       `json:"fortran_order"`
	store.Details
	Notes   []string `json:"notes,omitempty"`   // what the numbers stand for, where that is not themselves; chunks that are not stored
	Listing *Listing `json:"listing,omitempty"` // where it was asked for or took little
	asked   bool     // for the listing, which text then shows
}

// Listing is what only a listing of all chunks tells.
type Listing struct {
	Chunks  int64   `json:"chunks"` // of the grid
	Missing int64   `json:"missing"`
	Bytes   int64   `json:"bytes"` // that are stored
	Ratio   float64 `json:"ratio"` // of the elements' bytes to these
}

// listings says which arrays have their chunks listed: all where that is asked for, otherwise
// those with few chunks.
type listings struct {
	asked bool
	left  int // of the chunks that are listed without being asked for
}

func newListings(asked bool) *listings { return &listings{asked, 100_000} }

func (l *listings) read(ctx context.Context, path string) (*Info, error) {
	a, err := store.OpenContext(ctx, path)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return l.of(ctx, a, path)
}

// Of says what an open array is. It reads no more than its header, and lists
// its chunks where that is asked for, or where they are few.
func Of(ctx context.Context, a store.Array, path string, list bool) (*Info, error) {
	return newListings(list).of(ctx, a, path)
}

func (l *listings) of(ctx context.Context, a store.Array, path string) (*Info, error) {
	seen := oocore.FromStore(a) // which sees the shape as the user does
	if err := seen.Err(); err != nil {
		return nil, err
	}
	s := a.Info()
	i := &Info{Path: path, Format: s.Format, Shape: seen.Shape(), DType: seen.DType(), Chunks: seen.Chunks(), Shards: s.Shards,
		Bytes: seen.Bytes(), Codec: s.Codec, Fortran: s.Fortran, Details: s.Details, Notes: host.Warnings(seen), asked: l.asked}
	i.Dims = seen.DimNames()
	if i.Codec == "" {
		i.Codec = "none"
	}
	if s.Bytes >= 0 {
		i.FileBytes = &s.Bytes
	}
	if !l.asked && !l.few(s) {
		return i, nil
	}
	m, err := listChunks(ctx, a)
	if errors.Is(err, errOnePiece) || err != nil && !l.asked && ctx.Err() == nil {
		return i, nil
	}
	if err != nil {
		return nil, err
	}
	stored := m.StoredBytes()
	i.Listing = &Listing{Chunks: m.Chunks(), Missing: m.Missing(), Bytes: stored, Ratio: m.Ratio()}
	if i.FileBytes == nil {
		i.FileBytes = &stored
	}
	if m.Missing() > 0 {
		verb := map[bool]string{true: "is", false: "are"}[m.Chunks()-m.Missing() == 1]
		i.Notes = append(i.Notes, fmt.Sprintf("%s of %s chunks %s stored; the others read as the fill value %s",
			units.Count(m.Chunks()-m.Missing()), units.Count(m.Chunks()), verb, cmp.Or(i.Fill, "0")))
	}
	return i, nil
}

// few reports whether the chunks of an array are listed without being asked for, and counts them.
// In an object store a thousand keys are a request, and the index of each shard one more.
func (l *listings) few(s store.Info) bool {
	if len(s.Chunks) != len(s.Shape) || host.Remote(s.Path) && s.Shards != nil {
		return false
	}
	n := 1
	for d := range s.Chunks {
		if n *= (s.Shape[d] + s.Chunks[d] - 1) / max(s.Chunks[d], 1); n > l.left {
			return false
		}
	}
	if host.Remote(s.Path) {
		n *= 100
	}
	if n > l.left {
		return false
	}
	l.left -= n
	return true
}

// errOnePiece is why something has no chunks to draw.
var errOnePiece = errors.New("it is stored in one piece, where any region reads alike: it has no chunks")

// Chunks lists the chunks of the array at path. Its memory does not grow with
// their number.
func Chunks(ctx context.Context, path string) (*chart.ChunkMap, error) {
	a, err := store.OpenContext(ctx, path)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return listChunks(ctx, a)
}

func listChunks(ctx context.Context, a store.Array) (*chart.ChunkMap, error) {
	s := a.Info()
	listed, ok := a.(host.Listed)
	if !ok || len(s.Chunks) != len(s.Shape) {
		return nil, fmt.Errorf("%s: %w", s.Path, errOnePiece)
	}
	m := chart.NewChunkMap(chart.Stored{Path: s.Path, Format: s.Format, Codec: s.Codec, Shape: s.Shape, Chunks: s.Chunks, Dims: s.Details.Dims, Shards: s.Shards,
		DType: s.DType.String(), Bytes: int64(host.Elements(s.Shape)) * int64(s.DType.Size()), Fill: s.Details.Fill})
	err := listed.Chunks(ctx, func(index []int, bytes int64) error {
		m.Add(index, bytes)
		return nil
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%s: listing its %s chunks takes too long here: gonbext info --chunks waits for it", s.Path, units.Count(m.Chunks()))
	case errors.Is(err, context.Canceled):
		return nil, fmt.Errorf("%s: interrupted while its chunks were listed", s.Path)
	case err != nil:
		return nil, err
	}
	return m, nil
}

// Text is for a terminal.
func (i *Info) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", units.Line(i.Path))
	say := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-7s %s\n", name, fmt.Sprintf(format, args...))
	}
	say("shape", "%s%s", units.Shape(i.Shape), dims(i.Dims))
	say("dtype", "%s", i.DType)
	if i.Chunks == nil {
		say("chunks", "none: any region reads alike")
	} else {
		say("chunks", "%s, %s of %s each", units.Shape(i.Chunks), units.Count(int64(host.Grid{Shape: i.Shape, Chunks: i.Chunks}.Len())), units.Bytes(int64(host.Elements(i.Chunks))*int64(i.DType.Size())))
	}
	if i.Shards != nil {
		say("shards", "%s, %s chunks each", units.Shape(i.Shards), units.Count(int64(host.Elements(i.Shards)/max(host.Elements(i.Chunks), 1))))
	}
	say("bytes", "%s", units.Both(i.Bytes))
	if l := i.Listing; l != nil && i.asked {
		say("stored", "%s, ratio %s", units.Both(l.Bytes), chart.Ratio(l.Ratio))
		say("missing", "%s of %s chunks", units.Count(l.Missing), units.Count(l.Chunks))
	}
	order := ""
	if i.Fortran {
		order = ", in Fortran order"
	}
	say("format", "%s%s", i.Format, order)
	say("codec", "%s", i.Codec)
	if i.Fill != "" {
		say("fill", "%s", i.Fill)
	}
	for k, line := range attributeLines(i.Attributes) {
		name := ""
		if k == 0 {
			name = "attrs"
		}
		say(name, "%s", line)
	}
	for _, note := range i.Notes {
		fmt.Fprintf(&b, "  %s\n", note)
	}
	return b.String()
}

func dims(names []string) string {
	if len(names) == 0 {
		return ""
	}
	named := make([]string, len(names))
	for i, n := range names {
		if named[i] = fmt.Sprintf("%q", n); n == "" {
			named[i] = "–"
		}
	}
	return ": " + strings.Join(named, " × ")
}

// maxAttributes is how many of an array's attributes are printed.
const maxAttributes = 40

// attributeLines are the attributes, sorted, one a line.
func attributeLines(raw json.RawMessage) []string {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
		return nil
	}
	var lines []string
	for name, value := range all {
		var b bytes.Buffer
		if json.Compact(&b, value) != nil {
			continue
		}
		lines = append(lines, names.Clip(name+" = "+b.String()))
	}
	slices.Sort(lines)
	if n := len(lines); n > maxAttributes {
		lines = append(lines[:maxAttributes], "…")
	}
	return lines
}
