package footprint

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/oocore/units"
)

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

func (r *Report) tables() []chart.Table {
	whole := chart.Table{Caption: "The whole array", Head: []string{"dtype", "bytes", "", "fits in memory", "fits the budget"}, Texts: 1}
	for _, d := range r.DTypes {
		row := []string{d.DType.String(), units.Count(d.Bytes), units.Bytes(d.Bytes), yes(d.FitsMemory), yes(d.FitsBudget)}
		whole.Rows = append(whole.Rows, r.withDevice(row, d.FitsOnDevice))
	}
	whole.Head = r.withDeviceHead(whole.Head)

	cut := chart.Table{
		Caption: fmt.Sprintf("In chunks of %s, one coming in and one going out on each of %d cores", r.DTypes[0].DType, max(r.Machine.Cores, 1)),
		Head:    []string{"chunks", "how many", "one", "in memory at once", "fits the budget"}, Texts: 1,
	}
	for _, c := range r.Chunks {
		row := []string{units.Shape(c.Shape), units.Count(c.Count), units.Bytes(c.Bytes), units.Bytes(c.InFlight), yes(c.FitsBudget)}
		cut.Rows = append(cut.Rows, r.withDevice(row, c.FitsOnDevice))
	}
	cut.Head = r.withDeviceHead(cut.Head)
	if len(r.Cards) > 0 {
		return []chart.Table{whole, cut, r.cardTable()}
	}
	return []chart.Table{whole, cut}
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

// Output is the report for a notebook, and as text.
func (r *Report) Output() (chart.Output, error) {
	return chart.Tables(units.Shape(r.Shape), units.Count(r.Elements)+" elements, "+units.Exact(r.DTypes[0].Bytes)+" as "+r.DTypes[0].DType.String(), r.limits(), r.tables()...)
}
