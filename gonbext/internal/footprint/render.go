package footprint

import (
	"fmt"
	"html/template"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/oocore/units"
)

// table is what both renderings draw.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// heading is the shape and its number of elements.
func (r *Report) heading() string {
	return fmt.Sprintf("%s: %s elements", units.Shape(r.Shape), units.Count(r.Elements))
}

// limits is what the figures are held against, in sentences.
func (r *Report) limits() string {
	var b strings.Builder
	if r.Machine.Total > 0 {
		fmt.Fprintf(&b, "This machine has %s of memory, of which %s is available. ", units.Bytes(r.Machine.Total), units.Bytes(r.Machine.Available))
	}
	if c := r.Machine.Container; c.Max > 0 {
		fmt.Fprintf(&b, "The container allows %s, of which %s is taken. ", units.Bytes(c.Max), units.Bytes(c.Used))
	}
	fmt.Fprintf(&b, "A run that names no budget takes up to %s (%s).", units.Bytes(r.Budget), r.BudgetFrom)
	return b.String()
}

func (r *Report) tables() []table {
	whole := table{Caption: "The whole array", Head: []string{"dtype", "bytes", "", "fits in memory", "fits the budget"}}
	for _, d := range r.DTypes {
		row := []string{d.DType.String(), units.Count(d.Bytes), units.Bytes(d.Bytes), yes(d.FitsMemory), yes(d.FitsBudget)}
		whole.Rows = append(whole.Rows, r.withDevice(row, d.FitsOnDevice))
	}
	whole.Head = r.withDeviceHead(whole.Head)

	cut := table{
		Caption: fmt.Sprintf("In chunks of %s, one coming in and one going out on each of %d cores", r.DTypes[0].DType, max(r.Machine.Cores, 1)),
		Head:    []string{"chunks", "how many", "one", "in memory at once", "fits the budget"},
	}
	for _, c := range r.Chunks {
		row := []string{units.Shape(c.Shape), units.Count(c.Count), units.Bytes(c.Bytes), units.Bytes(c.InFlight), yes(c.FitsBudget)}
		cut.Rows = append(cut.Rows, r.withDevice(row, c.FitsOnDevice))
	}
	cut.Head = r.withDeviceHead(cut.Head)
	if len(r.Cards) > 0 {
		return []table{whole, cut, r.cardTable()}
	}
	return []table{whole, cut}
}

func (r *Report) withDeviceHead(head []string) []string {
	if r.Device == 0 {
		return head
	}
	return append(head, "fits a device of "+units.Bytes(r.Device))
}

func (r *Report) withDevice(row []string, fits bool) []string {
	if r.Device == 0 {
		return row
	}
	return append(row, yes(fits))
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Text is the report for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", r.heading(), r.limits())
	for _, t := range r.tables() {
		fmt.Fprintf(&b, "\n%s\n", t.Caption)
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, strings.Join(t.Head, "\t"))
		for _, row := range t.Rows {
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		w.Flush()
	}
	return b.String()
}

var page = template.Must(template.New("footprint").Parse(`<div class="gonbext-footprint">
<p><b>{{.Heading}}</b><br>{{.Limits}}</p>
{{range .Tables}}<table><caption>{{.Caption}}</caption>
<thead><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr></thead>
<tbody>{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</tbody></table>
{{end}}</div>
`))

// HTML is the report for a notebook. It needs no script.
func (r *Report) HTML() string {
	var b strings.Builder
	err := page.Execute(&b, struct {
		Heading, Limits string
		Tables          []table
	}{r.heading(), r.limits(), r.tables()})
	if err != nil {
		panic(err) // the template and its data are this package's own
	}
	return b.String()
}
