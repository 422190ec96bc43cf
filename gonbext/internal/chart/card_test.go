package chart

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
)

func TestCardShowsShapeChunksAndCorner(t *testing.T) {
	out, err := Card(&record.Card{
		Title: "sqrt(x)" + hostile,
		Shape: []int{3, 4000, 1000}, Chunks: []int{1, 1000, 300}, DType: "float32", Bytes: 48_000_000,
		Sample: [][]string{{"1.5 ", "…"}, {"3.25", "<b>"}}, Within: "[0]", Stats: []string{"1.5", "2", "3.25", "1,500"}, Labels: []string{"lat 60 … -60", "lon" + hostile}, Receipt: "changed since", Text: "sqrt(x)\n1 2\n",
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// 3 × 4 × 4 chunks; 1000 × 300 elements of 4 bytes are 1,200,000 bytes
	for _, want := range []string{"3 × 4,000 × 1,000 float32", "48,000,000 bytes, 45.8 MiB", "48 chunks of 1 × 1,000 × 300, 1.14 MiB each · changed since", "&lt;b&gt;", "…", "1.5 <", "The elements at [0]", "<p>lat 60 … -60 · lon", "minimum 1.5 · mean 2 · maximum 3.25, without 1,500 NaN"} {
		if !strings.Contains(strings.ReplaceAll(out.HTML, "\u00a0", " "), want) {
			t.Errorf("no %q in %s", want, out.HTML)
		}
	}
	if strings.Contains(out.HTML, "<img src=x") || strings.Contains(out.HTML, "<b>x") || strings.Contains(out.HTML, hostile) {
		t.Error("not escaped")
	}
	if n := strings.Count(out.HTML, "45.8 MiB"); n != 1 {
		t.Errorf("the bytes stand there %d times", n)
	}
	if out.Text != "sqrt(x)\n1 2\n" {
		t.Errorf("text %q", out.Text)
	}
}

// A drawing has a line between any two chunks, and none where they are too many.
func TestChunkDrawingHasALineBetweenChunks(t *testing.T) {
	for _, c := range []struct {
		shape, chunks []int
		lines         int
	}{
		{[]int{40, 20}, []int{10, 10}, 3 + 1}, {[]int{40, 20}, []int{40, 20}, 0}, {[]int{7}, []int{2}, 3},
		{[]int{1000, 1000}, []int{1, 1000}, 0}, {nil, nil, 0}, {[]int{5, 0}, []int{5, 1}, 0},
	} {
		drawing := chunkDrawing(&record.Card{Shape: c.shape, Chunks: c.chunks, DType: "int8", Bytes: product(c.shape)})
		if n := strings.Count(string(drawing), "<path"); n != c.lines {
			t.Errorf("%v in chunks of %v: %d lines, not %d", c.shape, c.chunks, n, c.lines)
		}
	}
}
