// Command benchmarks writes the page of all measured figures, oocore/BENCHMARKS.md, and its
// pictures from figures.json.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"log"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:generate go run . ../../BENCHMARKS.md

//go:embed figures.json
var figures []byte

// measured is what figures.json holds.
type measured struct {
	Machines map[string]string // what each is, by its letter
	Tables   []table
}

type table struct {
	Title   string
	Text    string // before the rows
	Notes   string // after them
	Picture string // a file beside figures.json with a bar for each row; "" for none
	Columns []string
	Rows    []row
}

// row is a figure with all that tells where it is from.
type row struct {
	Cells   []string // of the table's columns; of a picture the first is what, the last a fraction
	Machine string
	Date    string // on which it was written down
	Command string
}

func main() {
	text, pictures, err := page(figures)
	if err != nil {
		log.Fatal(err)
	}
	pictures[os.Args[1]] = text
	for name, text := range pictures {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// page returns the page of figures, and pictures by their files' names.
func page(figures []byte) (text string, pictures map[string]string, err error) {
	var m measured
	d := json.NewDecoder(bytes.NewReader(figures))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return "", nil, err
	}
	pictures = map[string]string{}
	var b strings.Builder
	b.WriteString(`# Benchmarks

All figures that were measured, each with its machine, the date on which it was written down and the command that gives it.
This page is generated from oocore/internal/benchmarks/figures.json: run ` + "`go generate ./oocore/internal/benchmarks`" + ` after a change.

Seconds are wall time. Unless said, inputs are in the page cache, contenders take turns inside the same kernel memory limit, and
figures are medians. ` + "`OPENBLAS_CORETYPE` and `OPENBLAS_L2_SIZE`" + ` are unset: they can halve a BLAS that they misjudge.
` + "`.ci/bench/run FOLDER`" + ` makes the arrays and runs every job; ` + "`--pair OLD NEW`" + ` runs two builds by turns and fails where the new one is slower.

`)
	if !strings.Contains(strings.Join(slices.Collect(maps.Values(m.Machines)), " "), "GPU") {
		b.WriteString("No figure on a GPU exists: the device of all tests is a modelled one.\n\n")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Machines)) {
		fmt.Fprintf(&b, "- **%s**: %s\n", name, m.Machines[name])
	}
	for _, t := range m.Tables {
		if err := t.write(&b, m.Machines); err != nil {
			return "", nil, fmt.Errorf("%s: %w", t.Title, err)
		}
		if t.Picture != "" {
			if pictures[t.Picture], err = t.picture(); err != nil {
				return "", nil, fmt.Errorf("%s: %w", t.Title, err)
			}
		}
	}
	return b.String(), pictures, nil
}

func (t *table) write(b *strings.Builder, machines map[string]string) error {
	fmt.Fprintf(b, "\n## %s\n\n", t.Title)
	if t.Text != "" {
		fmt.Fprintf(b, "%s\n\n", t.Text)
	}
	if t.Picture != "" {
		fmt.Fprintf(b, "![%s](internal/benchmarks/%s)\n\n", t.Title, t.Picture)
	}
	columns := append(slices.Clone(t.Columns), "machine", "date", "command")
	line(b, columns)
	line(b, slices.Repeat([]string{"---"}, len(columns)))
	for _, r := range t.Rows {
		switch _, err := time.Parse(time.DateOnly, r.Date); {
		case err != nil:
			return err
		case machines[r.Machine] == "":
			return fmt.Errorf("%s: there is no machine %q", r.Cells, r.Machine)
		case r.Command == "":
			return fmt.Errorf("%s has no command", r.Cells)
		case len(r.Cells) != len(t.Columns):
			return fmt.Errorf("%s has %d cells, the table %d columns", r.Cells, len(r.Cells), len(t.Columns))
		}
		line(b, append(slices.Clone(r.Cells), r.Machine, r.Date, "`"+r.Command+"`"))
	}
	if t.Notes != "" {
		fmt.Fprintf(b, "\n%s\n", t.Notes)
	}
	return nil
}

func line(b *strings.Builder, cells []string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

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
