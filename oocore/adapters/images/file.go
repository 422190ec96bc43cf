package images

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
	"github.com/gonbext/gonbext/oocore/units"
)

func init() {
	store.Register(format{"pictures are read only: png.Encode writes one that images.Image returns, or save to NAME.npy"})
}

type format struct{ store.ReadOnly }

func (format) Owns(path string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg"}, strings.ToLower(filepath.Ext(path)))
}

func (format) Place(path string) string { return path }

func (format) Open(ctx context.Context, path string) (store.Array, error) {
	return storage.OpenBy(ctx, path, func(o storage.Object, id store.FileVersion) (*file, error) {
		h, err := readHeader(storage.HeadOf(ctx, o, id.Size), id.Size)
		if err == nil {
			err = grid.Check(h.shape(), h.dtype.Size())
		}
		row := int64(h.rowBytes())
		return &file{header: h, Decoded: storage.Decoded{Object: o, Described: store.Info{
			Path: path, Format: h.codec, Shape: h.shape(), DType: h.dtype, Chunks: grid.Whole(h.shape()).Chunks, Codec: h.codec, Bytes: id.Size, ID: id,
			Details: store.Details{Dims: []string{"y", "x", "s"}[:len(h.shape())]},
			Work:    store.Work{Whole: row, Stream: row, Heap: h.heap},
		}}}, err
	})
}

// header is what the beginning of a file tells.
type header struct {
	layout
	codec string
	heap  int64 // that decoding takes at most, with the picture
}

const (
	bufferBytes = 64 << 10
	// decoderHeap is what decoders and the buffer take besides pictures: Huffman tables, the window of
	// deflate, and what is garbage of them.
	decoderHeap = 512 << 10
	// deflateRatio is the most bytes that one byte of deflate becomes.
	deflateRatio = 1032
)

// readHeader reads the header of a file of so many bytes.
func readHeader(r io.ReaderAt, size int64) (h header, err error) {
	defer func() { err = cutShort(err) }()
	all := func() io.Reader { return bufio.NewReader(io.NewSectionReader(r, 0, size)) }
	var b [29]byte // to the end of a PNG file's first chunk
	if _, err := io.ReadFull(all(), b[:]); err != nil {
		return h, err
	}
	if bytes.HasPrefix(b[:], []byte("\x89PNG")) {
		c, err := png.DecodeConfig(all())
		if err != nil {
			return h, err
		}
		transparent, err := hasTransparency(r)
		if err != nil {
			return h, err
		}
		return pngHeader(c, int64(b[24]), b[25], b[28] != 0, transparent, size)
	}
	c, err := jpeg.DecodeConfig(all())
	if err != nil {
		return h, err
	}
	h = header{layout{c.Height, c.Width, 3, dtype.Uint8}, "jpeg", 0}
	stored := int64(3)
	switch c.ColorModel {
	case color.GrayModel:
		h.channels, stored = 1, 1
	case color.CMYKModel:
		return h, errors.New("a JPEG file in CMYK is not supported: convert it to RGB")
	}
	progressive, err := isProgressive(all())
	if progressive {
		stored *= 5 // a coefficient of 4 bytes besides
	}
	blocks := func(n int) int64 { return (int64(n) + 31) / 32 * 32 }
	h.heap = blocks(c.Width)*blocks(c.Height)*stored + decoderHeap
	return h, err
}

// cutShort says what the end of a file in the middle of a picture is.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file is cut short")
	}
	return err
}

// pngHeader is the header of a PNG file: colours are its colour type.
func pngHeader(c image.Config, depth int64, colours byte, interlaced, transparent bool, size int64) (h header, err error) {
	h = header{layout{c.Height, c.Width, 1, dtype.Uint8}, "png", 0}
	stored, pixel := int64(1), int64(1) // samples in the file, and in image's picture
	switch colours {
	case 2:
		h.channels, stored, pixel = 3, 3, 4
	case 3:
		p, ok := c.ColorModel.(color.Palette)
		if !ok {
			return h, errors.New("the palette is missing")
		}
		h.channels = ofPalette(p)
	case 4:
		h.channels, stored, pixel = 2, 2, 4
	case 6:
		h.channels, stored, pixel = 4, 4, 4
	}
	if colours == 0 && transparent {
		pixel = 4
	}
	if depth == 16 {
		h.dtype, pixel = dtype.Uint16, 2*pixel
	}
	width, height := int64(c.Width), int64(c.Height) // below 2³¹
	if row := (width*stored*depth + 7) / 8; height > 0 && row > size*deflateRatio/height {
		return h, fmt.Errorf("the file is cut short: a picture of %d × %d pixels does not fit into %s", width, height, units.Exact(size))
	}
	h.heap = width*height*pixel + 2*width*8 + decoderHeap
	if interlaced {
		h.heap += width * height * pixel // of the passes
	}
	return h, nil
}

// hasTransparency reports whether a PNG file names transparent colours before its pixels.
func hasTransparency(r io.ReaderAt) (bool, error) {
	for at := int64(8); ; {
		var b [8]byte
		if _, err := r.ReadAt(b[:], at); err != nil {
			return false, err
		}
		switch string(b[4:]) {
		case "tRNS":
			return true, nil
		case "IDAT":
			return false, nil
		}
		at += 12 + int64(binary.BigEndian.Uint32(b[:]))
	}
}

// isProgressive reports whether the frame of a JPEG file is progressive, by the segments before it.
func isProgressive(r io.Reader) (bool, error) {
	var marker [2]byte
	if _, err := io.ReadFull(r, marker[:]); err != nil { // the start of the image
		return false, err
	}
	for {
		if _, err := io.ReadFull(r, marker[:]); err != nil {
			return false, err
		}
		for marker[0] != 0xff || marker[1] == 0xff || marker[1] == 0 { // image/jpeg skips what stands between segments
			marker[0] = marker[1]
			if _, err := io.ReadFull(r, marker[1:]); err != nil {
				return false, err
			}
		}
		switch k := marker[1]; {
		case k >= 0xd0 && k <= 0xd7: // without a length
			continue
		case k == 0xc2:
			return true, nil
		case k == 0xc0 || k == 0xc1:
			return false, nil
		}
		var length [2]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return false, err
		}
		if _, err := io.CopyN(io.Discard, r, max(int64(binary.BigEndian.Uint16(length[:]))-2, 0)); err != nil {
			return false, err
		}
	}
}

// file is an open picture.
type file struct {
	header
	storage.Decoded
}

// Read decodes the picture for one region, if that takes no more than a gigabyte.
func (f *file) Read(ctx context.Context, dst []byte, r types.Region) error {
	if f.heap > 1<<30 {
		err := fmt.Errorf("decoding the picture takes %s: read it in a session that has them", units.Exact(f.heap))
		return storage.AccessError(ctx, "read", f.Described.Path, err)
	}
	return storage.ReadBy(ctx, f, f.Described.Work.Whole, dst, r)
}

// Session decodes the picture with its first read and holds it until it is closed. Rows go through
// the buffer.
func (f *file) Session(work []byte) (store.Session, error) {
	if err := storage.EnoughFor(f.Described.Path, work, f.Described.Work.Whole); err != nil {
		return nil, err
	}
	return &session{file: f, line: work[:f.rowBytes()]}, nil
}

type session struct {
	*file
	line []byte
	at   func(x, y int) [4]uint16 // the decoded picture; nil before
}

func (s *session) Close() error {
	s.at = nil
	return nil
}

func (s *session) Read(ctx context.Context, dst []byte, r types.Region) (stored int64, err error) {
	stored, err = s.read(ctx, dst, r)
	return stored, storage.AccessError(ctx, "read", s.Described.Path, err)
}

func (s *session) read(ctx context.Context, dst []byte, r types.Region) (stored int64, err error) {
	if done, err := s.Begin(ctx, dst, r); done {
		return 0, err
	}
	if s.at == nil {
		if err := s.decode(ctx); err != nil {
			return 0, err
		}
		stored = s.Described.Bytes
	}
	l, err := strided.Of(s.Described.Shape[1:], s.dtype.Size(), types.Region{Start: r.Start[1:], Count: r.Count[1:], Step: r.Step[1:]})
	if err != nil {
		return stored, err
	}
	n := l.Bytes()
	for i := range r.Count[0] {
		if err := ctx.Err(); err != nil {
			return stored, err
		}
		s.row(s.line, s.at, r.Start[0]+i*r.Step[0])
		l.Gather(dst[i*n:(i+1)*n], s.line, 0)
	}
	return stored, nil
}

// decode decodes the picture, which must be the one that its header told.
func (s *session) decode(ctx context.Context) error {
	decode := png.Decode
	if s.codec == "jpeg" {
		decode = jpeg.Decode
	}
	m, err := decode(bufio.NewReaderSize(io.NewSectionReader(storage.HeadOf(ctx, s.Object, s.Described.Bytes), 0, s.Described.Bytes), bufferBytes))
	if err != nil {
		return cutShort(err)
	}
	if l := layoutOf(m); l.height != s.height || l.width != s.width || l.dtype != s.dtype {
		return errors.New("the picture is not the one that the file's header tells")
	}
	s.at = sampler(m)
	return nil
}
