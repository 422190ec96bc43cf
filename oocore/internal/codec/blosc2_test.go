package codec

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// blosc2Frames are frames that hdf5plugin wrote of 30 × 20 float32 in blocks, of which element i is i / 3, rounded down.
func blosc2Frames(t testing.TB) (d *Decoder, frames [][]byte) {
	p, err := FromHDF5(Field{}, []int{32026}, [][]uint32{{1, 0, 4, 2400, 5, 1, 1, 2, 30, 20}}, false, []int{30, 20}, dtype.Float32)
	if err == nil {
		d, err = p.Decoder(make([]byte, p.DecodeWork().Whole))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	for _, name := range []string{"lz4", "delta"} {
		frames = append(frames, testcases.ReadFile(t, "testdata/blosc2-"+name+".frame"))
	}
	return d, frames
}

func TestDamagedBlosc2FrameIsErrorOrElements(t *testing.T) {
	d, frames := blosc2Frames(t)
	decode := func(b []byte) ([]byte, error) {
		dst, from := make([]byte, 2400), allocated()
		in := stored(b)
		_, err := d.Whole(context.Background(), dst, &in)
		if made := allocated() - from; made > 1<<20 {
			t.Errorf("%d bytes were allocated", made)
		}
		return dst, err
	}
	for _, frame := range frames {
		got, err := decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, 0, len(got))
		for i := range 600 {
			want, _ = binary.Append(want, binary.LittleEndian, float32(i/3))
		}
		if !slices.Equal(got, want) {
			t.Fatal("other elements")
		}
		for i := range 8 * len(frame) {
			frame[i/8] ^= 1 << (i % 8)
			decode(frame)
			frame[i/8] ^= 1 << (i % 8)
		}
		for n := range frame {
			if _, err := decode(frame[:n]); err == nil {
				t.Errorf("the first %d bytes of %d are no error", n, len(frame))
			}
		}
	}
}

// A chunk that the memory is too small for is decoded piece by piece, as it is held whole.
func TestBlosc2ChunkIsReadInPieces(t *testing.T) {
	_, frames := blosc2Frames(t)
	p, err := FromHDF5(Field{}, []int{32026}, [][]uint32{{1, 0, 4, 2400, 5, 1, 1, 2, 30, 20}}, false, []int{30, 20}, dtype.Float32)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decoder(make([]byte, p.DecodeWork().Stream))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	in := stored(frames[0])
	if err := d.Begin(t.Context(), &in); err != nil {
		t.Fatal(err)
	}
	for i := range 600 {
		var b [4]byte
		if _, err := d.Next(t.Context(), b[:]); err != nil || dtype.Slice[float32](b[:])[0] != float32(i/3) {
			t.Fatalf("element %d: %x, %v", i, b, err)
		}
	}
}

// A chunk may have one value, and its place in the index may say so alone.
func TestFillBlosc2(t *testing.T) {
	for special, want := range map[byte]string{zeros2: "[0 0 0 0 0 0 0 0]", nans2: "[0 0 192 127 0 0 192 127]", value2: "[1 2 1 2 1 2 1 2]", undefined2: "[0 0 0 0 0 0 0 0]", 5: "a chunk of the special value 5"} {
		dst := make([]byte, 8)
		err := fill2(dst, special, 4, []byte{1, 2})
		if got := fmt.Sprint(dst); err != nil && err.Error() != want || err == nil && got != want {
			t.Errorf("%d: %v, %s", special, err, got)
		}
	}
}

// FuzzBlosc2 decodes any bytes as a frame of Blosc 2.
func FuzzBlosc2(f *testing.F) {
	d, frames := blosc2Frames(f)
	for _, frame := range frames {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in := stored(b)
		_, _ = d.Whole(context.Background(), make([]byte, 2400), &in)
	})
}
