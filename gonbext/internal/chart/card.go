package chart

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Card shows an array: a figure of it where the cell asked for one, else its type and shape, a
// drawing of its chunks, and its first and last elements. Of a collection it shows its arrays.
func Card(c *record.Card, o Options) (Output, error) {
	if c.Figure != nil {
		return dataFigure(c, o)
	}
	if c.Arrays != nil {
		t := Table{Head: []string{"array", "shape", "type", "bytes"}, Texts: 3}
		for _, row := range c.Arrays {
			texts := make([]string, len(row))
			for i := range row {
				texts[i] = plain(row[i])
			}
			t.Rows = append(t.Rows, texts)
		}
		out, err := Tables("", plain(c.Title), "", t)
		out.Text = plainLines(c.Text)
		return out, err
	}
	return Output{HTML: cardPage(c, o.Library, chunkDrawing(c)), Text: plainLines(c.Text)}, nil
}

// cardLine is an array in one line.
func cardLine(c *record.Card) string {
	shape := units.Shape(c.Shape)
	if named := strings.Join(c.Dims, ""); named != "" && len(c.Dims) == len(c.Shape) {
		lengths := make([]string, len(c.Shape))
		for i, n := range c.Shape {
			lengths[i] = strings.TrimSpace(plain(c.Dims[i]) + " " + units.Count(int64(n)))
		}
		shape = strings.Join(lengths, " × ")
	}
	line := fmt.Sprintf("%s %s · %s", shape, plain(c.DType), units.Both(c.Bytes))
	if len(c.Chunks) > 0 {
		line += " · " + cardChunks(c)
	}
	if c.Receipt != "" {
		line += " · " + plain(c.Receipt)
	}
	return line
}

func cardChunks(c *record.Card) string {
	n, one := int64(1), int64(1)
	for i := range c.Chunks {
		n *= ceilDiv(int64(c.Shape[i]), int64(max(c.Chunks[i], 1)))
		one *= int64(c.Chunks[i])
	}
	if n == 1 {
		return "one chunk"
	}
	var size int64
	if all := product(c.Shape); all > 0 {
		size = one * (c.Bytes / all)
	}
	return fmt.Sprintf("%s chunks of %s, %s each", units.Count(n), units.Shape(c.Chunks), units.Bytes(size))
}

// chunkDrawing draws the last two axes of an array to scale, cut into its chunks;
// axes before them lie behind as a stack. It is "" where there is nothing to see.
func chunkDrawing(c *record.Card) markup {
	n := len(c.Shape)
	if n == 0 || len(c.Chunks) != n || c.Bytes == 0 {
		return ""
	}
	rows, chunkRows := 1, 1
	if n > 1 {
		rows, chunkRows = c.Shape[n-2], c.Chunks[n-2]
	}
	columns, chunkColumns := c.Shape[n-1], c.Chunks[n-1]
	const most, least, top = 150.0, 24.0, 24.0
	left := 70.0
	if len(c.Dims) == n {
		left = 140
	}
	scale := most / float64(max(rows, columns))
	w, h := max(float64(columns)*scale, least), max(float64(rows)*scale, least)
	behind := min(product(c.Shape[:max(n-2, 0)]), 4) - 1
	d := newDrawing(max(left+w+6*float64(behind), left+w/2+40)+8, h+top+8+6*float64(behind)) // 40: half of a long figure
	for i := behind; i > 0; i-- {
		d.printf(`<rect x="%s" y="%s" width="%s" height="%s" fill="#47a" fill-opacity=".25" stroke="#47a"/>`, num(left+6*float64(i)), num(top+6*float64(behind-i)), num(w), num(h))
	}
	y := top + 6*float64(behind)
	d.printf(`<rect x="%s" y="%s" width="%s" height="%s" fill="#47a" fill-opacity=".12" stroke="#47a" stroke-width="1.5"/>`, num(left), num(y), num(w), num(h))
	cut := func(length, chunk int, size float64, line func(at float64) string) {
		const most = 60 // more are a grey
		if k := ceilDiv(int64(length), int64(max(chunk, 1))); k <= most {
			for i := int64(1); i < k; i++ {
				d.printf(`<path d="%s" stroke="#47a" stroke-width="0.7"/>`, line(size*float64(i)*float64(chunk)/float64(length)))
			}
		}
	}
	cut(columns, chunkColumns, w, func(at float64) string { return fmt.Sprintf("M%s %sv%s", num(left+at), num(y), num(h)) })
	cut(rows, chunkRows, h, func(at float64) string { return fmt.Sprintf("M%s %sh%s", num(left), num(y+at), num(w)) })
	label := func(axis, length int) string {
		if axis < len(c.Dims) && c.Dims[axis] != "" {
			return clip(plain(c.Dims[axis]), 12) + " " + units.Count(int64(length))
		}
		return units.Count(int64(length))
	}
	d.text(left+w/2, top-8, "k", label(n-1, columns))
	if n > 1 {
		d.text(left-8, y+h/2+4, "r", label(n-2, rows))
	}
	return d.done()
}

// plainLines is plain for a text of several lines.
func plainLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return strings.Join(lines, "\n")
}
