package codec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// agreement decodes chunks of 1000 float32 with the libraries in C and with those in Go.
type agreement struct {
	p      *Pipeline
	field  []byte
	frames []stored    // of the field, by either encoder, whole and as a stream
	ways   [4]*Decoder // C whole, C as a stream, Go whole, Go as a stream
}

// withGo has the libraries in Go for the time of a call.
func withGo(call func()) {
	zstd, lz4 := zstdOf, blockOf
	defer func() { zstdOf, blockOf = zstd, lz4 }()
	zstdOf = func() zstdEngine { return zstdInGo{} }
	blockOf = func() lz4Engine { return lz4InGo{} }
	call()
}

func agreements(t testing.TB) (all []*agreement) {
	if loadZstd() == nil || loadLZ4() == nil {
		t.Skip("left out: decoding by libzstd and liblz4, of which this machine lacks one")
	}
	for _, text := range []string{"zstd:1", "zstd:3:checksum", "zstd:-5", "zstd:12", "zstd:19", "blosc:lz4:5:shuffle", "blosc:lz4hc:9:noshuffle", "blosc:zstd:3:shuffle"} {
		p, err := Parse(text, []int{1000}, dtype.Float32)
		if err != nil {
			t.Fatal(err)
		}
		a := &agreement{p: p, field: field(p.raw, p.t)}
		encode := func() {
			whole, err := encodeWhole(p, a.field)
			if err != nil {
				t.Fatal(err)
			}
			stream, err := encodeStream(p, a.field, []int{1000, 3000})
			if err != nil {
				t.Fatal(err)
			}
			a.frames = append(a.frames, whole, stream)
		}
		encode()
		withGo(encode)
		for i := range a.ways {
			prepare := func() { a.ways[i], err = p.Decoder(make([]byte, max(p.DecodeWork().Whole, p.DecodeWork().Stream))) }
			if i < 2 {
				prepare()
			} else {
				withGo(prepare)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(a.ways[i].Close)
		}
		all = append(all, a)
	}
	return all
}

// decode decodes data in one of the ways.
func (a *agreement) decode(way int, data stored) (out []byte, err error) {
	out = make([]byte, a.p.raw)
	call := func() {
		d := a.ways[way]
		if way%2 == 0 {
			_, err = d.Whole(context.Background(), out, &data)
		} else if err = d.Begin(context.Background(), &data); err == nil {
			_, err = d.Next(context.Background(), out)
		}
	}
	if way < 2 {
		call()
	} else {
		withGo(call)
	}
	return out, err
}

// check decodes data in all ways. What Go's libraries accept those in C accept, with the same
// bytes; the reverse is not so, as the package's comment says. Whole or as a stream, the bytes
// are the same.
func (a *agreement) check(data stored) (outs [4][]byte, errs [4]error, err error) {
	for i := range a.ways {
		outs[i], errs[i] = a.decode(i, data)
	}
	for i, pair := range [][2]int{{2, 0}, {3, 1}, {0, 1}, {2, 3}} {
		from, to := pair[0], pair[1]
		switch {
		case errs[from] != nil:
		case errs[to] == nil && !bytes.Equal(outs[from], outs[to]):
			return outs, errs, fmt.Errorf("%s: ways %d and %d have other bytes for %x", a.p, from, to, []byte(data))
		case errs[to] != nil && i < 2:
			return outs, errs, fmt.Errorf("%s: only Go's library accepts %x: %w", a.p, []byte(data), errs[to])
		}
	}
	return outs, errs, nil
}

// damageOf changes a byte or a bit of data once or twice, or its length.
func damageOf(random *rand.Rand, data stored) stored {
	data = slices.Clone(data)
	for range 1 + random.IntN(2) {
		at := random.IntN(len(data))
		if random.IntN(2) == 0 {
			at = random.IntN(min(len(data), 60)) // headers and tables
		}
		switch random.IntN(8) {
		case 0:
			data = data[:max(at, 1)]
		case 1:
			data = slices.Insert(data, at, byte(random.IntN(256)))
		case 2:
			data[at] = byte(random.IntN(256))
		case 3:
			data = slices.Concat(data, data[:at])
		default:
			data[at] ^= 1 << random.IntN(8)
		}
	}
	return data
}

// What decoders in Go accept of damaged chunks those in C accept with the same bytes, and a
// checksum has both find what is not the array's.
func TestDecodersAgreeOnDamagedChunks(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	all := agreements(t)
	for i := range 6000 {
		a := all[i%len(all)]
		data := damageOf(random, a.frames[random.IntN(len(a.frames))])
		outs, errs, err := a.check(data)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		if z, ok := a.p.filters[0].(*zstd); ok && z.checksum {
			for way := range outs {
				if errs[way] == nil && !bytes.Equal(outs[way], a.field) {
					t.Errorf("case %d: way %d has other bytes than the array", i, way)
				}
			}
		}
	}
}

// What is wrong with a frame is said in the same words by both decoders.
func TestZstdErrorsAgree(t *testing.T) {
	all := agreements(t)
	flip := func(data stored, at int, bits byte) stored {
		data = slices.Clone(data)
		data[at] ^= bits
		return data
	}
	plain, sum := all[0], all[1]
	for _, c := range []struct {
		name string
		a    *agreement
		data stored
		want error
	}{
		{"another format", plain, flip(plain.frames[0], 0, 1), errMagic},
		{"a wrong checksum", sum, flip(sum.frames[0], len(sum.frames[0])-1, 1), errChecksum},
		{"a reserved bit", plain, flip(plain.frames[0], 4, 8), errFrame},
		{"a reserved type of block", plain, stored("\x28\xb5\x2f\xfd\x20\x04\x27\x00\x00"), errFrame},
		{"a dictionary", plain, stored("\x28\xb5\x2f\xfd\x21\x07\x04\x21\x00\x00abcd"), errDictionary},
		{"too short", plain, plain.frames[0][:len(plain.frames[0])-1], ErrShort},
	} {
		for way := range c.a.ways {
			if _, err := c.a.decode(way, c.data); !errors.Is(err, c.want) {
				t.Errorf("%s, way %d: %v, not %v", c.name, way, err, c.want)
			}
		}
	}
}

// A window beyond that of the format's own library is an error for both.
func TestZstdRejectsLargestWindows(t *testing.T) {
	a := agreements(t)[0]
	frame := func(window byte) stored {
		return slices.Concat(stored("\x28\xb5\x2f\xfd\x00"), stored{window, 3 | 4000<<3&0xff, 4000 >> 5 & 0xff, 0}, stored{7})
	}
	for window, bad := range map[byte]bool{5 << 3: false, 21<<3 | 7: false, 22 << 3: true, 31<<3 | 7: true} {
		for _, way := range []int{0, 2} {
			if _, err := a.decode(way, frame(window)); (err != nil) != bad {
				t.Errorf("window %d, way %d: %v", window, way, err)
			}
		}
	}
}

// A block of LZ4 whose last bytes are a repetition is damaged for both.
func TestLZ4RejectsRepetitionAtEnd(t *testing.T) {
	if loadLZ4() == nil {
		t.Skip("left out: decoding by liblz4, which this machine has not")
	}
	late := []byte("\x1f\x00\x01\x00\x11\x00\x02\x00\x00")                            // reaches the last byte
	early := []byte("\x1f\x00\x01\x00\x11\x50abcde")                                  // ends 5 bytes before it
	begins := []byte("\xf0\x15aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x01\x00\x50abcde") // 9 bytes before it
	for _, e := range []lz4Engine{loadLZ4(), lz4InGo{}} {
		decode := e.decompressor()
		if err := decode(make([]byte, 41), late); !errors.Is(err, errLZ4) {
			t.Errorf("%T: %v", e, err)
		}
		if err := decode(make([]byte, 45), begins); !errors.Is(err, errLZ4) {
			t.Errorf("%T, begins late: %v", e, err)
		}
		if err := decode(make([]byte, 42), early); err != nil {
			t.Errorf("%T: %v", e, err)
		}
	}
}

// FuzzDecodersAgree holds the decoders in C to those in Go on any bytes.
func FuzzDecodersAgree(f *testing.F) {
	all := agreements(f)
	random := rand.New(rand.NewPCG(7, 1))
	for i, a := range all {
		for _, frame := range a.frames {
			f.Add(byte(i), []byte(frame))
			f.Add(byte(i), []byte(damageOf(random, frame)))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		if _, _, err := all[int(which)%len(all)].check(data); err != nil {
			t.Error(err)
		}
	})
}
