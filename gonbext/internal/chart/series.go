package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
)

// seriesFigure draws figures that an algorithm noted, one after the other; nil where there
// are none that a line could show.
func seriesFigure(s record.Series) *figure {
	if len(s.Values) < 2 {
		return nil
	}
	name := plain(s.Name)
	values := append(record.Floats{math.NaN()}, s.Values...) // the first has the number 1
	for i, v := range values {
		if math.IsInf(v, 0) {
			values[i] = math.NaN()
		}
	}
	said := fmt.Sprintf("first %.6g, last %.6g, of %d.", s.Values[0], s.Values[len(s.Values)-1], len(s.Values))
	f := plotDrawing(&record.Figure{Curves: []record.Curve{{Name: name, Length: len(values), Step: 1, Mean: values}}}, said)
	if f != nil {
		f.Title, f.Caption = strings.ToUpper(name[:1])+name[1:], strings.ToUpper(said[:1])+said[1:]
	}
	return f
}

// seriesText is the same for a terminal.
func seriesText(s record.Series) string {
	if len(s.Values) == 0 {
		return ""
	}
	parts := []string{}
	for i, v := range s.Values {
		if len(s.Values) > 12 && i >= 6 && i < len(s.Values)-5 {
			if i == 6 {
				parts = append(parts, "…")
			}
			continue
		}
		parts = append(parts, strconv.FormatFloat(v, 'g', 5, 64))
	}
	return fmt.Sprintf("%s: %s\n", plain(s.Name), strings.Join(parts, " "))
}
