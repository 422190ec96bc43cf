package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// object reads a header's JSON.
type object struct{ *json.Decoder }

func newObject(text []byte) object {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return object{d}
}

// next is the next token; that there is none is an error.
func (o object) next() (json.Token, error) {
	t, err := o.Token()
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	return t, err
}

// fields reads an object and calls field with each key, which then reads the
// value. A key that stands twice is rejected.
func (o object) fields(what string, field func(key string) error) error {
	if t, err := o.next(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return errors.New(what + "it is not an object")
	}
	seen := make(map[string]struct{})
	for o.More() {
		t, err := o.next()
		if err != nil {
			return err
		}
		key := t.(string) // the decoder lets nothing else stand before a colon
		if _, twice := seen[key]; twice {
			return fmt.Errorf("%skey %.80q stands twice", what, key)
		}
		seen[key] = struct{}{}
		if err := field(key); err != nil {
			return err
		}
	}
	_, err := o.next()
	return err
}

// metadata reads the file's own texts.
func (o object) metadata() (map[string]string, error) {
	m := make(map[string]string)
	err := o.fields("__metadata__: ", func(key string) (err error) {
		m[key], err = o.text()
		if err != nil {
			return fmt.Errorf("__metadata__: %.80q: %w", key, err)
		}
		return nil
	})
	return m, err
}

// tensor reads one entry. Fields that the format does not have are passed over,
// as its reference does.
func (o object) tensor(t *Tensor) error {
	var offsets []int
	missing := map[string]bool{"dtype": true, "shape": true, "data_offsets": true}
	err := o.fields("", func(key string) (err error) {
		delete(missing, key)
		switch key {
		case "dtype":
			t.DType, err = o.text()
		case "shape":
			t.Shape, err = o.numbers()
		case "data_offsets":
			offsets, err = o.numbers()
		default:
			var skipped json.RawMessage
			err = o.Decode(&skipped)
		}
		if err != nil {
			return fmt.Errorf("%.80q: %w", key, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, field := range []string{"dtype", "shape", "data_offsets"} {
		if missing[field] {
			return fmt.Errorf("%s is missing", field)
		}
	}
	if len(offsets) != 2 {
		return fmt.Errorf("data_offsets has %d numbers, not two", len(offsets))
	}
	t.Begin, t.End = int64(offsets[0]), int64(offsets[1])
	return grid.Check(t.Shape, max(1, (bits[t.DType]+7)/8))
}

func (o object) text() (string, error) {
	t, err := o.next()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", errors.New("it is not a string")
	}
	return s, nil
}

// numbers reads a list of natural numbers.
func (o object) numbers() ([]int, error) {
	if t, err := o.next(); err != nil {
		return nil, err
	} else if t != json.Delim('[') {
		return nil, errors.New("it is not a list")
	}
	list := []int{}
	for o.More() {
		t, err := o.next()
		if err != nil {
			return nil, err
		}
		n, ok := t.(json.Number)
		if !ok {
			return nil, errors.New("it holds something other than numbers")
		}
		v, err := strconv.ParseUint(n.String(), 10, 64)
		if err != nil || v > math.MaxInt {
			return nil, fmt.Errorf("%.40s is not a natural number of 63 bits", n)
		}
		list = append(list, int(v))
	}
	_, err := o.next()
	return list, err
}

// end wants nothing but white space behind the object.
func (o object) end(text []byte) error {
	if rest := bytes.TrimSpace(text[o.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("%.20q follows the object", rest)
	}
	return nil
}
