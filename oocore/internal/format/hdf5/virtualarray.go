package hdf5

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// virtualArray is an open virtual dataset. Its file is not open; sources are, while they are read.
type virtualArray struct {
	path    string
	info    store.Info
	fill    []byte // an element
	parts   []part
	sources []*source
	pool    storage.Pool[store.Array]
	idle    int // sources that stay open
	closed  atomic.Bool
}

// part is a mapping whose source is there, and whose selections have ends.
type part struct {
	mapping
	source int
	pairs  []int // the axis of the dataset that each of the source's has, -1 where it has one index; nil where the selections' shapes differ
}

// source is an array that a virtual dataset has elements of.
type source struct {
	file, object string
	key          string     // both
	info         store.Info // as it was when the dataset was opened
	absent       bool
	opening      bool
}

// sources are those that were found while a virtual dataset is opened, of its sources' too.
type sources struct {
	depth int
	as    dtype.Type // that virtual ones among them convert what they read to, since elements are converted once; Invalid: their own
	known map[string]*source
}

const (
	virtualBytes = 256 << 10 // of each of the buffers through which elements go that lie apart in the dataset, or have another type
	sourceBytes  = 2 << 10   // of Go's heap that a source takes
	idleSources  = 16        // that stay open
	idleBytes    = 8 << 20   // of what they hold
)

// look finds a source, as it is named in a file.
func (n *sources) look(ctx context.Context, file, name, object string) (*source, error) {
	if name != "." {
		var err error
		if file, err = sourceFile(file, name); err != nil {
			return nil, err
		}
	}
	key := fmt.Sprintf("%s\x00%s\x00%s", file, object, n.as)
	if s := n.known[key]; s != nil {
		if s.opening {
			return nil, fmt.Errorf("%s in %s has elements of itself: virtual datasets lead in a circle", object, file)
		}
		return s, nil
	}
	s := &source{file: file, object: object, key: key, opening: true}
	n.known[key] = s
	err := s.look(ctx, n)
	if s.opening = false; err != nil {
		return nil, fmt.Errorf("its source %s in %s: %w", object, file, storage.Plain(err))
	}
	return s, nil
}

func (s *source) look(ctx context.Context, n *sources) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if n.depth++; n.depth > maxLinks {
		return fmt.Errorf("virtual datasets lead through more than %d files", maxLinks)
	}
	defer func() { n.depth-- }()
	if blob.PlaceOf(s.file).Files {
		if _, err := disk.Settle(s.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	a, err := s.open(ctx, n)
	if group := (*groupError)(nil); errors.As(err, &group) {
		return errors.New("it is a group")
	}
	if s.absent = errors.Is(err, fs.ErrNotExist); s.absent {
		return nil // its elements are fill values, as the library has it
	}
	if err != nil {
		return err
	}
	s.info = a.Info()
	s.info.Details = store.Details{}
	return a.Close()
}

func (s *source) open(ctx context.Context, n *sources) (store.Array, error) {
	return openAt(ctx, s.file, s.file, s.object, nil, n)
}

// sourceFile is the path of a source's file. One that is named by its whole path lies in the folder of the dataset's file, or has lain elsewhere
// and is found there by its name.
func sourceFile(file, name string) (string, error) {
	if filepath.IsAbs(name) && blob.PlaceOf(file).Files {
		folder, err := filepath.Abs(filepath.Dir(file))
		if err != nil {
			return "", err
		}
		if inner, err := filepath.Rel(folder, name); err == nil && filepath.IsLocal(inner) {
			name = inner
		} else if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			name = filepath.Base(name)
		}
	}
	return storage.Beside(file, name)
}

// newVirtual opens the virtual dataset of a header in a file.
func newVirtual(ctx context.Context, path, file string, s *dataset, id store.FileVersion, n *sources) (store.Array, error) {
	var m meter.Meter
	defer m.Done()
	if n == nil {
		n = &sources{known: map[string]*source{}}
	}
	a := &virtualArray{path: path, fill: make([]byte, s.element.size)}
	if len(s.fill) > 0 {
		a.fill = s.element.swap(s.fill)
	}
	kind := s.element.dtype
	if cast, err := castOf(kind, n.as); n.as != dtype.Invalid && err == nil && cast != nil {
		kind = n.as
		fill := a.fill
		a.fill = make([]byte, kind.Size())
		cast(a.fill, fill)
	}
	defer func(as dtype.Type) { n.as = as }(n.as)
	n.as = kind
	absent := map[*source]bool{}
	look := func(name, object string) (*source, error) {
		if s.fieldName != "" {
			object += "." + s.fieldName
		}
		at, err := n.look(ctx, file, name, object)
		if err == nil && at.absent {
			absent[at] = true
		}
		return at, err
	}
	shape, mappings, err := s.virtual.resolve(s.shape, func(name, object string) ([]int, error) {
		at, err := look(name, object)
		if err != nil || at.absent {
			return nil, err
		}
		return append([]int{}, at.info.Shape...), nil
	}, m.Take)
	if err == nil {
		err = grid.Check(shape, s.record)
	}
	if err != nil {
		return nil, err
	}
	numbers := map[*source]int{}
	var work store.Work
	var chunks []int
	digest := sha256.New()
	for i, one := range mappings {
		at, err := look(one.file, one.object)
		if err != nil {
			return nil, err
		}
		number, ok := numbers[at]
		if !ok {
			number = len(a.sources)
			if numbers[at], a.sources = number, append(a.sources, at); at.absent {
				fmt.Fprintf(digest, "%q %q -\n", one.file, one.object)
				continue
			}
			version, _ := json.Marshal(at.info.ID) // which has plain values only
			fmt.Fprintf(digest, "%q %q %s\n", one.file, one.object, version)
			if err := m.Take(sourceBytes); err != nil {
				return nil, err
			}
			w := at.info.Work
			work = store.Work{Whole: max(work.Whole, w.Whole), Stream: max(work.Stream, w.Stream), Heap: max(work.Heap, w.Heap), StreamHeap: max(work.StreamHeap, w.StreamHeap), Open: max(work.Open, w.Open)}
			if _, err := castOf(at.info.DType, kind); err != nil {
				return nil, fmt.Errorf("its source %s in %s: %w", at.object, at.file, err)
			}
			if chunks == nil {
				chunks = at.info.Chunks
			}
		}
		if at.absent {
			continue
		}
		p := part{mapping: one, source: number}
		if p.to == nil {
			p.to = whole(shape)
		}
		if p.from == nil {
			p.from = whole(at.info.Shape)
		}
		to, from := p.to.shape(), p.from.shape()
		if grid.Size(to) != grid.Size(from) || len(from) != len(at.info.Shape) {
			return nil, fmt.Errorf("mapping %d has elements of shape %s, and its source %s in %s %s", i, grid.Format(to), at.object, at.file, grid.Format(from))
		}
		if grid.Size(to) > 0 {
			p.pair(to, from)
			a.parts = append(a.parts, p)
		}
	}
	idle := idleSources
	if n.depth > 0 {
		idle = 1
	}
	a.idle = int(min(int64(idle), idleBytes/max(work.Open, 1)))
	info := store.Info{Path: path, Format: formatName, Shape: shape, DType: kind, Bytes: -1, ID: id, Details: s.details}
	info.Format += fmt.Sprintf(" virtual, of %d sources", len(a.sources))
	if len(absent) > 0 {
		info.Format += fmt.Sprintf(", %d absent", len(absent))
	}
	info.ID.Version = id.Version + hex.EncodeToString(digest.Sum(nil)[:16])
	info.Work = store.Work{Whole: work.Whole + 2*virtualBytes, Stream: work.Stream + 2*virtualBytes, Heap: work.Heap + work.Open, StreamHeap: work.StreamHeap,
		Open: m.Taken() + int64(a.idle)*(work.Open+sourceBytes)}
	if chunks != nil { // those of the first source, whose last axes are the dataset's
		info.Chunks = slices.Repeat([]int{1}, len(shape))
		for d := 1; d <= min(len(shape), len(chunks)); d++ {
			info.Chunks[len(shape)-d] = max(1, min(chunks[len(chunks)-d], shape[len(shape)-d]))
		}
	}
	a.info = info
	return a, nil
}

// pair finds the axis of the dataset that each axis of the source stands for.
func (p *part) pair(to, from []int) {
	pairs, d := make([]int, len(from)), 0
	for i, n := range from {
		if pairs[i] = -1; n == 1 {
			continue
		}
		for d < len(to) && to[d] == 1 {
			d++
		}
		if d == len(to) || to[d] != n {
			return
		}
		pairs[i] = d
		d++
	}
	p.pairs = pairs
}

// castOf is the conversion of a source's elements to those of the dataset, nil for none. Numbers that an integer does not have become its least or its
// largest, as the library converts them.
func castOf(from, to dtype.Type) (func(dst, src []byte), error) {
	cast, ok := kernel.Cast(from, to)
	complexes := from.Kind() == dtype.KindComplex
	switch {
	case from == to:
		return nil, nil
	case !ok || complexes != (to.Kind() == dtype.KindComplex) || to == dtype.Bool && !from.Integer():
		return nil, fmt.Errorf("%s is not converted to the dataset's %s", from, to)
	}
	plain := func(dst, src []byte) { cast(len(dst)/to.Size(), dst, src, nil, nil) }
	if !to.Integer() || from == dtype.Bool {
		return plain, nil
	}
	wide := dtype.Int64
	switch {
	case !from.Integer():
		wide = dtype.Float64
	case from == dtype.Uint64:
		wide = dtype.Uint64
	}
	widen, _ := kernel.Cast(from, wide)
	return func(dst, src []byte) {
		plain(dst, src)
		var b [8 * 512]byte
		for len(dst) > 0 {
			n := min(512, len(dst)/to.Size())
			if wide != from {
				widen(n, b[:8*n], src, nil, nil)
			} else {
				copy(b[:], src[:8*n])
			}
			saturate(to, dst[:n*to.Size()], wide, b[:8*n])
			dst, src = dst[n*to.Size():], src[n*from.Size():]
		}
	}, nil
}

// saturate puts the least and the largest number of an integer type where others, in a wide type, are beyond them.
func saturate(to dtype.Type, dst []byte, wide dtype.Type, src []byte) {
	size, least, bits := to.Size(), int64(0), 8*to.Size()
	if to.Kind() == dtype.KindInt {
		bits--
		least = -1 << bits
	}
	most := uint64(1)<<bits - 1
	for i := range len(dst) / size {
		b, below, above := le.Uint64(src[8*i:]), false, false
		switch wide {
		case dtype.Float64:
			v := math.Float64frombits(b)
			below, above = v < float64(least), v >= math.Ldexp(1, bits)
		case dtype.Int64:
			below, above = int64(b) < least, int64(b) > 0 && b > most
		default:
			above = b > most
		}
		if above || below {
			end := most
			if below {
				end = uint64(least)
			}
			var all [8]byte
			le.PutUint64(all[:], end)
			copy(dst[i*size:], all[:size])
		}
	}
}

func (a *virtualArray) Info() store.Info { return storage.CloneInfo(a.info) }

// Close makes further reads fail.
func (a *virtualArray) Close() error {
	if a.closed.Swap(true) {
		return nil
	}
	return a.pool.Close()
}

func (a *virtualArray) Read(ctx context.Context, dst []byte, r types.Region) error {
	return storage.ReadBy(ctx, a, a.info.Work.Stream, dst, r)
}

// virtualSession reads one source after the other.
type virtualSession struct {
	*virtualArray
	scatter, cast, work []byte
	at                  *storage.Pooled[store.Array] // the source that is read; nil for none
	number              int
	convert             func(dst, src []byte) // to the dataset's elements; nil where they are
	session             store.Session         // nil where the source is not encoded

	// Of the part that is read: what has been chosen of each axis so far, and the region of the source.
	part *part
	box  []segment
	dst  []byte
}

func (a *virtualArray) Session(work []byte) (store.Session, error) {
	if err := storage.EnoughFor(a.path, work, a.info.Work.Stream); err != nil {
		return nil, err
	}
	return &virtualSession{virtualArray: a, scatter: work[:virtualBytes], cast: work[virtualBytes:][:virtualBytes], work: work[2*virtualBytes:], box: make([]segment, len(a.info.Shape))}, nil
}

func (s *virtualSession) Close() (err error) {
	if s.session != nil {
		err = s.session.Close()
		s.session = nil
	}
	if s.at != nil {
		err = errors.Join(err, s.pool.Release(s.at, s.idle))
		s.at = nil
	}
	return err
}

// open goes to a source, which is what it was when the dataset was opened.
func (s *virtualSession) open(ctx context.Context, number int) (err error) {
	if s.at != nil && s.number == number {
		return nil
	}
	if err := s.Close(); err != nil {
		return err
	}
	of := s.sources[number]
	s.at, err = s.pool.Open(of.key, func() (store.Array, error) {
		a, err := of.open(ctx, &sources{depth: 1, as: s.info.DType, known: map[string]*source{}})
		if err == nil && !a.Info().ID.Equal(of.info.ID) {
			err = errors.Join(store.ErrChanged, a.Close())
		}
		return a, err
	})
	if err != nil {
		return fmt.Errorf("its source %s in %s: %w", of.object, of.file, storage.Plain(err))
	}
	s.number = number
	s.convert, err = castOf(of.info.DType, s.info.DType)
	if coded, ok := s.at.Value.(storage.Coded); ok && err == nil {
		s.session, err = coded.Session(s.work)
	}
	return err
}

// segment is, along an axis, n elements of a region, from number j on and dj apart, that lie in the source at index t and dt apart.
type segment struct{ j, dj, n, t, dt int }

// segments cuts what a region has along an axis of a selection of to where indices of to and from are no longer at equal distances.
func segments(to, from *indices, start, count, step int, yield func(segment) error) error {
	back := step < 0
	if back {
		start, step = start+(count-1)*step, -step
	}
	var last segment
	flush := func() error {
		if last.n == 0 {
			return nil
		}
		if back {
			last.j, last.dj = count-1-last.j, -last.dj
		}
		return yield(last)
	}
	for j := 0; j < count; {
		i, left, next := to.find(start + j*step)
		if left == 0 {
			if next == endless {
				break
			}
			j = (next - start + step - 1) / step
			continue
		}
		t, more := from.at(i)
		one := segment{j, 1, min(count-j, (min(left, more)-1)/step+1), t, step}
		j += one.n
		dj, dt := one.j-last.j, one.t-last.t
		switch {
		case last.n == 1 && (one.n == 1 || one.dj == dj && one.dt == dt):
			last.n, last.dj, last.dt = 1+one.n, dj, dt
		case last.n > 1 && dj == last.n*last.dj && dt == last.n*last.dt && (one.n == 1 || one.dj == last.dj && one.dt == last.dt):
			last.n += one.n
		default:
			if err := flush(); err != nil {
				return err
			}
			last = one
		}
	}
	return flush()
}

// covers reports a selection that has all of a region.
func (p *part) covers(r types.Region) bool {
	for d := range p.to {
		x, low, n := &p.to[d], r.Start[d], (r.Count[d]-1)*r.Step[d]
		if n < 0 {
			low, n = low+n, -n
		}
		if _, left, _ := x.find(low); left <= n {
			return false
		}
	}
	return true
}

func (s *virtualSession) Read(ctx context.Context, dst []byte, r types.Region) (stored int64, err error) {
	if len(r.Count) != len(s.info.Shape) || len(dst) != grid.Size(r.Count)*s.info.DType.Size() {
		return 0, storage.PathError("read", s.path, fmt.Errorf("the region has %s elements, the array %d dimensions, the buffer %d bytes", grid.Format(r.Count), len(s.info.Shape), len(dst)))
	}
	if s.virtualArray.closed.Load() {
		return 0, storage.PathError("read", s.path, fs.ErrClosed)
	}
	if len(dst) == 0 {
		return 0, nil
	}
	parts := s.parts
	for i := len(parts) - 1; ; i-- { // the last of what overlaps counts
		if i < 0 {
			for n := copy(dst, s.fill); n < len(dst); n *= 2 {
				copy(dst[n:], dst[:n])
			}
			break
		}
		if parts[i].covers(r) {
			parts = parts[i:]
			break
		}
	}
	s.dst = dst
	strides := grid.Strides(r.Count)
	for i := range parts {
		s.part = &parts[i]
		if err := s.axis(ctx, 0, r, strides, &stored); err != nil {
			return stored, storage.AccessError(ctx, "read", s.path, err)
		}
	}
	return stored, nil
}

// axis reads what the part has of the region, from an axis on.
func (s *virtualSession) axis(ctx context.Context, d int, r types.Region, strides []int, stored *int64) error {
	p := s.part
	if d == len(s.box) {
		if err := s.open(ctx, p.source); err != nil {
			return err
		}
		if p.pairs == nil {
			return s.reshaped(ctx, strides, stored)
		}
		at, src := 0, make([]segment, len(p.from))
		for d, b := range s.box {
			at += b.j * strides[d]
		}
		for i := range src {
			if t, _ := p.from[i].at(0); p.pairs[i] < 0 {
				src[i] = segment{n: 1, t: t, dt: 1}
			} else {
				src[i] = s.box[p.pairs[i]]
				src[i].dj *= strides[p.pairs[i]]
			}
		}
		return s.copy(ctx, at, src, stored)
	}
	from := indices{stride: 1, count: 1, block: p.to[d].len()} // their numbers in the selection
	if i := slices.Index(p.pairs, d); i >= 0 {
		from = p.from[i]
	}
	return segments(&p.to[d], &from, r.Start[d], r.Count[d], r.Step[d], func(b segment) error {
		s.box[d] = b
		return s.axis(ctx, d+1, r, strides, stored)
	})
}

// reshaped reads a box of a part whose source's selection has another shape, by pieces of lines of both.
func (s *virtualSession) reshaped(ctx context.Context, strides []int, stored *int64) error {
	p := s.part
	to, from := grid.Strides(p.to.shape()), grid.Strides(p.from.shape())
	counts := make([]int, len(s.box))
	for d, b := range s.box {
		counts[d] = b.n
	}
	last := segment{n: 1}
	if n := len(counts) - 1; n >= 0 {
		last = s.box[n]
		last.dj, counts[n] = last.dj*strides[n], 1
	}
	for line := range grid.Entire(counts).Split(slices.Repeat([]int{1}, len(counts))) {
		at, k := 0, 0
		for d, b := range s.box {
			at += (b.j + line.Start[d]*b.dj) * strides[d]
			k += (b.t + line.Start[d]*b.dt) * to[d]
		}
		for i := 0; i < last.n; {
			src, rest, n := make([]segment, len(from)), k+i*last.dt, last.n-i
			for d := range from {
				number := rest / from[d]
				rest %= from[d]
				t, left := p.from[d].at(number)
				src[d] = segment{n: 1, t: t, dt: 1}
				if d == len(from)-1 {
					n = min(n, (left-1)/max(last.dt, 1)+1)
					src[d] = segment{n: n, t: t, dt: max(last.dt, 1), dj: last.dj}
				}
			}
			if len(from) == 0 {
				n = 1
			}
			if err := s.copy(ctx, at+i*last.dj, src, stored); err != nil {
				return err
			}
			i += n
		}
	}
	return nil
}

// copy reads a region of the source to elements of dst that begin with number at, and lie dj apart along the axes of the source.
func (s *virtualSession) copy(ctx context.Context, at int, src []segment, stored *int64) error {
	of := s.sources[s.number]
	r := types.Region{Start: make([]int, len(src)), Count: make([]int, len(src)), Step: make([]int, len(src))}
	strides := make([]int, len(src))
	dense, size := s.convert == nil, 1
	for d := len(src) - 1; d >= 0; d-- {
		b := src[d]
		r.Start[d], r.Count[d], r.Step[d], strides[d] = b.t, b.n, b.dt, b.dj
		if b.n == 1 {
			r.Step[d] = 1
		}
		if b.t+(b.n-1)*r.Step[d] >= of.info.Shape[d] {
			return fmt.Errorf("it has elements of %s in %s that lie outside of its shape %s", of.object, of.file, grid.Format(of.info.Shape))
		}
		dense = dense && (b.n == 1 || b.dj == size)
		size *= b.n
	}
	item, stores := s.info.DType.Size(), of.info.DType.Size()
	if dense {
		return s.fillFrom(ctx, s.dst[at*item:(at+size)*item], r, stored)
	}
	for box := range grid.Entire(r.Count).Split(grid.Auto(r.Count, max(item, stores), virtualBytes)) {
		of := types.Region{Start: slices.Clone(r.Start), Count: box.Shape, Step: r.Step}
		to := at
		for d, start := range box.Start {
			of.Start[d] += start * r.Step[d]
			to += start * strides[d]
		}
		buffer := s.scatter[:box.Size()*stores]
		if err := s.fillFrom(ctx, buffer, of, stored); err != nil {
			return err
		}
		if s.convert != nil {
			made := s.cast[:box.Size()*item]
			s.convert(made, buffer)
			buffer = made
		}
		kernel.Copy(item, box.Shape, s.dst, to, strides, buffer, 0, grid.Strides(box.Shape))
	}
	return nil
}

func (s *virtualSession) fillFrom(ctx context.Context, dst []byte, r types.Region, stored *int64) (err error) {
	n := int64(len(dst))
	if s.session != nil {
		n, err = s.session.Read(ctx, dst, r)
	} else {
		err = s.at.Value.Read(ctx, dst, r)
	}
	*stored += n
	if of := s.sources[s.number]; err != nil {
		return fmt.Errorf("its source %s in %s: %w", of.object, of.file, storage.Plain(err))
	}
	return nil
}
