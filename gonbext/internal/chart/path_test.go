package chart

import "testing"

func TestPolylineJoinsStraightSteps(t *testing.T) {
	for _, c := range []struct {
		points [][2]float64
		want   string
	}{
		{[][2]float64{{1, 2}}, "M1 2"},
		{[][2]float64{{0, 0}, {3, 0}, {5.2, 0.3}, {5, 9}, {5, 4}, {2, 1}}, "M0 0h5v9v-5l-3-3"},
		{[][2]float64{{0, 0}, {0, 0}, {2, 3}, {2, 3}, {4, 6}}, "M0 0l2 3l2 3"},
		{[][2]float64{{0, 5}, {4, 5}, {1, 5}}, "M0 5h4h-3"},
	} {
		var p polyline
		for _, at := range c.points {
			p.to(at[0], at[1])
		}
		if got := p.done(); got != c.want {
			t.Errorf("%v: %s, not %s", c.points, got, c.want)
		}
	}
}
