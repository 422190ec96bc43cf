package store

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// swap turns the byte order of elements in place; a complex number is two.
func swap(b []byte, t dtype.Type) {
	size := t.Size()
	if t.Kind() == dtype.KindComplex {
		size /= 2
	}
	for i := 0; i < len(b); i += size {
		slices.Reverse(b[i : i+size])
	}
}
