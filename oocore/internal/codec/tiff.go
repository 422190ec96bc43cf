package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	tifflzw "golang.org/x/image/tiff/lzw"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// The codecs of TIFF (TIFF 6.0 and Adobe Photoshop TIFF Technical Note 3), for reading.

// lzw is TIFF's variant of LZW. A strip may go on behind its elements, and need not have an end.
type lzw struct{ stateless }

func (*lzw) text() string                           { return "lzw" }
func (*lzw) v3() json.RawMessage                    { return configured("imagecodecs_lzw", nil) }
func (*lzw) bound(n int64) int64                    { return 2*n + 1024 } // 9 to 12 bits for a byte or more
func (*lzw) decodeMemory(int64) memory              { return memory{heap: lzwHeap} }
func (*lzw) readMemory(int64) memory                { return memory{heap: lzwHeap} }
func (*lzw) encoder(int64, []byte) (encoder, error) { return nil, errNotWritten }
func (*lzw) writer(int64, []byte) (writer, error)   { return nil, errNotWritten }
func (*lzw) decoder(int64, []byte) (decoder, error) { return &unlzw{}, nil }
func (*lzw) reader(int64, []byte) (reader, error)   { return &unlzw{}, nil }

// lzwHeap is what the library's reader takes, one in use and one not collected yet.
const lzwHeap = 64 << 10

var errNotWritten = errors.New("it is not written")

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
	stateless
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
func (*predictor) encoder(int64, []byte) (encoder, error)   { return nil, errNotWritten }
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

// FromTIFF makes the pipeline of a strip or tile of TIFF, with the values that the file has for
// Compression and Predictor. A row of the chunk has width pixels of so many samples.
func FromTIFF(compression, predict, width, samples int, big bool, chunk []int, t dtype.Type) (*Pipeline, error) {
	var all []filter
	switch predict {
	case 1:
	case 2, 3:
		if compression == 1 {
			return nil, errors.New("a predictor without compression is not supported")
		}
		if predict == 3 && t.Kind() != dtype.KindFloat || t.Kind() == dtype.KindComplex {
			return nil, fmt.Errorf("predictor %d for elements of %s is not supported", predict, t)
		}
		all = append(all, &predictor{float: predict == 3, big: big, size: t.Size(), row: width * samples, apart: samples})
		big = false
	default:
		return nil, fmt.Errorf("predictor %d is not supported: supported are 1, 2 and 3", predict)
	}
	names := map[int]string{2: "CCITT RLE", 3: "CCITT Group 3", 4: "CCITT Group 4", 6: "JPEG (old)", 7: "JPEG", 32773: "PackBits", 33003: "JPEG 2000",
		33004: "JPEG 2000", 33005: "JPEG 2000", 34712: "JPEG 2000", 34887: "LERC", 34892: "lossy JPEG", 34925: "LZMA", 34933: "PNG", 34934: "JPEG XR", 50001: "WebP", 50002: "JPEG XL", 52546: "JPEG XL"}
	switch compression {
	case 1:
	case 5:
		all = append(all, &lzw{})
	case 8, 32946:
		all = append(all, &deflate{"zlib", defaultDeflate})
	case 50000, 34926:
		all = append(all, &zstd{level: defaultZstd})
	default:
		name, ok := names[compression]
		if !ok {
			name = fmt.Sprintf("number %d", compression)
		}
		return nil, fmt.Errorf("the compression %s of TIFF is not supported: supported are none, LZW, deflate and Zstandard", name)
	}
	return newPipeline(chunk, t, grid.UpTo(len(chunk)), big, all)
}
