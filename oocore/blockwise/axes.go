package blockwise

// AxisKeeper is an Op whose result has axes of its first input, and so the names of those.
type AxisKeeper interface {
	// KeptAxes has for each axis of the result that of the first input, -1 for a new one; nil
	// says that all are the same.
	KeptAxes() []int
}
