package oocore

// Gradient returns NumPy's gradient along one axis, of elements that are spacing apart: half
// the difference of both neighbours, at the ends the difference of the one, or with an edge
// order of 2 the slope there of the parabola through three elements. Integers are computed in
// float64. It is part of whatever reads it.
func (a *Array) Gradient(spacing float64, axis int, edgeOrder ...int) *Array {
	return call("gradient", a, spacing, axis, append(edgeOrder, 1)[0])
}

// GradientAt is Gradient of elements that stand at coordinates, a vector with one for each
// element along the axis: inside, the slopes on both sides count by the distance on the other.
func (a *Array) GradientAt(coordinates *Array, axis int, edgeOrder ...int) *Array {
	return call("gradient", a, coordinates, axis, append(edgeOrder, 1)[0])
}
