package record

import (
	"encoding/binary"
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
	ContourFigure = "contour"
	ScatterFigure = "scatter" // of too many points: how many there are at each place
	PanelsFigure  = "panels"  // plots below each other
	FacetsFigure  = "facets"  // small heat maps of one scale
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
	Means  Floats `json:"means,omitempty"`  // of a heat map of an earlier version, in C order
	Pixels []byte `json:"pixels,omitempty"` // of an image in colours: red, green, blue, opacity of each
	// What is black in an image and what is white, or a full colour; of all others the
	// range of values that they show, both 0 for all.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`

	Log    string   `json:"log,omitempty"`    // which of the axes x and y, and of the colours c, are logarithmic
	Across *Axis    `json:"across,omitempty"` // where the points of a plot or the columns are; nil: at their indices
	Down   *Axis    `json:"down,omitempty"`   // where the rows are
	Equal  bool     `json:"equal,omitempty"`  // a unit is as long on both axes
	Label  string   `json:"label,omitempty"`  // what the colours are of, with its unit
	Levels []byte   `json:"levels,omitempty"` // of the cells, in C order: see SetLevels
	Least  float64  `json:"least,omitempty"`
	Most   float64  `json:"most,omitempty"`
	Panels []Figure `json:"panels,omitempty"`
}

// Axis says where the points of a figure are along one axis.
type Axis struct {
	At    []float64 `json:"at,omitempty"`    // numbers, or seconds since 1970
	Time  bool      `json:"time,omitempty"`  // they are dates
	Texts []string  `json:"texts,omitempty"` // instead of numbers
}

// Curve is a line of a plot. Its points are blocks of Step elements. Low and High are the extremes
// of blocks, and empty where a block is one element; or a band beside or instead of the line.
type Curve struct {
	Name   string    `json:"name"`
	Length int       `json:"length"`
	Step   int       `json:"step"`
	Mean   Floats    `json:"mean"`
	Low    Floats    `json:"low,omitempty"`
	High   Floats    `json:"high,omitempty"`
	X      []float64 `json:"at,omitempty"` // of the points; none: the figure's axis, or indices
	Band   bool      `json:"band,omitempty"`
	Points bool      `json:"points,omitempty"` // they are not joined
	Color  Floats    `json:"color,omitempty"`  // of each point, a value
	Size   Floats    `json:"size,omitempty"`   // likewise
}

// levels is how many values a level tells apart: 0 is none.
const levels = 1<<16 - 1

// SetLevels stores the values of cells between Least and Most, two bytes a cell: a picture and its contours show no more. Where
// these are equal they become the least and the greatest of the values that are finite.
func (f *Figure) SetLevels(values []float64) {
	if f == nil {
		return
	}
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	if f.Least == f.Most {
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range values {
			if finite(v) {
				low, high = min(low, v), max(high, v)
			}
		}
		if low <= high {
			f.Least, f.Most = low, high
		}
	}
	f.Levels = make([]byte, 2*len(values))
	for i, v := range values {
		if finite(v) {
			at := 0.0
			if f.Most > f.Least { // in halves: a float64 may not hold the difference
				at = min(max((v/2-f.Least/2)/(f.Most/2-f.Least/2), 0), 1)
			}
			binary.LittleEndian.PutUint16(f.Levels[2*i:], uint16(1+math.Round(at*(levels-1))))
		}
	}
}

// Values returns the values of cells, NaN where there is none: those of SetLevels, or the means of
// an earlier version. It is nil where the figure has not as many as rows and columns say.
func (f *Figure) Values() []float64 {
	if f == nil {
		return nil
	}
	n := f.Rows * f.Cols
	switch {
	case n <= 0 || f.Rows < 0 || n/f.Rows != f.Cols:
	case len(f.Means) == n:
		return f.Means
	case len(f.Levels) == 2*n:
		values := make([]float64, n)
		for i := range values {
			at := float64(binary.LittleEndian.Uint16(f.Levels[2*i:]))
			if values[i] = f.Least + (at-1)/(levels-1)*f.Most - (at-1)/(levels-1)*f.Least; at == 0 {
				values[i] = math.NaN()
			}
		}
		return values
	}
	return nil
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
