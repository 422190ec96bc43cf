package footprint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/units"
)

// Tensor is an array of a model.
type Tensor struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
	Type  string `json:"type"` // as which it is stored
	Bytes int64  `json:"bytes"`
}

// Model is what the tensors of a checkpoint take, as they are or converted.
type Model struct {
	Path         string   `json:"path"`
	Codec        string   `json:"codec,omitempty"`
	Bytes        int64    `json:"bytes"`
	Types        []Tally  `json:"types"`
	Tensors      []Tensor `json:"tensors"`
	Device       int64    `json:"device,omitempty"` // memory of the device asked about
	FitsOnDevice bool     `json:"fits_device"`
}

// Tally is what all tensors of a type take.
type Tally struct {
	Type    string `json:"type"`
	Tensors int    `json:"tensors"`
	Bytes   int64  `json:"bytes"`
}

// ModelOf works out what tensors take, of which t has the types that they are stored in, where they are converted to codec; "" leaves
// them as they are.
func ModelOf(path, codec string, tensors []Tensor, device *cuda.Card) (*Model, error) {
	m := &Model{Path: path, Codec: codec, Tensors: slices.Clone(tensors)}
	if codec != "" {
		names, as := make([]string, len(tensors)), make([]store.Meta, len(tensors))
		for i, t := range tensors {
			names[i], as[i] = t.Name, store.Meta{Shape: t.Shape, DType: dtype.Float32} // blocks are read as that
			if of, err := dtype.Parse(t.Type); err == nil {
				as[i].DType = of
			}
		}
		types, bytes, err := host.GGUFTypes(codec, names, as)
		if err != nil {
			return nil, err
		}
		for i := range m.Tensors {
			t := &m.Tensors[i]
			t.Type, t.Bytes = cmp.Or(types[i], as[i].DType.String()), bytes[i]
		}
	}
	tallies := map[string]*Tally{}
	for i := range m.Tensors {
		t := &m.Tensors[i]
		if m.Bytes += t.Bytes; tallies[t.Type] == nil {
			tallies[t.Type] = &Tally{Type: t.Type}
		}
		tallies[t.Type].Tensors++
		tallies[t.Type].Bytes += t.Bytes
	}
	for _, of := range tallies {
		m.Types = append(m.Types, *of)
	}
	slices.SortFunc(m.Types, func(a, b Tally) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Type, b.Type)) })
	if device != nil {
		m.Device = device.Usable()
		m.FitsOnDevice = m.Bytes <= m.Device
	}
	return m, nil
}

// Output is the report for a terminal.
func (m *Model) Output() (chart.Output, error) {
	types := chart.Table{Caption: "By type", Head: []string{"type", "tensors", "bytes", ""}, Texts: 1}
	for _, t := range m.Types {
		types.Rows = append(types.Rows, []string{t.Type, units.Count(int64(t.Tensors)), units.Count(t.Bytes), units.Bytes(t.Bytes)})
	}
	all := chart.Table{Caption: "By tensor", Head: []string{"tensor", "shape", "type", "bytes", ""}, Texts: 3}
	for _, t := range m.Tensors {
		all.Rows = append(all.Rows, []string{t.Name, units.Shape(t.Shape), t.Type, units.Count(t.Bytes), units.Bytes(t.Bytes)})
	}
	fits := "What runs the model takes more than its tensors: for what it has read, and for what it computes."
	switch {
	case m.FitsOnDevice:
		fits = fmt.Sprintf("It fits a device of %s, with %s to spare. ", units.Bytes(m.Device), units.Bytes(m.Device-m.Bytes)) + fits
	case m.Device > 0:
		fits = fmt.Sprintf("It does not fit a device of %s: it takes %s more. ", units.Bytes(m.Device), units.Bytes(m.Bytes-m.Device)) + fits
	}
	what := m.Path
	if m.Codec != "" {
		what += " as " + m.Codec
	}
	return chart.Tables(what, fmt.Sprintf("%s tensors, %s", units.Count(int64(len(m.Tensors))), units.Exact(m.Bytes)), fits, types, all)
}
