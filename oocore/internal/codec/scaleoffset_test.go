package codec

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// scaled is the pipeline of chunks of four elements of two bytes.
func scaled(t *testing.T, big bool) *Pipeline {
	t.Helper()
	values := []uint32{2, 0, 4, 0, 2, 1, 0, 1, 0xfffe}
	if big {
		values[6] = 1
	}
	p, err := FromHDF5(Field{}, []int{6}, [][]uint32{values}, big, []int{4}, dtype.Int16)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Elements of all bits are in the order of the machine that wrote them, whatever the array's is.
func TestScaleOffsetOfAllBits(t *testing.T) {
	want := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	data := append(append([]byte{16, 0, 0, 0, 8}, make([]byte, 16)...), want...)
	for _, big := range []bool{false, true} {
		if got, err := decodeWhole(scaled(t, big), data); err != nil || !bytes.Equal(got, want) {
			t.Errorf("% x, %v", got, err)
		}
	}
}

// Three bits each above -5, by hand: 3, 0, the fill value, which is -2, and 6.
func TestScaleOffsetByHand(t *testing.T) {
	head := func(bits uint32, elements ...byte) stored {
		b := binary.LittleEndian.AppendUint32(nil, bits)
		b = append(b, 8, 0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
		return append(append(b, make([]byte, 8)...), elements...)
	}
	whole := head(3, 0b01100011, 0b11100000)
	want := []byte{0xfe, 0xff, 0xfb, 0xff, 0xfe, 0xff, 0x01, 0x00}
	if got, err := decodeWhole(scaled(t, false), whole); err != nil || !bytes.Equal(got, want) {
		t.Errorf("% x, want % x: %v", got, want, err)
	}
	for _, c := range []struct {
		data stored
		want string
	}{
		{head(17, make([]byte, 8)...), "more bits than their type"},
		{head(1<<32-1, make([]byte, 8)...), "more bits than their type"},
		{whole[:len(whole)-1], "end too early"},
		{whole[:20], "end too early"},
	} {
		_, err := decodeWhole(scaled(t, false), c.data)
		rejected(t, c.want, err, c.want)
	}
	for _, values := range [][]uint32{nil, {2, 0, 4, 0, 3, 1, 0, 1}, {1, 0, 4, 1, 4, 1, 0, 1}, {0, 0, 4, 1, 2, 1, 0, 1}, {2, 0, 1 << 31, 0, 2, 1, 0, 1}, {2, 0, 4, 7, 2, 1, 0, 1}} {
		_, err := FromHDF5(Field{}, []int{6}, [][]uint32{values}, false, []int{4}, dtype.Int16)
		rejected(t, "values", err, "scale-offset")
	}
}
