package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/image/ccitt"
	tifflzw "golang.org/x/image/tiff/lzw"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// The codecs of TIFF (TIFF 6.0 and Adobe Photoshop TIFF Technical Note 3), for reading.

// lzw is TIFF's variant of LZW. A strip may go on behind its elements, and need not have an end.
type lzw struct{ unwritten }

func (*lzw) text() string                           { return "lzw" }
func (*lzw) v3() json.RawMessage                    { return configured("imagecodecs_lzw", nil) }
func (*lzw) bound(n int64) int64                    { return 2*n + 1024 } // 9 to 12 bits for a byte or more
func (*lzw) decodeMemory(int64) memory              { return memory{heap: lzwHeap} }
func (*lzw) readMemory(int64) memory                { return memory{heap: lzwHeap} }
func (*lzw) writer(int64, []byte) (writer, error)   { return nil, errNotWritten }
func (*lzw) decoder(int64, []byte) (decoder, error) { return &unlzw{}, nil }
func (*lzw) reader(int64, []byte) (reader, error)   { return &unlzw{}, nil }

// lzwHeap is what the library's reader takes, one in use and one not collected yet.
const lzwHeap = 64 << 10

// unlzw decodes LZW.
type unlzw struct {
	mem   memoryReader
	below input
	r     io.ReadCloser
	left  int64 // of the elements; negative where it is not known
}

func (d *unlzw) reset(r input, n int64) error {
	d.below, d.left = r, n
	d.r = tifflzw.NewReader(r, tifflzw.MSB, 8)
	return nil
}

func (d *unlzw) Read(p []byte) (int, error) {
	if d.left >= 0 {
		p = p[:min(int64(len(p)), d.left)]
	}
	if len(p) == 0 && d.left == 0 {
		_, err := io.Copy(io.Discard, d.below)
		if err == nil {
			err = io.EOF
		}
		return 0, err
	}
	n, err := d.r.Read(p)
	if d.left >= 0 {
		d.left -= int64(n)
	}
	return n, err
}

func (d *unlzw) ReadByte() (byte, error) { return oneByte(d) }

func (d *unlzw) decode(dst, src []byte) (int, error) {
	d.mem = src
	_ = d.reset(&d.mem, int64(len(dst)))
	n, err := io.ReadFull(d.r, dst)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = ErrShort
	}
	return n, err
}

func (d *unlzw) close() { d.r = nil }

// predictor is the difference of each sample to that of the pixel before. Whole chunks only.
type predictor struct {
	unwritten
	float bool // of the bytes, which lie in planes, most significant first
	big   bool // byte order of what is stored
	size  int  // of a sample
	row   int  // samples of a row
	apart int  // samples of a pixel
}

func (p *predictor) text() string {
	if p.float {
		return "floatpredictor"
	}
	return "predictor"
}
func (p *predictor) v3() json.RawMessage                    { return configured("imagecodecs_"+p.text(), nil) }
func (*predictor) bound(n int64) int64                      { return n }
func (p *predictor) decoder(int64, []byte) (decoder, error) { return p, nil }

func (p *predictor) decode(dst, src []byte) (int, error) {
	row := p.row * p.size
	if len(src) > len(dst) {
		return 0, errMore
	}
	if len(src)%row != 0 {
		return 0, ErrShort
	}
	dst = dst[:len(src)]
	if p.float {
		for at := 0; at < len(src); at += row {
			from, to := src[at:at+row], dst[at:at+row]
			accumulate(from, row, p.apart)
			for i := range p.row {
				for b := range p.size { // to this machine's order, which is little-endian
					to[i*p.size+p.size-1-b] = from[b*p.row+i]
				}
			}
		}
		return len(src), nil
	}
	copy(dst, src)
	if p.big {
		kernel.Swap(dst, p.size)
	}
	switch p.size {
	case 1:
		accumulate(dst, p.row, p.apart)
	case 2:
		accumulate(dtype.Slice[uint16](dst), p.row, p.apart)
	case 4:
		accumulate(dtype.Slice[uint32](dst), p.row, p.apart)
	default:
		accumulate(dtype.Slice[uint64](dst), p.row, p.apart)
	}
	return len(src), nil
}

func accumulate[T uint8 | uint16 | uint32 | uint64 | float32 | float64](all []T, row, apart int) {
	for ; len(all) > 0; all = all[row:] {
		for i := apart; i < row; i++ {
			all[i] += all[i-apart]
		}
	}
}

// TIFF is what a file says of a strip or tile, with the values of its tags.
type TIFF struct {
	Compression, Predictor, Photometric, T4Options int
	Tables                                         string // of JPEG
	Width, Samples                                 int    // a row of the chunk has Width pixels of so many samples
	Bits                                           int    // of a sample
	Reversed                                       bool   // FillOrder 2
	Big                                            bool
}

// tiffCodings are the compressions that are read.
var tiffCodings = map[int]struct {
	name string
	make func(c TIFF) filter // nil where the values of other tags are not supported
}{
	3: {"CCITT Group 3 of one dimension", func(c TIFF) filter {
		if c.T4Options&3 != 0 || c.Bits != 1 {
			return nil
		}
		return fax(ccitt.Group3, c.Width)
	}},
	4: {"CCITT Group 4", func(c TIFF) filter {
		if c.Bits != 1 {
			return nil
		}
		return fax(ccitt.Group4, c.Width)
	}},
	5: {"LZW", func(TIFF) filter { return &lzw{} }},
	7: {"JPEG of 8 bits, grey or of three colours", func(c TIFF) filter {
		if c.Bits != 8 || c.Samples != 1 && c.Samples != 3 {
			return nil
		}
		return jpegPicture(c.Tables, c.Width, c.Samples, c.Photometric == 6)
	}},
	8:     {"deflate", func(TIFF) filter { return &deflate{"zlib", defaultDeflate} }},
	32946: {"deflate", func(TIFF) filter { return &deflate{"zlib", defaultDeflate} }},
	32773: {"PackBits", func(TIFF) filter { return packedRuns() }},
	34925: {"LZMA", func(TIFF) filter { return &lzmaFilter{form: 1} }},
	34926: {"Zstandard", func(TIFF) filter { return &zstd{level: defaultZstd} }},
	50000: {"Zstandard", func(TIFF) filter { return &zstd{level: defaultZstd} }},
	50001: {"WebP without losses, of 8 bits", func(c TIFF) filter {
		if c.Bits != 8 || c.Samples != 3 && c.Samples != 4 {
			return nil
		}
		return webpPicture(c.Width, c.Samples)
	}},
}

// FromTIFF makes the pipeline of a strip or tile.
func FromTIFF(c TIFF, chunk []int, t dtype.Type) (*Pipeline, error) {
	var all []filter
	big, packed := c.Big, c.Bits != 8*t.Size()
	switch {
	case c.Predictor == 1:
	case c.Predictor != 2 && c.Predictor != 3:
		return nil, fmt.Errorf("predictor %d is not supported: supported are 1, 2 and 3", c.Predictor)
	case c.Compression == 1:
		return nil, errors.New("a predictor without compression is not supported")
	case c.Predictor == 3 && t.Kind() != dtype.KindFloat || t.Kind() == dtype.KindComplex || packed:
		return nil, fmt.Errorf("predictor %d for elements of %s, of %d bits, is not supported", c.Predictor, t, c.Bits)
	default:
		all = append(all, &predictor{float: c.Predictor == 3, big: big, size: t.Size(), row: c.Width * c.Samples, apart: c.Samples})
		big = false
	}
	if packed {
		all = append(all, packedRows(c.Width*c.Samples, c.Bits, t.Size()))
		big = false
	}
	if c.Compression != 1 {
		coding, ok := tiffCodings[c.Compression]
		var f filter
		if ok {
			f = coding.make(c)
		}
		if f == nil {
			names := map[int]string{2: "CCITT RLE", 3: "CCITT Group 3 of two dimensions", 4: "CCITT Group 4 of several bits", 6: "JPEG (old)", 7: fmt.Sprintf("JPEG of %d samples of %d bits", c.Samples, c.Bits), 9: "JBIG",
				10: "JBIG", 32766: "NeXT", 32809: "ThunderScan", 32909: "PixarFilm", 33003: "JPEG 2000", 33004: "JPEG 2000", 33005: "JPEG 2000", 34661: "JBIG", 34676: "SGILog", 34677: "SGILog24", 34712: "JPEG 2000",
				34887: "LERC", 34892: "lossy JPEG", 34933: "PNG", 34934: "JPEG XR", 48124: "Jetraw", 50001: "WebP", 50002: "JPEG XL", 52546: "JPEG XL", 65000: "EER", 65001: "EER", 65002: "EER"}
			name, ok := names[c.Compression]
			if !ok {
				name = fmt.Sprintf("number %d", c.Compression)
			}
			var known []string
			for _, c := range tiffCodings {
				known = append(known, c.name)
			}
			slices.Sort(known)
			return nil, fmt.Errorf("the compression %s of TIFF is not supported: supported are none, %s: write it anew with one of them, as by tiffcp -c zip", name, strings.Join(slices.Compact(known), ", "))
		}
		all = append(all, f)
	}
	if c.Reversed {
		all = append(all, reversedBits())
	}
	return newPipeline(chunk, t, grid.UpTo(len(chunk)), big, all)
}
