package safetensors

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/meter"
)

// object reads a header's JSON.
type object struct {
	*json.Decoder
	take func(bytes int64) error // counts what is held
}

func newObject(text io.Reader, take func(bytes int64) error) object {
	d := meter.NewDecoder(text, take)
	d.UseNumber()
	return object{d, take}
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
// value. A key that stands twice, as seen tells, is rejected; nil looks for none.
func (o object) fields(what string, seen map[string]struct{}, field func(key string) error) error {
	if t, err := o.next(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return errors.New(what + "it is not an object")
	}
	for o.More() {
		t, err := o.next()
		if err != nil {
			return err
		}
		key := t.(string) // the decoder lets nothing else stand before a colon
		if _, twice := seen[key]; twice {
			return fmt.Errorf("%skey %.80q stands twice", what, key)
		}
		if seen != nil {
			seen[key] = struct{}{}
			if len(seen) > usual {
				if err := o.take(int64(len(key) + 64)); err != nil {
					return err
				}
			}
		}
		if err := field(key); err != nil {
			return err
		}
	}
	_, err := o.next()
	return err
}

// usual is how many keys of an object are not counted.
const usual = 16

// metadata reads the file's own texts.
func (o object) metadata() (map[string]string, error) {
	m := make(map[string]string)
	err := o.fields("__metadata__: ", map[string]struct{}{}, func(key string) (err error) {
		m[key], err = o.text()
		if err != nil {
			return fmt.Errorf("__metadata__: %.80q: %w", key, err)
		}
		return o.take(int64(len(key) + len(m[key]) + 64))
	})
	return m, err
}

// tensor reads one entry. Fields that the format does not have are passed over,
// as its reference does.
func (o object) tensor(t *Tensor) error {
	var offsets []int
	missing := map[string]bool{"dtype": true, "shape": true, "data_offsets": true}
	err := o.fields("", map[string]struct{}{}, func(key string) (err error) {
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
	t.Begin, t.End, t.Shape = int64(offsets[0]), int64(offsets[1]), slices.Clip(t.Shape)
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
		if len(list) > usual {
			if err := o.take(16); err != nil {
				return nil, err
			}
		}
	}
	_, err := o.next()
	return list, err
}

// end wants nothing but white space behind the object, of what the decoder has read and of rest.
func (o object) end(rest io.Reader) error {
	r := bufio.NewReader(io.MultiReader(o.Buffered(), rest))
	for {
		switch c, err := r.ReadByte(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !strings.ContainsRune(" \t\r\n", rune(c)):
			more, _ := r.Peek(19)
			return fmt.Errorf("%q follows the object", append([]byte{c}, more...))
		}
	}
}
