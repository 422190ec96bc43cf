package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// picture returns the rows as bars in SVG, which ends at 1, in the colours of the reader's theme.
func (t *table) picture() (string, error) {
	const line, left, width = 24, 330, 320
	height := line*len(t.Rows) + 30
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">
<title>%s</title>
<style>text{fill:#222}.bar{fill:#3b76b0}.limit{stroke:#777}@media(prefers-color-scheme:dark){text{fill:#ddd}.bar{fill:#6ea8dc}.limit{stroke:#999}}</style>
`, left+width+60, height, html.EscapeString(t.Title))
	for i, r := range t.Rows {
		fraction, err := strconv.ParseFloat(r.Cells[len(r.Cells)-1], 64)
		if err != nil || !(fraction > 0 && fraction <= 1) {
			return "", fmt.Errorf("%s: the last cell is no fraction", r.Cells)
		}
		y := line * i
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-8, y+17, html.EscapeString(strings.ReplaceAll(r.Cells[0], "`", "")))
		fmt.Fprintf(&b, `<rect class="bar" x="%d" y="%d" width="%.0f" height="16" rx="2"/>`, left, y+4, fraction*width)
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">%.2f</text>\n", left+width+8, y+17, fraction)
	}
	fmt.Fprintf(&b, `<path class="limit" d="M%d 0V%d" stroke-dasharray="3 3"/><text x="%d" y="%d" text-anchor="end">the machine's limit</text>`, left+width, height-24, left+width, height-8)
	b.WriteString("\n</svg>\n")
	return b.String(), nil
}
