package codec

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage/door"
	"github.com/gonbext/gonbext/oocore/store"
)

// registered is a codec of store.RegisterCodec.
type registered struct{ of store.Codec }

// newRegistered returns the codec of a name; nil where there is none.
func newRegistered(name string, configuration json.RawMessage, t dtype.Type) (filter, error) {
	c, ok := door.Codecs[name].(store.Codec)
	if !ok {
		return nil, nil
	}
	c, err := c.Configure(configuration, t)
	if err == nil && c == nil {
		err = errors.New("it has no such configuration")
	}
	if err != nil {
		return nil, err
	}
	return registered{c}, nil
}

// textOfRegistered takes the text of a registered codec apart: NAME, or NAME:CONFIGURATION. A name may have colons.
func textOfRegistered(text string) (name string, configuration json.RawMessage, ok bool) {
	name, rest, more := strings.Cut(text, ":{")
	if more {
		configuration = json.RawMessage("{" + rest)
	}
	return name, configuration, door.Codecs[name] != nil
}

func (r registered) text() string {
	if c := r.of.Configuration(); c != nil {
		return r.of.Name() + ":" + string(c)
	}
	return r.of.Name()
}

// v3 has a configuration in any case, without which zarr-python rejects the codecs of numcodecs.
func (r registered) v3() json.RawMessage {
	c := r.of.Configuration()
	if c == nil {
		c = json.RawMessage("{}")
	}
	return configured(r.of.Name(), c)
}

func (r registered) bound(n int64) int64 { return r.of.Bound(n) }

func (r registered) decodeMemory(n int64) memory {
	_, w := r.of.Work(n)
	return memory{w.Whole, w.Heap}
}

func (r registered) encodeMemory(n int64) memory {
	w, _ := r.of.Work(n)
	return memory{w.Whole, w.Heap}
}

func (r registered) decoder(_ int64, work []byte) (decoder, error) { return worked{r.of, work}, nil }
func (r registered) encoder(_ int64, work []byte) (encoder, error) { return worked{r.of, work}, nil }

// worked is a registered codec with its scratch.
type worked struct {
	of      store.Codec
	scratch []byte
}

func (w worked) close() {}

func (w worked) decode(dst, src []byte) (int, error) {
	n, err := w.of.Decode(dst, src, w.scratch)
	if err == nil && (n < 0 || n > len(dst)) {
		err = errLarge
	}
	return n, err
}

func (w worked) encode(dst, src []byte) ([]byte, error) {
	out, err := w.of.Encode(dst, src, w.scratch)
	if err == nil && len(out) > 0 && (len(out) > len(dst) || &out[0] != &dst[0]) {
		err = errors.New("what it returns is not the beginning of dst")
	}
	return out, err
}
