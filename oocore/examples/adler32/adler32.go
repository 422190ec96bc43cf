// Package adler32 lets oocore read and write chunks with a checksum by Adler, "numcodecs.adler32": the example of a codec that is added from outside of
// gonbext's module. A program that imports it saves with oocore.Codec("numcodecs.adler32"); numcodecs and zarr-python read that, and it reads theirs.
package adler32

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/adler32"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	if err := store.RegisterCodec(codec{}); err != nil {
		panic(err)
	}
}

// codec has a checksum of four bytes before the chunk's, or behind them.
type codec struct {
	Location string `json:"location,omitempty"` // start, which is usual, or end
}

const size = 4

func (codec) Name() string { return "numcodecs.adler32" }

func (codec) Configure(configuration json.RawMessage, _ dtype.Type) (store.Codec, error) {
	var c codec
	if len(configuration) > 0 {
		d := json.NewDecoder(bytes.NewReader(configuration))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			return nil, err
		}
	}
	switch c.Location {
	case "start":
		c.Location = ""
	case "", "end":
	default:
		return nil, fmt.Errorf("location %q is neither start nor end", c.Location)
	}
	return c, nil
}

func (c codec) Configuration() json.RawMessage {
	if c.Location == "" {
		return nil
	}
	return json.RawMessage(`{"location":"end"}`)
}

func (codec) Bound(n int64) int64 { return n + size }

func (codec) Work(int64) (encode, decode store.Work) { return store.Work{}, store.Work{} }

func (c codec) Encode(dst, src, _ []byte) ([]byte, error) {
	sum := binary.LittleEndian.AppendUint32(nil, adler32.Checksum(src))
	if c.Location == "end" {
		return append(append(dst[:0], src...), sum...), nil
	}
	return append(append(dst[:0], sum...), src...), nil
}

func (c codec) Decode(dst, src, _ []byte) (int, error) {
	if len(src) < size {
		return 0, errors.New("it is too short for its checksum")
	}
	data, sum := src[size:], src[:size]
	if c.Location == "end" {
		data, sum = src[:len(src)-size], src[len(src)-size:]
	}
	if got, want := adler32.Checksum(data), binary.LittleEndian.Uint32(sum); got != want {
		return 0, fmt.Errorf("the checksum is %08x, and that of the data %08x", want, got)
	}
	if len(data) > len(dst) {
		return 0, errors.New("it is longer than the chunk")
	}
	return copy(dst, data), nil
}
