package requests

// How the objects of a store are read.
const (
	// PieceBytes is the most that one request asks for.
	PieceBytes = 8 << 20
	// StreamBelow is the size of reads that are taken from one answer where they
	// follow one another: larger ones are worth a request each.
	StreamBelow = 512 << 10
	// StreamAfter is how many reads have to follow one another before.
	StreamAfter = 2
	// StreamMost bounds what one answer is asked for.
	StreamMost = 64 << 20
	// PartBytes is the most that one request stores; larger objects are stored in parts of this size.
	PartBytes = 8 << 20
	// Keys is how many objects a listing has at once.
	Keys = 1000
)

// Object foretells the requests that read one open object, whose reads come one after the other.
type Object struct {
	Size int64

	next, bytes, left int64 // as of an object of package cloud, whose stream left is the rest of
	reads             int
}

// Open opens an object of a size by a request that reads n bytes from a place on, or with none the first byte.
func Open(size, at, n int64, ask func(bytes int64)) Object {
	if n == 0 {
		ask(min(size, 1))
		return Object{Size: size}
	}
	n = min(n, size-at)
	first := min(n, PieceBytes)
	ask(first)
	o := Object{Size: size, next: at + first, bytes: first, reads: 1}
	if n > first {
		o.Read(at+first, n-first, ask)
	}
	return o
}

// Read reads n bytes from a place on.
func (o *Object) Read(at, n int64, ask func(bytes int64)) {
	if n <= StreamBelow {
		if at != o.next {
			o.reads, o.bytes, o.left = 0, 0, 0
		}
		if o.reads >= StreamAfter && o.left == 0 {
			if size := min(2*o.bytes, StreamMost, o.Size-at); size > n {
				ask(size)
				o.left = size
			}
		}
		come := min(n, o.left)
		o.left -= come
		o.next, o.reads, o.bytes = at+n, o.reads+1, o.bytes+n
		n -= come
	}
	for ; n > 0; n -= min(n, PieceBytes) {
		ask(min(n, PieceBytes))
	}
}
