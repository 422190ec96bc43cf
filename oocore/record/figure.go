package record

import (
	"encoding/json"
	"math"
	"strconv"
)

// The kinds of figures.
const (
	PlotFigure    = "plot"
	HistFigure    = "histogram"
	HeatMapFigure = "heat map"
	ImageFigure   = "image"
)

// Figure is an array as a picture shows it: as many values as it has room for.
type Figure struct {
	Kind    string  `json:"kind"`
	Title   string  `json:"title,omitempty"` // as the user has named it, and the axes
	X       string  `json:"x,omitempty"`
	Y       string  `json:"y,omitempty"`
	Missing int64   `json:"missing,omitempty"` // elements that are not finite
	Curves  []Curve `json:"curves,omitempty"`  // of a plot
	Edges   Floats  `json:"edges,omitempty"`   // of a histogram's bins: one more than it has
	Counts  []int64 `json:"counts,omitempty"`
	// Of a heat map and an image: its cells, and the elements along the axes of each.
	Rows   int    `json:"rows,omitempty"`
	Cols   int    `json:"cols,omitempty"`
	Block  []int  `json:"block,omitempty"`
	Means  Floats `json:"means,omitempty"`  // of a heat map, in C order
	Pixels []byte `json:"pixels,omitempty"` // of an image: red, green, blue, opacity of each
	// What is black in an image and what is white, or a full colour; of a plot and a heat map the
	// range of values that it shows, both 0 for all.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
}

// Curve is a line of a plot. Its points are blocks of Step elements; Low and High are
// empty where a block is one element.
type Curve struct {
	Name   string `json:"name"`
	Length int    `json:"length"`
	Step   int    `json:"step"`
	Mean   Floats `json:"mean"`
	Low    Floats `json:"low,omitempty"`
	High   Floats `json:"high,omitempty"`
}

// Floats are numbers. In JSON NaN and infinities are null, which is read as NaN. It writes six digits: a picture shows no more.
type Floats []float64

// MarshalJSON implements json.Marshaler.
func (f Floats) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range f {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, v, 'g', 6, 64)
		}
	}
	return append(b, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Floats) UnmarshalJSON(b []byte) error {
	var values []*float64
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	*f = nil
	for _, v := range values {
		if v == nil {
			*f = append(*f, math.NaN())
		} else {
			*f = append(*f, *v)
		}
	}
	return nil
}
