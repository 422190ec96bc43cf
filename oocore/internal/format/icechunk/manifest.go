package icechunk

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"slices"
	"strings"
	"unsafe"

	"github.com/klauspost/compress/zstd"

	"github.com/gonbext/gonbext/oocore/internal/format/kerchunk"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// chunks says where the chunks of an array are.
type chunks struct {
	grid   []int   // of each axis the number of chunks that there can be
	all    []chunk // by number
	inline []byte
	files  []virtual
}

// chunk is where a chunk is: in a file of the repository, in the manifest, or in a file elsewhere.
type chunk struct {
	number   uint64 // in C order of the grid
	at, size int64
	id       objectID // of a chunk elsewhere the number of its file
	kind     chunkKind
}

type chunkKind byte

const (
	native chunkKind = iota
	inline
	elsewhere
)

// virtual is a file that is no part of the repository, and what it was when the chunks in it were found.
type virtual struct {
	file, etag string
	modified   uint64 // in seconds of Unix time; 0 is unknown
}

var tables storage.Headers[*chunks]

// number is that of a chunk, or false of one beyond the grid.
func (c *chunks) number(index []int) (n uint64, ok bool) {
	if len(index) != len(c.grid) {
		return 0, false
	}
	for d, i := range index {
		if i >= c.grid[d] {
			return 0, false
		}
		n = n*uint64(c.grid[d]) + uint64(i)
	}
	return n, true
}

// find returns where a chunk is, or nil.
func (c *chunks) find(index []int) *chunk {
	n, ok := c.number(index)
	at, found := slices.BinarySearchFunc(c.all, n, func(a chunk, n uint64) int { return cmp.Compare(a.number, n) })
	if !ok || !found {
		return nil
	}
	return &c.all[at]
}

// readChunks reads the manifests of an array. Where there is no room for them it counts on, with an upper bound of what they hold.
func (p place) readChunks(ctx context.Context, n *node, take func(int64) error) (*chunks, error) {
	c := &chunks{}
	for i, m := range n.manifests {
		if i > 0 && len(m.to) != len(c.grid) {
			return nil, errDamaged
		}
		c.grid = append(c.grid, make([]int, len(m.to)-len(c.grid))...)
		for d, to := range m.to {
			c.grid[d] = max(c.grid[d], to)
		}
	}
	size := uint64(1)
	for _, n := range c.grid {
		if size > math.MaxInt64/uint64(max(n, 1)) {
			return nil, fmt.Errorf("a grid of %v chunks is too large", c.grid)
		}
		size *= uint64(max(n, 1))
	}
	room := &meter.Room{Take: take}
	files := map[virtual]int{}
	largest := 0
	for _, m := range n.manifests {
		root, size, err := read(ctx, p.file("manifests/"+m.id.String()), manifestFile, room)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = errors.New("the file is gone: the chunks in it cannot be found")
		case err == nil && room.Err != nil:
			largest = max(largest, size)
			room.For(int64(size))
		case err == nil:
			err = cmp.Or(c.add(p, n, m, root, files, room), root.err)
			room.For(int64(-size))
		}
		if err != nil {
			return nil, fmt.Errorf("manifest %s of %.80q: %w", m.id, n.path, err)
		}
	}
	if room.Err != nil {
		room.For(int64(largest))
		return nil, room.Err
	}
	slices.SortFunc(c.all, func(a, b chunk) int { return cmp.Compare(a.number, b.number) })
	for i := 1; i < len(c.all); i++ {
		if c.all[i].number == c.all[i-1].number {
			return nil, fmt.Errorf("manifests of %.80q: a chunk is there twice", n.path)
		}
	}
	return c, nil
}

// add adds the chunks of an array that a manifest has.
func (c *chunks) add(p place, n *node, m manifestRef, root table, files map[virtual]int, room *meter.Room) error {
	var urls *zstd.Decoder
	if dictionary := root.bytes(2); dictionary != nil {
		var err error
		if urls, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxURL), zstd.WithDecoderDicts(dictionary)); err != nil {
			return fmt.Errorf("its dictionary: %w", err)
		}
		defer urls.Close()
	}
	var index []int
	for _, a := range root.tables(1) {
		if string(a.fixed(0, len(n.id))) != string(n.id[:]) {
			continue
		}
		_, refs := a.vector(1, 4)
		text := 0
		for _, ref := range a.tables(1) {
			_, n := ref.vector(1, 1)
			text += n
		}
		if !room.For(int64(refs)*int64(unsafe.Sizeof(chunk{})) + int64(text)) {
			return nil
		}
		c.all, c.inline = slices.Grow(c.all, refs), slices.Grow(c.inline, text)
		for _, ref := range a.tables(1) {
			if index = ref.uints(0, index[:0]); len(index) != len(c.grid) {
				return fmt.Errorf("a chunk with %d indices in a grid of %d axes", len(index), len(c.grid))
			}
			if outside(index, m) {
				continue // as Icechunk leaves it out
			}
			found := chunk{at: int64(ref.uint(2, 8)), size: int64(ref.uint(3, 8))}
			found.number, _ = c.number(index)
			location := ref.bytes(5)
			if packed := ref.bytes(8); location == nil && packed != nil {
				if urls == nil {
					return errors.New("places are compressed, and there is no dictionary")
				}
				var err error
				if location, err = urls.DecodeAll(packed, nil); err != nil {
					return fmt.Errorf("a compressed place: %w", err)
				}
			}
			text := ref.bytes(1)
			switch {
			case text != nil:
				found.kind, found.at, found.size = inline, int64(len(c.inline)), int64(len(text))
				c.inline = append(c.inline, text...)
			case ref.field(4) > 0:
				found.id = ref.id(4)
			case location != nil:
				v := virtual{string(location), strings.Trim(string(ref.bytes(6)), `"`), ref.uint(7, 4)}
				number, known := files[v]
				if !known {
					number = len(c.files)
					files[v] = number
					if !room.For(int64(2*len(v.file) + 128)) {
						return nil
					}
					at, err := p.elsewhere(v.file)
					if err != nil {
						return err
					}
					c.files = append(c.files, virtual{at, v.etag, v.modified})
				}
				found.kind = elsewhere
				binary.LittleEndian.PutUint32(found.id[:], uint32(number))
			default:
				return fmt.Errorf("chunk %v is neither in it nor in a file", index)
			}
			if found.at < 0 || found.size < 0 {
				return fmt.Errorf("chunk %v: %d bytes at %d are no place in a file", index, uint64(found.size), uint64(found.at))
			}
			c.all = append(c.all, found)
		}
	}
	return nil
}

// outside reports an index that a manifest does not have.
func outside(index []int, m manifestRef) bool {
	for d, i := range index {
		if i < m.from[d] || i >= m.to[d] {
			return true
		}
	}
	return false
}

// maxURL is the most bytes of a place that is compressed.
const maxURL = 64 << 10

// elsewhere is the path of a file that is no part of the repository, by its URL.
func (p place) elsewhere(location string) (string, error) {
	u, err := url.Parse(location)
	if err != nil {
		return "", fmt.Errorf("%.80q is no address", location)
	}
	switch u.Scheme {
	case "vcc":
		return "", fmt.Errorf("%.80q lies in a container of the repository's configuration, which is not read: store the references with whole addresses", location)
	case "gcs":
		u.Scheme = "gs"
		fallthrough
	case "file", "s3", "gs": // of which servers and file systems get the decoded name
		if u.User == nil && u.RawQuery == "" && u.Fragment == "" {
			location = u.Scheme + "://" + u.Host + u.Path
		}
	}
	file, err := kerchunk.Place(location, p.root)
	if err != nil {
		return "", fmt.Errorf("a chunk elsewhere: %w", err)
	}
	return file, nil
}
