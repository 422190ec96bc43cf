package chart

import (
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"
)

// tiles is the map of an array of 40 × 60 chunks of which every seventh is not
// stored, and a chunk takes more the farther down it is.
func tiles(t testing.TB, rows, cols, per int) *ChunkMap {
	t.Helper()
	m := NewChunkMap(Stored{
		Path: "acts.zarr", Format: "zarr", Codec: "zstd:1", DType: "float32", Fill: "0", Bytes: int64(rows*per-1) * int64(cols*per) * 4,
		Shape: []int{rows*per - 1, cols * per}, Chunks: []int{per, per},
	})
	for r := range rows {
		for c := range cols {
			if (r*cols+c)%7 != 3 {
				m.Add([]int{r, c}, int64(1000+100*r))
			}
		}
	}
	return m
}

func drawn(t testing.TB, m *ChunkMap, o Options) Output {
	t.Helper()
	out, err := m.Output(o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStoredChunksGolden(t *testing.T) {
	row := NewChunkMap(Stored{Path: "row.zarr", Format: "zarr", DType: "int8", Bytes: 100, Shape: []int{95}, Chunks: []int{10}, Shards: []int{50}})
	for i := range 10 {
		row.Add([]int{i}, 10)
	}
	none := NewChunkMap(Stored{Path: "none.zarr", Format: "zarr", DType: "int8", Bytes: 100, Shape: []int{4, 4}, Chunks: []int{2, 2}, Fill: "NaN"})
	// Two chunks of many are seen all the same.
	holes := NewChunkMap(Stored{Path: "holes.zarr", Format: "zarr", DType: "int8", Bytes: 100, Shape: []int{400, 250}, Chunks: []int{1, 1}})
	for i := range 100_000 {
		if i != 50_100 && i != 75_200 {
			holes.Add([]int{i / 250, i % 250}, int64(i%250)+10)
		}
	}
	for name, m := range map[string]*ChunkMap{"holes": holes, "tiles": tiles(t, 12, 30, 64), "large": tiles(t, 400, 250, 8), "row": row, "none": none} {
		out := drawn(t, m, Options{})
		golden(t, "stored-"+name+".txt", out.Text)
		for _, s := range svgs(t, out.HTML) {
			if name == "tiles" {
				golden(t, "stored-"+name+".svg", s)
			}
			for d := xml.NewDecoder(strings.NewReader(s)); ; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
}

func TestStoredChunksAreCounted(t *testing.T) {
	m := tiles(t, 400, 250, 8)
	const all, missing = 100_000, 14_286 // every seventh from the third: ceil((100000-3)/7)
	if m.Chunks() != all || m.Missing() != missing {
		t.Errorf("%d chunks, %d missing", m.Chunks(), m.Missing())
	}
	var bytes int64
	for i := range all {
		if i%7 != 3 {
			bytes += int64(1000 + 100*(i/250))
		}
	}
	if m.StoredBytes() != bytes {
		t.Errorf("%d bytes are stored, want %d", m.StoredBytes(), bytes)
	}
	m.Add([]int{400, 0}, 1<<40)
	m.Add([]int{0, -1}, 1<<40)
	if m.StoredBytes() != bytes {
		t.Error("what is outside of the grid counts")
	}
	var behind int64
	for i := range m.cells {
		behind += m.behind(i)
	}
	if behind != all {
		t.Errorf("%d chunks are behind the cells", behind)
	}
	out := drawn(t, m, Options{})
	if n := len(out.HTML); n > 1<<20 {
		t.Errorf("the map of %d chunks takes %d bytes", all, n)
	}
	if lines := strings.Count(out.Text, "\n"); lines > textRows+20 {
		t.Errorf("%d lines of text", lines)
	}
}

// Text from files is shown, never obeyed; pictures only on request.
func TestStoredChunksShowEverywhere(t *testing.T) {
	m := NewChunkMap(Stored{Path: hostile, Format: hostile, Codec: hostile, Fill: hostile, DType: "int8", Bytes: 100, Shape: []int{4}, Chunks: []int{1}})
	m.Add([]int{0}, 1)
	out := drawn(t, m, Options{Library: true})
	if strings.Contains(out.HTML, "<img src=x") || strings.ContainsAny(out.Text, "\x1b\u202e") {
		t.Errorf("not escaped: %.2000s", out.HTML)
	}
	if !out.Library || !strings.Contains(out.HTML, "<script>") || !strings.Contains(out.HTML, "data:image/svg") {
		t.Error("the map is not both a picture and live")
	}
	if out := drawn(t, m, Options{Mode: SVG, Library: true}); out.Library || strings.Contains(out.HTML, "<script>") {
		t.Error("pictures carry a script")
	}
	if out := drawn(t, m, Options{Mode: None}); strings.Contains(out.HTML, "<img") {
		t.Error("a chart that nobody asked for")
	}
}

// The scale of a heat map does not make differences of less than 5 % large.
func TestSmallSpreadIsNotDrawnLarge(t *testing.T) {
	for _, c := range [][3]float64{{180_686, 180_000 / 0.95, 180_000}, {50, 100, 50}, {95, 100, 95}, {7, 7, 7}, {0, 10, 0}, {-1, 0, -1}} {
		if got := honest(c[0], c[1]); math.Abs(got-c[2]) > 1e-6 {
			t.Errorf("%v to %v begins at %v, not %v", c[0], c[1], got, c[2])
		}
	}
}
