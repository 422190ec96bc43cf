package codec_test

import (
	"context"
	"fmt"
	"io"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
)

// memory is a codec.Source of bytes in memory.
type memory []byte

func (m memory) Size() int64 { return int64(len(m)) }

func (m memory) ReadAt(_ context.Context, p []byte, at int64) error {
	if copy(p, m[at:]) < len(p) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func ExamplePipeline() {
	ctx := context.Background()
	p, err := codec.Parse("blosc:lz4:5:shuffle", []int{1000}, dtype.Float64)
	if err != nil {
		panic(err)
	}
	chunk := make([]float64, 1000)
	for i := range chunk {
		chunk[i] = float64(i)
	}

	e, err := p.Encoder(make([]byte, p.EncodeWork().Whole))
	if err != nil {
		panic(err)
	}
	defer e.Close()
	encoded, err := e.Whole(ctx, dtype.Bytes(chunk))
	if err != nil {
		panic(err)
	}

	d, err := p.Decoder(make([]byte, p.DecodeWork().Whole))
	if err != nil {
		panic(err)
	}
	defer d.Close()
	back := make([]float64, 1000)
	if _, err := d.Whole(ctx, dtype.Bytes(back), memory(encoded)); err != nil {
		panic(err)
	}
	fmt.Println(p, len(encoded) < 8000/2, back[999])
	// Output: blosc:lz4:5:shuffle true 999
}
