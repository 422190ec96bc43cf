package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/units"
)

// Stored is a stored array whose chunks are listed.
type Stored struct {
	Path, Format, Codec string
	Shape               []int
	Chunks, Shards      []int    // Shards is nil where each chunk is stored by itself
	Dims                []string // names of the axes, where they have some
	DType               string
	Bytes               int64  // of the elements
	Fill                string // of chunks that are not stored
}

// ChunkMap adds up what a listing says of a stored array's chunks. It takes the
// same memory for ten chunks and for a million.
type ChunkMap struct {
	a      Stored
	fold   downsampledGrid
	counts []int // chunks along each axis
	cells  []storedCell
	sum    storedCell
}

// storedCell is what the chunks behind one cell take.
type storedCell struct {
	stored, bytes, least, most int64
}

func (c *storedCell) add(bytes int64) {
	if c.stored == 0 || bytes < c.least {
		c.least = bytes
	}
	c.most = max(c.most, bytes)
	c.stored++
	c.bytes += bytes
}

// mean is in MiB, as the script has it; NaN where nothing is stored.
func (c *storedCell) mean() float64 { return float64(c.bytes) / float64(c.stored) / (1 << 20) }

// maxStoredCells is how many cells the map of a stored array has at most.
const maxStoredCells = 4000

// NewChunkMap begins the map of an array that has chunks.
func NewChunkMap(a Stored) *ChunkMap {
	m := &ChunkMap{a: a}
	for d, length := range a.Shape {
		m.counts = append(m.counts, (length+a.Chunks[d]-1)/a.Chunks[d])
	}
	m.fold = newDownsampledGrid(a.Shape, a.Chunks, a.Dims, product(m.counts), maxStoredCells)
	m.cells = make([]storedCell, m.fold.cells)
	return m
}

// Add notes the bytes of a stored chunk. One outside of the grid, which is no part
// of the array, is left out.
func (m *ChunkMap) Add(index []int, bytes int64) {
	at := int64(0)
	for d, i := range index {
		if i < 0 || i >= m.counts[d] {
			return
		}
		at = at*int64(m.counts[d]) + int64(i)
	}
	m.cells[m.fold.at(at)].add(bytes)
	m.sum.add(bytes)
}

// Chunks is how many chunks the grid has.
func (m *ChunkMap) Chunks() int64 { return m.fold.n }

// Missing is how many of them are not stored.
func (m *ChunkMap) Missing() int64 { return m.Chunks() - m.sum.stored }

// StoredBytes is what the listed chunks take.
func (m *ChunkMap) StoredBytes() int64 { return m.sum.bytes }

// Ratio is how many times smaller the array is where it is stored, 0 where nothing
// is.
func (m *ChunkMap) Ratio() float64 {
	if m.sum.bytes == 0 {
		return 0
	}
	return float64(m.a.Bytes) / float64(m.sum.bytes)
}

// Output draws the map.
func (m *ChunkMap) Output(o Options) (Output, error) {
	s := sheet{Title: plain(m.a.Path), Verdict: m.verdict(), cells: m.text(), Tables: []Table{{Rows: m.facts(), Texts: 2}}}
	if o.Mode != None && m.sum.stored > 0 {
		s.Figures = []figure{*m.figure()}
	}
	return s.output(o)
}

func (m *ChunkMap) verdict() string {
	parts := []string{fmt.Sprintf("%s chunks of %s %s", units.Count(m.Chunks()), units.Shape(m.a.Chunks), plain(m.a.DType))}
	if m.sum.bytes > 0 {
		parts = append(parts, fmt.Sprintf("%s of elements in %s, ratio %s", units.Bytes(m.a.Bytes), units.Bytes(m.sum.bytes), Ratio(m.Ratio())))
	}
	if n := m.Missing(); n == m.Chunks() && n > 0 {
		parts = append(parts, "none is stored")
	} else if n > 0 {
		parts = append(parts, units.Count(n)+" are not stored")
	}
	return strings.Join(parts, " · ")
}

// Ratio writes a ratio of sizes to three figures.
func Ratio(r float64) string {
	if r >= 99.95 {
		return units.Count(int64(r + 0.5))
	}
	return fmt.Sprintf("%.3g", r)
}

func (m *ChunkMap) facts() [][]string {
	counts := make([]string, len(m.counts))
	for i, k := range m.counts {
		counts[i] = units.Count(int64(k))
	}
	facts := [][]string{
		{"array", units.Shape(m.a.Shape) + " " + plain(m.a.DType) + ", " + units.Exact(m.a.Bytes)},
		{"chunks", fmt.Sprintf("%s, a grid of %s", units.Shape(m.a.Chunks), strings.Join(counts, " × "))},
	}
	if names := strings.Join(m.a.Dims, ""); names != "" {
		facts = append(facts, []string{"dimensions", axisNames(m.a.Dims, 0, len(m.a.Shape))})
	}
	if m.a.Shards != nil {
		facts = append(facts, []string{"shards", units.Shape(m.a.Shards) + ", " + units.Count(m.perShard()) + " chunks each"})
	}
	facts = append(facts,
		[]string{"format", plain(m.a.Format) + ", codec " + plain(cmp.Or(m.a.Codec, "none"))},
		[]string{"stored", fmt.Sprintf("%s in %s chunks", units.Exact(m.sum.bytes), units.Count(m.sum.stored))})
	if m.sum.stored > 0 {
		facts = append(facts, []string{"one chunk", fmt.Sprintf("%s at least, %s on average, %s at most",
			units.Exact(m.sum.least), units.Exact(m.sum.bytes/m.sum.stored), units.Exact(m.sum.most))})
	}
	if n := m.Missing(); n > 0 {
		facts = append(facts, []string{"not stored", fmt.Sprintf("%s chunks, which read as %s", units.Count(n), plain(cmp.Or(m.a.Fill, "0")))})
	}
	return facts
}

// perShard is how many chunks a shard has.
func (m *ChunkMap) perShard() int64 {
	n := int64(1)
	for d := range m.a.Shards {
		n *= int64(m.a.Shards[d] / max(m.a.Chunks[d], 1))
	}
	return n
}

// behind returns how many chunks a cell stands for.
func (m *ChunkMap) behind(i int) int64 {
	f := &m.fold
	if f.width == 0 {
		return min(f.perCol, f.n-int64(i)*f.perCol)
	}
	row, col := int64(i/f.cols)*f.perRow, int64(i%f.cols)*f.perCol
	return min(f.perRow, f.n/f.width-row) * min(f.perCol, f.width-col)
}

// partly counts the cells of which some chunks are stored and others are not.
func (m *ChunkMap) partly() (n int) {
	for i := range m.cells {
		if c := &m.cells[i]; c.stored > 0 && c.stored < m.behind(i) {
			n++
		}
	}
	return n
}

func (m *ChunkMap) figure() *figure {
	f := &figure{Title: "Stored bytes by chunk", Caption: m.fold.caption("their mean")}
	// A border around every cell would hide what it is to show.
	partly := m.partly()
	marks := partly <= max(len(m.cells)/8, 1)
	if !marks {
		f.Caption += fmt.Sprintf(" Of %s cells some chunks are not stored.", units.Count(int64(partly)))
	}
	n := len(m.cells)
	mean := func(i int) float64 { return m.cells[i].mean() }
	absent := func(i int) int64 { return m.behind(i) - m.cells[i].stored }
	least, most := extremes(n, mean)
	f.Cells = m.fold.columns(
		column(n, func(i int) float64 { return math.Round(mean(i)*1e6) / 1e6 }),
		column(n, func(i int) float64 { return float64(absent(i)) }),
		column(n, func(i int) float64 { return mark(marks && m.cells[i].stored > 0 && absent(i) != 0) }),
		column(n, func(i int) float64 { return float64(m.cells[i].stored) }),
		column(n, func(i int) float64 { return float64(m.cells[i].least) }),
		column(n, func(i int) float64 { return float64(m.cells[i].most) }))
	if low := honest(least, most); low < least {
		f.Caption += fmt.Sprintf(" The means of all squares are within 5 %% of each other, and are drawn alike: chunks take %s to %s.", units.Exact(m.sum.least), units.Exact(m.sum.most))
		least = low
	}
	f.Switch = []choice{{"bytes", 2, least, above(least, most)}}
	return m.fold.layOut(heatMap{tooltip: "gonbext:stored", name: mebi, unknown: "not stored", marked: "some not stored", shades: chunkShades}).draw(f)
}

// honest returns the lower end of a colour scale whose upper end is most: values within 5 % of each other do not get
// all of it.
func honest(least, most float64) float64 {
	if least >= 0 && most > least {
		return min(least, 0.95*most)
	}
	return least
}

func mebi(v float64) string { return units.Bytes(int64(v*(1<<20) + 0.5)) }

// The map in text is no larger than this, in characters.
const textCols, textRows = 80, 20

// text draws the map with one character a cell, or for several: the denser, the
// more bytes.
func (m *ChunkMap) text() string {
	f := &m.fold
	across, down := (f.cols+textCols-1)/textCols, (f.rows+textRows-1)/textRows
	if f.cells < 2 || m.sum.stored == 0 {
		return ""
	}
	cols, rows := (f.cols+across-1)/across, (f.rows+down-1)/down
	merged := make([]storedCell, cols*rows)
	holds := make([]bool, len(merged))
	for i := range m.cells {
		at := i/f.cols/down*cols + i%f.cols/across
		holds[at] = true
		if c := &m.cells[i]; c.stored > 0 {
			merged[at].stored += c.stored
			merged[at].bytes += c.bytes
		}
	}
	least, most := extremes(len(merged), func(i int) float64 { return merged[i].mean() })
	bottom := honest(least, most)
	shades := []rune("░▒▓█")
	var b strings.Builder
	line := make([]rune, cols)
	for r := range rows {
		for c := range cols {
			x := &merged[r*cols+c]
			switch {
			case x.stored > 0 && most > least:
				line[c] = shades[min(3, int(4*(x.mean()-bottom)/(most-bottom)))]
			case x.stored > 0:
				line[c] = shades[1]
			case holds[r*cols+c]:
				line[c] = '·'
			default:
				line[c] = ' '
			}
		}
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	marks := fmt.Sprintf("%s %s to %s %s", string(shades[0]), mebi(bottom), string(shades[3]), mebi(most))
	if most == least {
		marks = fmt.Sprintf("%s %s", string(shades[1]), mebi(most))
	}
	if slices.ContainsFunc(merged, func(c storedCell) bool { return c.stored == 0 }) && m.Missing() > 0 {
		marks += ", · not stored"
	}
	return b.String() + marks + "\n"
}
