// Package pgm lets oocore read PGM pictures, x.pgm: the example of a format that is added from outside of
// gonbext's module. A program that imports it opens them with oocore.Open.
//
// A binary PGM file is "P5", width, height and the largest value as text, with a blank after each, and
// then the pixels, of one byte, or of two, the higher first, where the largest value is above 255.
package pgm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() { store.Register(format{"PGM pictures are read only: save to NAME.npy"}) }

type format struct{ store.ReadOnly }

func (format) Owns(path string) bool { return strings.HasSuffix(path, ".pgm") }

func (format) Place(path string) string { return path }

func (format) Open(ctx context.Context, path string) (store.Array, error) {
	return store.OpenExtent(ctx, path, path, "pgm", extent)
}

// extent reads the header. OpenExtent holds what it says to the file's size.
func extent(r io.ReaderAt, size int64) (e store.Extent, err error) {
	const longest = 1024
	in := bufio.NewReader(io.NewSectionReader(r, 0, min(size, longest)))
	word := func() (text string) {
		for {
			c, err := in.ReadByte()
			e.Offset++
			switch {
			case err != nil, c <= ' ' && text != "":
				return text
			case c == '#' && text == "":
				comment, _ := in.ReadString('\n')
				e.Offset += int64(len(comment))
			case c > ' ':
				text += string(c)
			}
		}
	}
	if word() != "P5" {
		return e, errors.New("not a binary PGM picture: it does not begin with P5")
	}
	var width, height, most int
	for _, n := range []*int{&width, &height, &most} {
		if _, err := fmt.Sscanf(word(), "%d", n); err != nil || *n < 1 || *n > 1<<31-1 {
			return e, errors.New("the header of the PGM picture is damaged")
		}
	}
	e.Shape, e.DType, e.Big = []int{height, width}, dtype.Uint8, true
	if most > 255 {
		e.DType = dtype.Uint16
	}
	if most > 65535 {
		return e, fmt.Errorf("a PGM picture with values up to %d: 65535 is the most", most)
	}
	return e, nil
}
