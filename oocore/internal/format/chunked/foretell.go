package chunked

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/requests"
)

// Foretold says what sessions would ask an object store for, which read an array whose chunks, or whose shards of chunks in C order,
// are objects. It decodes and asks nothing.
type Foretold struct {
	Shape, Chunk, Shard []int // Shard is nil where each chunk is an object
	Item                int   // bytes of an element
	Plain               bool  // elements lie open
	Prefetched          bool  // each region lies in a chunk, which is read as a whole
	Ask                 func(bytes int64)

	overlap overlap
	array   *Array          // of that shape, with these chunks; nil before the first Read
	kept    []int           // the chunk that a session has decoded
	unit    []int           // the index of the open object; nil for none
	object  requests.Object // which that is
	known   map[int]bool    // shards whose index was read
	tasks   map[int]int     // the first task that has read each shard
	task    int
	shared  bool
}

// Begin begins a task, for which a session keeps nothing of chunks that are objects.
func (f *Foretold) Begin(task int) {
	f.kept, f.unit, f.task, f.known = nil, nil, task, nil
}

// Shared reports that several tasks have read one shard: what of it they find read depends on their order.
func (f *Foretold) Shared() bool { return f.shared }

// Read foretells a session's Read.
func (f *Foretold) Read(r grid.Region) {
	if r.Size() == 0 {
		return
	}
	if f.array == nil {
		f.overlap, f.array = newOverlap(len(f.Shape)), &Array{Shape: f.Shape, Chunk: f.Chunk}
	}
	f.overlap.begin(r, f.array, f.Shard)
	for more := true; more; more = f.overlap.next() {
		f.overlap.shape = f.Chunk
		if f.Shard != nil {
			f.inShard()
		} else {
			f.chunk()
		}
	}
}

func (f *Foretold) chunk() {
	p := &f.overlap
	bytes := int64(grid.Size(f.Chunk) * f.Item)
	_, run := p.wholeRun()
	switch {
	case f.kept != nil && slices.Equal(f.kept, p.chunk):
	case run || !f.Plain || f.Prefetched:
		if f.Ask(bytes); !run {
			f.kept = slices.Clone(p.chunk)
		}
	default:
		v := p.stored(grid.UpTo(len(f.Chunk)))
		_ = v.pieces(min(windowBytes, int(bytes)), f.Item, func(p piece) error {
			at, n := int64(p.from*f.Item), int64(p.size*f.Item)
			if f.unit != nil && slices.Equal(f.unit, f.overlap.chunk) {
				f.object.Read(at, n, f.Ask)
				return nil
			}
			f.unit = slices.Clone(f.overlap.chunk)
			f.object = requests.Open(bytes, at, n, f.Ask)
			return nil
		})
	}
}

// inShard reads a chunk of a shard, which begins with its object's index.
func (f *Foretold) inShard() {
	p := &f.overlap
	if f.kept != nil && slices.Equal(f.kept, p.chunk) {
		return
	}
	bytes := int64(grid.Size(f.Chunk) * f.Item)
	unit, number, at := make([]int, len(f.Shard)), 0, 0
	stored := 1
	for d, n := range p.chunk {
		parts := f.Shard[d] / f.Chunk[d]
		unit[d] = n / parts
		there := min(parts, (f.Shape[d]-unit[d]*f.Shard[d]+f.Chunk[d]-1)/f.Chunk[d])
		number = number*((f.Shape[d]+f.Shard[d]-1)/f.Shard[d]) + unit[d]
		at = at*there + n%parts // the chunks beyond the array's edge are not stored
		stored *= there
	}
	index := int64(16*grid.Grid{Shape: f.Shard, Chunks: f.Chunk}.Len() + 4)
	if f.unit == nil || !slices.Equal(f.unit, unit) {
		if f.tasks == nil {
			f.tasks = map[int]int{}
		}
		if first, ok := f.tasks[number]; ok && first != f.task || f.known[number] {
			f.shared = true
		}
		f.tasks[number] = f.task
		if f.known == nil {
			f.known = map[int]bool{}
		}
		f.known[number] = true
		size := int64(stored)*bytes + index
		f.unit, f.object = unit, requests.Open(size, size-index, index, f.Ask)
	}
	_, run := p.wholeRun()
	if run || !f.Plain {
		if f.object.Read(int64(at)*bytes, bytes, f.Ask); !run {
			f.kept = slices.Clone(p.chunk)
		}
		return
	}
	v := p.stored(grid.UpTo(len(f.Chunk)))
	_ = v.pieces(min(windowBytes, int(bytes)), f.Item, func(p piece) error {
		f.object.Read(int64(at)*bytes+int64(p.from*f.Item), int64(p.size*f.Item), f.Ask)
		return nil
	})
}
