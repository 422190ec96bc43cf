package chart

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/units"
)

// Footprint is what an array of one shape would take, by element type: the
// content of %footprint.
type Footprint struct {
	Shape  []int
	Rows   []FootprintRow
	Limits []Limit // what there is to fit into
}

// FootprintRow is one element type. Chunks is a chunk shape to work with, of
// ChunkBytes bytes; none where the array is small.
type FootprintRow struct {
	DType      string
	Bytes      int64
	Chunks     []int
	ChunkBytes int64
}

// Limit is a bound on memory: "RAM", "container", "budget", a device's name.
type Limit struct {
	Name  string
	Bytes int64
}

// FootprintTable shows a footprint: exact and rounded bytes by element type,
// and into which limits they fit.
func FootprintTable(f Footprint) Output {
	head := []string{"dtype", "bytes", ""}
	for _, l := range f.Limits {
		head = append(head, fmt.Sprintf("%s %s", plain(l.Name), units.Bytes(l.Bytes)))
	}
	head = append(head, "chunks", "of")
	rows := make([][]string, len(f.Rows))
	for i, r := range f.Rows {
		row := []string{plain(r.DType), units.Count(r.Bytes), units.Bytes(r.Bytes)}
		for _, l := range f.Limits {
			row = append(row, fits(r.Bytes, l.Bytes))
		}
		chunks, of := "–", "–"
		if len(r.Chunks) > 0 {
			chunks, of = units.Shape(r.Chunks), units.Bytes(r.ChunkBytes)
		}
		rows[i] = append(row, chunks, of)
	}
	n := int64(1)
	for _, d := range f.Shape {
		n *= int64(d)
	}
	title := fmt.Sprintf("%s · %s elements", units.Shape(f.Shape), units.Count(n))
	html, err := render("footprint", struct {
		Title string
		Head  []string
		Rows  [][]string
	}{title, head, rows})
	if err != nil {
		html = "" // the text says the same
	}
	return Output{HTML: html, Text: title + "\n" + align(append([][]string{head}, rows...))}
}

// fits says whether need goes into limit, and how far beyond it is if not.
func fits(need, limit int64) string {
	switch {
	case need <= limit:
		return "fits"
	case limit <= 0:
		return "does not fit"
	}
	return fmt.Sprintf("%.3g × too large", float64(need)/float64(limit))
}
