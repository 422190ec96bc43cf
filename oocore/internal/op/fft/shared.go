package fft

// Transform is the forward transform of lines of one length, for operations of other
// packages that transform within a box.
type Transform struct{ t *transform }

// TransformSize is how many elements of work a line of length n takes, and how many
// tables take.
func TransformSize(n int) (line, tables int) { return size(n) }

// NewTransform fills its tables into memory of the given size. work has two lines.
func NewTransform(n int, tables, work []complex128) Transform {
	return Transform{newTransform(n, tables, work)}
}

// Run transforms lines lines in x, where element k of line j lies at k·lines+j, and
// returns x or y: where the result is.
func (t Transform) Run(x, y []complex128, lines int) []complex128 {
	out, _ := t.t.run(nil, x, y, lines) // cannot fail without steps
	return out
}
