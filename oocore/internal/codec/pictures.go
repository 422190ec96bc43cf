package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"math/bits"
	"slices"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/webp"
)

// The codings of pictures that TIFF has, for reading: those of golang.org/x/image's decoders among them.

// reading is a filter that decodes whole chunks by a function, and is not written.
type reading struct {
	unwritten
	name string
	most func(n int64) int64                // see filter.bound
	heap func(n int64) int64                // of the decoder
	undo func(dst, src []byte) (int, error) // see decoder.decode
}

func (r *reading) text() string                           { return r.name }
func (r *reading) v3() json.RawMessage                    { return configured("imagecodecs_"+r.name, nil) }
func (r *reading) bound(n int64) int64                    { return r.most(n) }
func (r *reading) decoder(int64, []byte) (decoder, error) { return r, nil }

func (r *reading) decodeMemory(n int64) memory {
	if r.heap == nil {
		return memory{}
	}
	return memory{heap: 2 * r.heap(n)} // one in use and one not collected yet
}

func (r *reading) decode(dst, src []byte) (int, error) { return r.undo(dst, src) }

// packedRows are elements of fewer bits than their type has, in rows that begin with a byte. The first bit is the highest.
func packedRows(row, depth, size int) filter {
	stride := (row*depth + 7) / 8
	return &reading{name: "packints", most: func(n int64) int64 { return (n/int64(size) + int64(row) - 1) / int64(row) * int64(stride) }, undo: func(dst, src []byte) (int, error) {
		rows := len(src) / stride
		if rows*row*size > len(dst) {
			return 0, errLarge
		}
		for y := range rows {
			line, out := src[y*stride:][:stride], dst[y*row*size:][:row*size]
			if depth <= 8 && 8%depth == 0 {
				unpackBits(out, line, depth)
				continue
			}
			for i := range row {
				Bits{Size: size}.put(out[i*size:], bitsAt(line, i*depth, depth))
			}
		}
		return rows * row * size, nil
	}}
}

// reversedBits is FillOrder 2: the first bit of a byte is the lowest.
func reversedBits() filter {
	return &reading{name: "bitorder", most: func(n int64) int64 { return n }, undo: func(dst, src []byte) (int, error) {
		if len(src) > len(dst) {
			return 0, errLarge
		}
		for i, b := range src {
			dst[i] = bits.Reverse8(b)
		}
		return len(src), nil
	}}
}

// packedRuns is TIFF's PackBits: bytes as they are, and repeated ones.
func packedRuns() filter {
	return &reading{name: "packbits", most: func(n int64) int64 { return 2*n + 1024 }, undo: func(dst, src []byte) (int, error) {
		at := 0
		for len(src) > 0 && at < len(dst) {
			n := int(int8(src[0]))
			src = src[1:]
			switch {
			case n == -128:
				continue
			case n >= 0:
				if n++; n > len(src) {
					return at, ErrShort
				}
				at += copy(dst[at:], src[:n])
				src = src[n:]
			case len(src) == 0:
				return at, ErrShort
			default:
				for range min(1-n, len(dst)-at) {
					dst[at] = src[0]
					at++
				}
				src = src[1:]
			}
		}
		return at, nil
	}}
}

// fax is CCITT's Group 3 of one dimension, or Group 4, as packed rows in which black is 1.
func fax(form ccitt.SubFormat, width int) filter {
	stride := (width + 7) / 8
	return &reading{name: "ccittfax", most: func(n int64) int64 { return 4*n + 1024 }, heap: func(int64) int64 { return 64 << 10 }, undo: func(dst, src []byte) (int, error) {
		mem := memoryReader(src)
		r := ccitt.NewReader(&mem, ccitt.MSB, form, width, len(dst)/stride, &ccitt.Options{Invert: true})
		n, err := io.ReadFull(r, dst[:len(dst)/stride*stride])
		return n, ended(err)
	}}
}

// pictureHeap is what decoding a picture of n bytes takes.
func pictureHeap(n int64) int64 { return 3*n + 256<<10 }

func pictureBound(n int64) int64 { return 2*n + 64<<10 }

// checkPicture rejects a picture of another size than a chunk of so many bytes of rows, before its memory is taken.
func checkPicture(c image.Config, err error, width, samples, size int) error {
	switch {
	case err == io.ErrUnexpectedEOF || err == io.EOF:
		return ErrShort
	case err != nil:
		return err
	case c.Width != width || c.Height*width*samples != size:
		return fmt.Errorf("a picture of %d × %d is in place of one of %d × %d", c.Width, c.Height, width, size/width/samples)
	}
	return nil
}

// jpegPicture is JPEG, of which the tables may stand elsewhere. convert makes RGB of YCbCr. Chroma of fewer places is made to what libjpeg makes of it.
func jpegPicture(tables string, width, samples int, convert bool) filter {
	return &reading{name: "jpeg", most: pictureBound, heap: pictureHeap, undo: func(dst, src []byte) (int, error) {
		var d jpegDecoder
		begin := func(w, h, components int) error {
			if components != samples {
				return fmt.Errorf("its picture has %d components, not %d", components, samples)
			}
			return checkPicture(image.Config{Width: w, Height: h}, nil, width, samples, len(dst))
		}
		if err := d.decode([]byte(tables), begin); err != nil {
			return 0, fmt.Errorf("JPEGTables: %w", err)
		}
		if err := d.decode(src, begin); err != nil {
			return 0, err
		}
		if d.components == nil || slices.ContainsFunc(d.components, func(c jpegComponent) bool { return !c.read }) {
			return 0, ErrShort
		}
		if samples == 1 {
			return copyRows(dst, d.components[0].plane, d.components[0].stride, width, d.height), nil
		}
		p, err := d.planes()
		if err != nil {
			return 0, err
		}
		return len(dst), colours(dst, p, width, d.height, convert)
	}}
}

func copyRows(dst, src []byte, stride, row, rows int) int {
	for y := range rows {
		copy(dst[y*row:][:row], src[y*stride:])
	}
	return row * rows
}

// colours interleaves planes, as libjpeg does (jdsample.c, jdcolor.c).
func colours(dst []byte, p *image.YCbCr, width, height int, convert bool) error {
	across, down := 1, 1
	switch p.SubsampleRatio {
	case image.YCbCrSubsampleRatio444:
	case image.YCbCrSubsampleRatio422:
		across = 2
	case image.YCbCrSubsampleRatio440:
		down = 2
	case image.YCbCrSubsampleRatio420:
		across, down = 2, 2
	default:
		return fmt.Errorf("chroma in places of %s is not supported", p.SubsampleRatio)
	}
	w, h := (width+across-1)/across, (height+down-1)/down
	chroma := [2][]byte{make([]byte, w*across), make([]byte, w*across)}
	sums := make([]int, w)
	for y := range height {
		for k, plane := range [2][]byte{p.Cb, p.Cr} {
			row := func(i int) []byte { return plane[min(max(i, 0), h-1)*p.CStride:][:w] }
			near, weight := row(y/down), 1
			other := near
			if down == 2 && (across == 1 || w > 2) {
				other, weight = row(y/2-1+y%2*2), 4
			}
			for x := range sums {
				if sums[x] = int(near[x]); weight == 4 {
					sums[x] = 3*int(near[x]) + int(other[x])
				}
			}
			upsample(chroma[k], sums, across, weight, y%2)
		}
		for x := range width {
			out := dst[(y*width+x)*3:][:3]
			l, cb, cr := int(p.Y[y*p.YStride+x]), int(chroma[0][x]), int(chroma[1][x])
			if !convert {
				out[0], out[1], out[2] = byte(l), byte(cb), byte(cr)
				continue
			}
			const half = 1 << 15
			cb, cr = cb-128, cr-128
			out[0] = clamp(l + (91881*cr+half)>>16)
			out[1] = clamp(l + (-22554*cb-46802*cr+half)>>16)
			out[2] = clamp(l + (116130*cb+half)>>16)
		}
	}
	return nil
}

// upsample makes a row of chroma of one that is weighted, and has as many elements or half as many.
func upsample(dst []byte, sums []int, across, weight, odd int) {
	switch last := len(sums) - 1; {
	case across == 1:
		for x, v := range sums {
			if weight == 4 {
				v = (v + 1 + odd) >> 2
			}
			dst[x] = byte(v)
		}
	case last < 2: // too narrow for libjpeg to interpolate
		for x, v := range sums {
			dst[2*x], dst[2*x+1] = byte(v), byte(v)
		}
	default:
		shift, low, high := 2, 1, 2
		if weight == 4 {
			shift, low, high = 4, 8, 7
		}
		for x, v := range sums {
			before, after := 4*v, 4*v
			if x > 0 {
				before = 3*v + sums[x-1]
			}
			if x < last {
				after = 3*v + sums[x+1]
			}
			dst[2*x], dst[2*x+1] = byte((before+low)>>shift), byte((after+high)>>shift)
		}
	}
}

func clamp(v int) byte { return byte(min(max(v, 0), 255)) }

// webpPicture is WebP without losses: what it loses others lose otherwise.
func webpPicture(width, samples int) filter {
	return &reading{name: "webp", most: pictureBound, heap: pictureHeap, undo: func(dst, src []byte) (int, error) {
		c, err := webp.DecodeConfig(bytes.NewReader(src))
		if err := checkPicture(c, err, width, samples, len(dst)); err != nil {
			return 0, err
		}
		p, err := webp.Decode(bytes.NewReader(src))
		if err != nil {
			return 0, ended(err)
		}
		exact, ok := p.(*image.NRGBA)
		if !ok || samples < 3 || samples > 4 {
			return 0, errors.New("WebP with losses is not supported: write the picture anew without, or as JPEG")
		}
		for y := range c.Height {
			for x := range width {
				copy(dst[(y*width+x)*samples:][:samples], exact.Pix[y*exact.Stride+4*x:])
			}
		}
		return len(dst), nil
	}}
}
