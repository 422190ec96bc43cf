// Package footprint computes the bytes that an array of a shape takes, by element type, and
// which chunks of it fit what this machine allows. It is pure arithmetic: nothing is
// allocated or opened.
package footprint

import (
	"fmt"
	"slices"
	"time"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/units"
)

// Report is the footprint of one shape. All counts of memory are bytes.
type Report struct {
	Shape        []int          `json:"shape"`
	Elements     int64          `json:"elements"`
	DTypes       []Whole        `json:"dtypes"`
	Machine      machine.Limits `json:"machine"`
	Headroom     int64          `json:"headroom"` // what this process can still take
	HeadroomFrom string         `json:"headroom_from"`
	Budget       int64          `json:"budget"` // of a run that names none
	BudgetFrom   string         `json:"budget_from"`
	Device       int64          `json:"device,omitempty"` // memory of the device asked about
	Chunks       []Chunks       `json:"chunks"`           // shapes of chunks, of the first of DTypes
	Cards        []Card         `json:"cards,omitempty"`  // the device asked about, and the GPUs of the table
}

// Whole is the array in one element type.
type Whole struct {
	DType        dtype.Type `json:"dtype"`
	Bytes        int64      `json:"bytes"`
	FitsMemory   bool       `json:"fits_memory"` // beside what is in use now
	FitsBudget   bool       `json:"fits_budget"`
	FitsOnDevice bool       `json:"fits_device"`
}

// Chunks is the array cut into chunks of one shape.
type Chunks struct {
	Shape        []int `json:"shape"`
	Count        int64 `json:"count"`
	Bytes        int64 `json:"bytes"`     // of one chunk
	InFlight     int64 `json:"in_flight"` // of the chunks in memory at once
	FitsBudget   bool  `json:"fits_budget"`
	FitsOnDevice bool  `json:"fits_device"`
}

// Options narrow the question down.
type Options struct {
	DTypes []dtype.Type // none: the types that people choose between
	Chunks []int        // a chunk shape to ask about first
	Device *cuda.Card   // a GPU to ask about; nil for none
	Budget int64        // what %budget set, 0 for the machine's default
}

// usual are the types that a report is about where none is named.
var usual = []dtype.Type{dtype.Float64, dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Int64, dtype.Int8, dtype.Bool}

// inFlight is how many chunks a core or a device holds at once: one that comes
// in, and one that goes out.
const inFlight = 2

// targets are the sizes, in bytes, of the chunks that a report proposes.
var targets = []int{1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30}

// New works a footprint out. An error says what is wrong with the shape or the
// chunks.
func New(shape []int, o Options, limits machine.Limits) (*Report, error) {
	types := o.DTypes
	if len(types) == 0 {
		types = usual
	}
	for _, t := range types {
		if err := host.CheckShape(shape, t.Size()); err != nil {
			return nil, err
		}
	}
	if o.Chunks != nil && len(o.Chunks) != len(shape) {
		return nil, fmt.Errorf("chunks %s have %d dimensions, the shape %s has %d",
			host.FormatShape(o.Chunks), len(o.Chunks), host.FormatShape(shape), len(shape))
	}
	r := &Report{Shape: shape, Elements: int64(host.Elements(shape)), Machine: limits, Chunks: []Chunks{}}
	if o.Device != nil {
		r.Device = o.Device.Usable()
	}
	r.Headroom, r.HeadroomFrom = limits.Headroom()
	r.Budget, r.BudgetFrom = limits.DefaultBudget()
	if o.Budget > 0 {
		r.Budget, r.BudgetFrom = o.Budget, "set by %budget"
	}
	for _, t := range types {
		n := r.Elements * int64(t.Size())
		r.DTypes = append(r.DTypes, Whole{t, n, n <= r.Headroom, n <= r.Budget, n <= r.Device})
	}
	if o.Device != nil {
		r.Cards = r.cards(*o.Device)
	}
	for _, c := range candidates(shape, types[0].Size(), o.Chunks) {
		r.Chunks = append(r.Chunks, r.cut(c, types[0].Size()))
	}
	return r, nil
}

// candidates are the chunk shapes to report on, the asked one first.
func candidates(shape []int, itemsize int, asked []int) [][]int {
	var all [][]int
	if asked != nil {
		clipped := slices.Clone(asked)
		for i := range clipped {
			clipped[i] = max(min(clipped[i], shape[i]), 1)
		}
		all = append(all, clipped)
	}
	for _, target := range targets {
		c := host.Chunks(shape, itemsize, target)
		if !slices.ContainsFunc(all, func(have []int) bool { return slices.Equal(have, c) }) {
			all = append(all, c)
		}
	}
	return all
}

func (r *Report) cut(chunks []int, itemsize int) Chunks {
	c := Chunks{Shape: chunks, Count: 1, Bytes: int64(host.Elements(chunks)) * int64(itemsize)}
	g := host.Grid{Shape: r.Shape, Chunks: chunks}
	for axis := range chunks {
		c.Count *= int64(g.Count(axis))
	}
	cores := int64(max(r.Machine.Cores, 1))
	c.InFlight = c.Bytes * inFlight * max(min(cores, c.Count), 1)
	c.FitsBudget = c.InFlight <= r.Budget
	c.FitsOnDevice = c.Bytes*inFlight <= r.Device
	return c
}

// Card is the array on one GPU of the table.
type Card struct {
	cuda.Card
	Usable  int64   `json:"usable"`  // bytes that a run may take
	Fits    bool    `json:"fits"`    // the whole array, in the first of DTypes
	Seconds float64 `json:"seconds"` // that the array takes to cross the link once
}

// DeviceOf finds the GPU to ask about by a name that cuda.CardOf takes; nil for cpu and for
// none.
func DeviceOf(name string) (*cuda.Card, error) {
	if name == "" || name == "cpu" {
		return nil, nil
	}
	c, err := cuda.CardOf(name)
	return &c, err
}

// cards are the GPUs of the table, the one that was asked for first.
func (r *Report) cards(asked cuda.Card) (all []Card) {
	list := []cuda.Card{asked}
	for _, c := range cuda.Cards() {
		if c.Name != asked.Name {
			list = append(list, c)
		}
	}
	n := r.DTypes[0].Bytes
	for _, c := range list {
		all = append(all, Card{c, c.Usable(), n <= c.Usable(), float64(n) / c.Rates().Upload})
	}
	return all
}

// cardTable is what both renderings draw of the GPUs.
func (r *Report) cardTable() chart.Table {
	t := chart.Table{Caption: "The whole array of " + r.DTypes[0].DType.String() + " on GPUs, by their makers' data sheets",
		Head: []string{"GPU", "figures from", "may take", "fits whole", "over the link once"}, Texts: 2}
	for _, c := range r.Cards {
		t.Rows = append(t.Rows, []string{c.Name, c.Source, units.Bytes(c.Usable), yes(c.Fits), units.Duration(time.Duration(c.Seconds * float64(time.Second)))})
	}
	return t
}
