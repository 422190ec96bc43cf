package storage

import (
	"encoding/binary"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func TestReverse(t *testing.T) {
	shape := []int{2, 3, 5}
	b := make([]byte, 4*grid.Size(shape))
	for i := range grid.Size(shape) {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(i))
	}
	reverse(b, shape, 1, 4, make([]byte, 7)) // a scratch that fits nothing
	for i := range grid.Size(shape) {
		x, y, z := i/15, i/5%3, i%5
		if got, want := binary.LittleEndian.Uint32(b[4*i:]), uint32(x*15+(2-y)*5+z); got != want {
			t.Errorf("element %d is %d, want %d", i, got, want)
		}
	}
}
