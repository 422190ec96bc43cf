package codec

import (
	"errors"
	"io"
	"math/bits"

	lib "github.com/klauspost/compress/zstd"
)

// zstdInGo is Zstandard in Go.
type zstdInGo struct{}

// What the library keeps on the heap in addition to windows, as measured: see TestHeap.
const (
	zstdBlock  = 128 << 10
	zstdObject = 64 << 10
)

// decodeMemory is a block and its literals.
func (zstdInGo) decodeMemory(_ *zstd, n int64) memory {
	return memory{heap: 2*min(n, zstdBlock) + zstdObject}
}

func (zstdInGo) readMemory(z *zstd, _ int64) memory {
	return memory{heap: z.window() + 5*zstdBlock}
}

func (zstdInGo) encodeMemory(z *zstd, n int64) memory {
	return memory{heap: goWindow(z, n) + z.goTables()}
}

func (zstdInGo) writeMemory(z *zstd, n int64) memory {
	return memory{heap: goWindow(z, n) + z.goTables() + zstdBlock}
}

// goTables is what the encoder has for finding matches, and for blocks.
func (z *zstd) goTables() int64 {
	switch z.goLevel() {
	case lib.SpeedFastest:
		return 768 << 10
	case lib.SpeedDefault:
		return 2304 << 10
	case lib.SpeedBetterCompression:
		return 5120 << 10
	}
	return 36 << 20
}

func (z *zstd) goLevel() lib.EncoderLevel {
	if z.level == 0 {
		return lib.SpeedDefault
	}
	return lib.EncoderLevelFromZstd(z.level)
}

// goWindow is how far the encoder looks back.
func goWindow(z *zstd, n int64) int64 {
	n = max(n, lib.MinWindowSize)
	return min(z.window(), 1<<bits.Len64(uint64(n-1)))
}

func (zstdInGo) newEncoder(z *zstd, n int64) (*lib.Encoder, error) {
	return lib.NewWriter(nil,
		lib.WithEncoderLevel(z.goLevel()),
		lib.WithEncoderConcurrency(1),
		lib.WithEncoderCRC(z.checksum),
		lib.WithWindowSize(int(goWindow(z, n))),
		lib.WithLowerEncoderMem(true),
		lib.WithAllLitEntropyCompression(true),
		lib.WithZeroFrames(true))
}

type goZstdDecoder struct{ lib *lib.Decoder }

func (zstdInGo) decoder(z *zstd, n int64, _ []byte) (decoder, error) {
	window := min(max(maxZstdWindow, uint64(n)), 1<<41) // a frame of one segment has its content's size as its window
	d, err := lib.NewReader(nil, lib.WithDecoderConcurrency(1), lib.WithDecodeAllCapLimit(true), lib.WithDecoderMaxWindow(window))
	return goZstdDecoder{d}, err
}

func (d goZstdDecoder) decode(dst, src []byte) (int, error) {
	out, err := d.lib.DecodeAll(src, dst[:0:len(dst)])
	switch {
	case errors.Is(err, lib.ErrDecoderSizeExceeded), errors.Is(err, lib.ErrFrameSizeExceeded):
		err = errLarge
	case err == nil && len(out) > 0 && !same(out, dst):
		err = errLarge
	case err != nil:
		err = goZstdError(err)
	}
	return len(out), err
}

// goZstdError is an error of the library in the words of both implementations.
func goZstdError(err error) error {
	for _, known := range [][2]error{{ErrShort, ErrShort}, {lib.ErrMagicMismatch, errMagic}, {lib.ErrCRCMismatch, errChecksum}, {lib.ErrUnknownDictionary, errDictionary}} {
		if errors.Is(err, known[0]) {
			return known[1]
		}
	}
	return errFrame
}

func (d goZstdDecoder) close() { d.lib.Close() }

type goZstdEncoder struct{ lib *lib.Encoder }

func (zstdInGo) encoder(z *zstd, n int64, _ []byte) (encoder, error) {
	e, err := zstdInGo{}.newEncoder(z, n)
	return goZstdEncoder{e}, err
}

func (e goZstdEncoder) encode(dst, src []byte) ([]byte, error) {
	return e.lib.EncodeAll(src, dst[:0]), nil
}

func (e goZstdEncoder) close() { e.lib.Close() }

type goZstdReader struct {
	z     *zstd
	lib   *lib.Decoder
	below notingInput
}

// notingInput notes the last error, which is not the library's then.
type notingInput struct {
	input
	err error
}

func (i *notingInput) Read(p []byte) (n int, err error) {
	n, i.err = i.input.Read(p)
	return n, i.err
}

func (zstdInGo) reader(z *zstd, n int64, _ []byte) (reader, error) {
	d, err := lib.NewReader(nil, lib.WithDecoderConcurrency(1), lib.WithDecoderLowmem(true), lib.WithDecoderMaxWindow(uint64(z.window())))
	return &goZstdReader{z: z, lib: d}, err
}

func (d *goZstdReader) reset(r input, _ int64) error {
	d.below = notingInput{input: r}
	return d.lib.Reset(&d.below)
}

func (d *goZstdReader) Read(p []byte) (int, error) {
	n, err := d.lib.Read(p)
	switch {
	case err == nil, err == io.EOF, d.below.err != nil && d.below.err != io.EOF:
		return n, err
	case errors.Is(err, lib.ErrWindowSizeExceeded), errors.Is(err, lib.ErrDecoderSizeExceeded):
		return n, d.z.errWindow()
	}
	return n, goZstdError(err)
}

func (d *goZstdReader) ReadByte() (byte, error) { return oneByte(d) }

func (d *goZstdReader) close() { d.lib.Close() }

type goZstdWriter struct{ lib *lib.Encoder }

func (zstdInGo) writer(z *zstd, n int64, _ []byte) (writer, error) {
	e, err := zstdInGo{}.newEncoder(z, n)
	return goZstdWriter{e}, err
}

func (e goZstdWriter) reset(w io.Writer, n int64) error {
	if n < 0 {
		e.lib.Reset(w)
	} else {
		e.lib.ResetContentSize(w, n)
	}
	return nil
}

func (e goZstdWriter) Write(p []byte) (int, error) { return e.lib.Write(p) }
func (e goZstdWriter) end() error                  { return e.lib.Close() }
func (e goZstdWriter) close()                      { e.lib.Reset(nil); e.lib.Close() }
