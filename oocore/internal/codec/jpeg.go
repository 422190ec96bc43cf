package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"slices"
)

// jpegDecoder decodes baseline JPEG (ITU-T T.81) with libjpeg's inverse transform (jidctint.c), whose numbers those who read TIFF get; Go's decoder
// rounds some of them to their neighbours.
type jpegDecoder struct {
	width, height int
	components    []jpegComponent
	quantum       [4]*[64]int32
	huffman       [2][4]*huffman // of DC and AC
	restart       int

	src   []byte // from here on
	bits  uint32
	n     int
	short bool // bits were taken behind the end
}

type jpegComponent struct {
	id, h, v, table int
	dc, ac          int // tables of the scan
	plane           []byte
	stride          int
	last            int32
	read            bool // a scan had it
}

// huffman has the codes of each length: the first, behind the last, and where their values begin.
type huffman struct {
	first, end, at [17]int
	values         []byte
}

var zigzag = [64]byte{0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63}

var errJPEG = errors.New("the JPEG data are damaged")

// decode reads a stream to its end; begin is asked once the size is known, before memory is taken.
func (d *jpegDecoder) decode(src []byte, begin func(width, height, components int) error) error {
	d.src = src
	for len(d.src) >= 2 {
		if d.src[0] != 0xff || d.src[1] == 0xff || d.src[1] == 0 { // what is between segments
			d.src = d.src[1:]
			continue
		}
		marker := d.src[1]
		if d.src = d.src[2:]; marker == 0xd9 {
			return nil
		}
		if marker == 0xd8 || marker >= 0xd0 && marker < 0xd8 {
			continue
		}
		if len(d.src) < 2 || int(binary.BigEndian.Uint16(d.src)) < 2 || int(binary.BigEndian.Uint16(d.src)) > len(d.src) {
			return ErrShort
		}
		n := int(binary.BigEndian.Uint16(d.src))
		body := d.src[2:n]
		d.src = d.src[n:]
		var err error
		switch marker {
		case 0xc0, 0xc1:
			err = d.frame(body, begin)
		case 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf:
			err = fmt.Errorf("JPEG of process %#x (progressive, lossless or arithmetic) is not supported: baseline is", marker)
		case 0xc4:
			err = d.huffmanTables(body)
		case 0xdb:
			err = d.quantumTables(body)
		case 0xdd:
			if len(body) < 2 {
				return errJPEG
			}
			d.restart = int(binary.BigEndian.Uint16(body))
		case 0xda:
			err = d.scan(body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *jpegDecoder) quantumTables(b []byte) error {
	for len(b) > 0 {
		size, id := 1+int(b[0]>>4), b[0]&15
		if size > 2 || id > 3 || len(b) < 1+64*size {
			return errJPEG
		}
		var q [64]int32
		for i := range q {
			if q[zigzag[i]] = int32(b[1+i]); size == 2 {
				q[zigzag[i]] = int32(binary.BigEndian.Uint16(b[1+2*i:]))
			}
		}
		d.quantum[id], b = &q, b[1+64*size:]
	}
	return nil
}

func (d *jpegDecoder) huffmanTables(b []byte) error {
	for len(b) > 0 {
		if len(b) < 17 || b[0]>>4 > 1 || b[0]&15 > 3 {
			return errJPEG
		}
		h, code, at := &huffman{}, 0, 0
		for length := 1; length <= 16; length++ {
			n := int(b[length])
			h.first[length], h.end[length], h.at[length] = code, code+n, at
			if code, at = (code+n)*2, at+n; code > 2<<length {
				return errJPEG
			}
		}
		if len(b) < 17+at {
			return errJPEG
		}
		h.values = slices.Clone(b[17 : 17+at])
		d.huffman[b[0]>>4][b[0]&15], b = h, b[17+at:]
	}
	return nil
}

func (d *jpegDecoder) frame(b []byte, begin func(width, height, components int) error) error {
	if len(b) < 6 || len(b) < 6+3*int(b[5]) || d.components != nil {
		return errJPEG
	}
	if b[0] != 8 {
		return fmt.Errorf("JPEG of %d bits is not supported: 8 are", b[0])
	}
	d.height, d.width = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
	if err := begin(d.width, d.height, int(b[5])); err != nil {
		return err
	}
	for i := range int(b[5]) {
		c := b[6+3*i:]
		of := jpegComponent{id: int(c[0]), h: int(c[1] >> 4), v: int(c[1] & 15), table: int(c[2])}
		if of.h < 1 || of.v < 1 || of.h > 2 || of.v > 2 || of.table > 3 {
			return fmt.Errorf("JPEG of components in %d × %d places is not supported", of.h, of.v)
		}
		d.components = append(d.components, of)
	}
	across, down := d.most()
	for i := range d.components {
		c := &d.components[i]
		c.stride = (d.width + 8*across - 1) / (8 * across) * 8 * c.h
		c.plane = make([]byte, c.stride*((d.height+8*down-1)/(8*down)*8*c.v))
	}
	return nil
}

// most are the most places that a component has.
func (d *jpegDecoder) most() (h, v int) {
	for _, c := range d.components {
		h, v = max(h, c.h), max(v, c.v)
	}
	return h, v
}

func (d *jpegDecoder) scan(b []byte) error {
	if len(b) < 1 || len(b) < 4+2*int(b[0]) || b[0] == 0 || d.components == nil {
		return errJPEG
	}
	var in []*jpegComponent
	for i := range int(b[0]) {
		at := slices.IndexFunc(d.components, func(c jpegComponent) bool { return c.id == int(b[1+2*i]) })
		if at < 0 {
			return errJPEG
		}
		c := &d.components[at]
		if c.dc, c.ac = int(b[2+2*i]>>4), int(b[2+2*i]&15); c.dc > 3 || c.ac > 3 || d.huffman[0][c.dc] == nil || d.huffman[1][c.ac] == nil || d.quantum[c.table] == nil {
			return errJPEG
		}
		in, c.last, c.read = append(in, c), 0, true
	}
	across, down := d.most()
	columns, rows := (d.width+8*across-1)/(8*across), (d.height+8*down-1)/(8*down)
	h, v := in[0].h, in[0].v
	if single := len(in) == 1; single { // whose blocks follow each other
		columns, rows = ((d.width*h+across-1)/across+7)/8, ((d.height*v+down-1)/down+7)/8
		h, v = 1, 1
	}
	d.bits, d.n = 0, 0
	for unit := range columns * rows {
		if d.restart > 0 && unit > 0 && unit%d.restart == 0 {
			for len(d.src) >= 2 && (d.src[0] != 0xff || d.src[1] < 0xd0 || d.src[1] > 0xd7) {
				d.src = d.src[1:]
			}
			d.src = d.src[min(2, len(d.src)):]
			d.bits, d.n = 0, 0
			for _, c := range in {
				c.last = 0
			}
		}
		for _, c := range in {
			if len(in) > 1 {
				h, v = c.h, c.v
			}
			for k := range h * v {
				x, y := unit%columns*h+k%h, unit/columns*v+k/h
				if err := d.block(c, c.plane[8*(y*c.stride+x):]); err != nil {
					return err
				}
			}
		}
	}
	if d.short {
		return ErrShort
	}
	return nil
}

// take returns the next bits; behind the end they are 0, which scan rejects.
func (d *jpegDecoder) take(n int) int {
	for d.n < n {
		b, more := byte(0), len(d.src) > 0 && (d.src[0] != 0xff || len(d.src) > 1 && d.src[1] == 0)
		if d.short = d.short || !more; more {
			b = d.src[0]
			if d.src = d.src[1:]; b == 0xff {
				d.src = d.src[1:]
			}
		}
		d.bits, d.n = d.bits<<8|uint32(b), d.n+8
	}
	d.n -= n
	return int(d.bits >> d.n & (1<<n - 1))
}

func (d *jpegDecoder) symbol(h *huffman) (int, error) {
	code := 0
	for length := 1; length <= 16; length++ {
		if code = code<<1 | d.take(1); code < h.end[length] && code >= h.first[length] {
			return int(h.values[h.at[length]+code-h.first[length]]), nil
		}
	}
	return 0, errJPEG
}

// value is a number of so many bits, of which half are negative.
func (d *jpegDecoder) value(n int) int32 {
	v := d.take(n)
	if n > 0 && v < 1<<(n-1) {
		v += -1<<n + 1
	}
	return int32(v)
}

func (d *jpegDecoder) block(c *jpegComponent, out []byte) error {
	var q [64]int32
	n, err := d.symbol(d.huffman[0][c.dc])
	if err != nil || n > 15 {
		return errJPEG
	}
	c.last += d.value(n)
	quantum := d.quantum[c.table]
	q[0] = c.last * quantum[0]
	for k := 1; k < 64; k++ {
		s, err := d.symbol(d.huffman[1][c.ac])
		if err != nil {
			return err
		}
		run, n := s>>4, s&15
		if n == 0 {
			if run < 15 {
				break
			}
			k += 15
			continue
		}
		if k += run; k > 63 {
			return errJPEG
		}
		q[zigzag[k]] = d.value(n) * quantum[zigzag[k]]
	}
	for x := range 8 {
		inverse(q[x:], 8, 11)
	}
	for y := range 8 {
		row := q[8*y:][:8]
		inverse(row, 1, 18)
		for x, v := range row {
			out[y*c.stride+x] = clamp(int(v) + 128)
		}
	}
	return nil
}

// inverse is the inverse transform of eight numbers that lie apart, rounded by so many bits.
func inverse(q []int32, apart int, shift uint) {
	v := func(i int) int32 { return q[i*apart] }
	z1 := (v(2) + v(6)) * 4433
	t2, t3 := z1-v(6)*15137, z1+v(2)*6270
	t0, t1 := (v(0)+v(4))<<13, (v(0)-v(4))<<13
	e := [4]int32{t0 + t3, t1 + t2, t1 - t2, t0 - t3}
	t0, t1, t2, t3 = v(7), v(5), v(3), v(1)
	z1, z2, z3, z4 := -(t0+t3)*7373, -(t1+t2)*20995, t0+t2, t1+t3
	z5 := (z3 + z4) * 9633
	z3, z4 = z5-z3*16069, z5-z4*3196
	o := [4]int32{t3*12299 + z1 + z4, t2*25172 + z2 + z3, t1*16819 + z2 + z4, t0*2446 + z1 + z3}
	half := int32(1) << (shift - 1)
	for i := range 4 {
		q[i*apart], q[(7-i)*apart] = (e[i]+o[i]+half)>>shift, (e[i]-o[i]+half)>>shift
	}
}

// planes are the components as colours of a picture.
func (d *jpegDecoder) planes() (*image.YCbCr, error) {
	y, b, r := d.components[0], d.components[1], d.components[2]
	ratio, ok := map[[2]int]image.YCbCrSubsampleRatio{{1, 1}: image.YCbCrSubsampleRatio444, {2, 1}: image.YCbCrSubsampleRatio422, {1, 2}: image.YCbCrSubsampleRatio440, {2, 2}: image.YCbCrSubsampleRatio420}[[2]int{y.h / b.h, y.v / b.v}]
	if across, down := d.most(); !ok || b.h != r.h || b.v != r.v || y.h != across || y.v != down {
		return nil, errors.New("JPEG whose first component has fewer places than others is not supported")
	}
	return &image.YCbCr{Y: y.plane, Cb: b.plane, Cr: r.plane, YStride: y.stride, CStride: b.stride, SubsampleRatio: ratio}, nil
}
