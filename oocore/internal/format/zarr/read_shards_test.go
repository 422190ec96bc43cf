package zarr

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/blob/memblob"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// squareShard has side × side parts of a byte, value + i*side + j at (i, j).
func squareShard(side, value int, change func(index []byte)) []byte {
	shard := shardOf(side*side, change)
	for i := range side * side {
		shard[i] = byte(value + i)
	}
	return shard
}

// putShards stores an array of rows × columns such shards.
func putShards(b *memblob.Bucket, rows, columns, side int) {
	text := strings.ReplaceAll(sharded, "[1]", "[1,1]")
	text = strings.ReplaceAll(text, `"shape": [10000]`, fmt.Sprintf(`"shape": [%d,%d]`, rows*side, columns*side))
	b.Put("zarr.json", []byte(strings.ReplaceAll(text, "[10000]", fmt.Sprintf("[%d,%d]", side, side))))
	for r := range rows {
		for c := range columns {
			b.Put(fmt.Sprintf("c/%d/%d", r, c), squareShard(side, 0, nil))
		}
	}
}

// readRows reads n rows from one on, and returns the bytes that this took from the store.
func readRows(t *testing.T, s store.Session, a *array, from, n, side int) int64 {
	t.Helper()
	width := a.meta.shape[1]
	got := make([]byte, n*width)
	stored, err := s.Read(t.Context(), got, grid.Region{Start: []int{from, 0}, Count: []int{n, width}, Step: []int{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range got {
		if i, j := (from+k/width)%side, k%width%side; v != byte(i*side+j) {
			t.Fatalf("element (%d, %d) is %d, not %d", from+k/width, k%width, v, byte(i*side+j))
		}
	}
	return stored
}

func TestIndexesOfShardsAreReadOnce(t *testing.T) {
	for name, c := range map[string]struct {
		rows, columns, side int
		kept                bool // all of a row
	}{
		"a column":        {3, 1, 4, true},
		"a short row":     {2, 5, 4, true},
		"the longest row": {2, maxIndexes, 2, true},
		"a longer row":    {2, 2 * maxIndexes, 2, false},
		"large indexes":   {1, 2, 182, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := memblob.New()
			putShards(b, c.rows, c.columns, c.side)
			a, counted := openCounted(t, b)
			elements := int64(c.rows * c.columns * c.side * c.side)
			indexes := int64(c.rows*c.columns) * int64(c.side*c.side*entryBytes+crcBytes)
			w := a.Info().Work
			if a.Info().IndexBytes != indexes || w.Whole-w.Stream > maxIndexBytes {
				t.Errorf("the indexes have %d bytes, not %d, and it keeps %d of them", a.Info().IndexBytes, indexes, w.Whole-w.Stream)
			}
			for _, work := range []int64{w.Whole, w.Stream} {
				s := sessionOf(t, a, work)
				*counted.opens = 0
				n, want := readRows(t, s, a, 0, c.rows*c.side, c.side), elements+indexes
				if n != want || *counted.opens != c.rows*c.columns {
					t.Errorf("with %d bytes all at once are read as %d, not %d, from %d objects", work, n, want, *counted.opens)
				}
				times := int64(c.side) // each row reads the indexes of its shards
				if c.columns == 1 || c.kept && work == w.Whole {
					times = 1
				}
				n, s = 0, sessionOf(t, a, work)
				for i := range c.rows * c.side {
					n += readRows(t, s, a, i, 1, c.side)
				}
				if want := elements + times*indexes; n != want {
					t.Errorf("with %d bytes row by row are read as %d, not %d", work, n, want)
				}
			}
		})
	}
}

// Of a row that is a little longer than what is kept, most stays.
func TestRowOfShardsLongerThanWhatIsKept(t *testing.T) {
	const columns, side = maxIndexes + 5, 3
	b := memblob.New()
	putShards(b, 1, columns, side)
	a, _ := openCounted(t, b)
	s := sessionOf(t, a, a.Info().Work.Whole)
	const index = side*side*entryBytes + crcBytes
	for i, indexes := range []int64{columns, 2 * 5, 2 * 5} {
		if n := readRows(t, s, a, i, 1, side); n != columns*side+indexes*index {
			t.Errorf("row %d is read as %d bytes, %d more than its elements, not those of %d indexes", i, n, n-columns*side, indexes)
		}
	}
}

// A shard that another takes the place of is read by its own index.
func TestKeptIndexIsOfOneVersionOfAShard(t *testing.T) {
	const side, parts = 4, 16
	b := memblob.New()
	putShards(b, 1, 3, side)
	a, _ := openCounted(t, b)
	s := sessionOf(t, a, a.Info().Work.Whole)
	readRows(t, s, a, 0, 1, side)
	for c := range 2 { // the session has the last one open
		b.Put(fmt.Sprintf("c/0/%d", c), squareShard(side, 100, func(index []byte) {
			for i := range parts {
				binary.LittleEndian.PutUint64(index[16*i:], uint64(parts-1-i))
			}
		}))
	}
	for j := range 2 * side {
		if got, _ := readOne(t, s, 1, j); got != byte(100+parts-1-(side+j%side)) {
			t.Errorf("element (1, %d) is %d", j, got)
		}
	}
}
