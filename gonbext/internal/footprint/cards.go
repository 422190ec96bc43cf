package footprint

import (
	"time"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/oocore/units"
)

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
