package hdf5

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"strings"
	"sync"
)

// link is a name in a group.
type link struct {
	name    string
	address uint64 // of the object; undefined for other links
	soft    string // the path that it stands for
	other   string // what it says of the other file that it leads to
	file    string // that other file, where it can be followed, and the name of the object there
	object  string
}

// links lists the names in a group in the order in which they are stored. A group that an
// object is not has none.
func (o *object) links() (all []link, err error) {
	var full error // the budget's, which after the last name says what all take
	add := func(l link) error {
		bytes := int64(len(l.name) + len(l.soft))
		held := linkBytes + bytes
		if o.f.listing {
			held += listedBytes + 2*bytes
		}
		if full = o.f.meter.Take(held); full == nil {
			all = append(all, l)
		}
		return o.f.spend(bytes)
	}
	for _, m := range o.messages {
		switch m.kind {
		case msgSymbolTable:
			d := o.decode(m.body)
			tree, heap := d.address(), d.address()
			if err = d.err; err == nil {
				err = o.f.symbols(tree, heap, add)
			}
		case msgLink:
			var l link
			if l, err = o.decode(m.body).link(); err == nil {
				err = add(l)
			}
		case msgLinkInfo:
			err = o.denseLinks(m.body, add)
		}
		if err != nil {
			return nil, fmt.Errorf("the group at %d: %w", o.address, err)
		}
	}
	return all, full
}

// What a name in a group takes of Go's heap, and what it takes more in a list of all arrays.
const (
	linkBytes   = 192
	listedBytes = 320
)

// link takes the body of a link message.
func (d *decoder) link() (l link, err error) {
	if v := d.u8(); v != 1 {
		return l, fmt.Errorf("a link of version %d is not supported", v)
	}
	flags := d.u8()
	kind := byte(0)
	if flags&8 != 0 {
		kind = d.u8()
	}
	if flags&4 != 0 {
		d.skip(8)
	}
	if flags&0x10 != 0 {
		d.skip(1)
	}
	l.name = string(d.take(int(d.uint(1 << (flags & 3)))))
	l.address = undefined
	switch kind {
	case 0:
		l.address = d.address()
	case 1:
		l.soft = string(d.take(int(d.u16())))
	case 64:
		d.skip(3)
		l.file, l.object = d.text(), d.text()
		l.other = fmt.Sprintf("a link to another file, %.80q", l.file)
	default:
		l.other = fmt.Sprintf("a link of kind %d, which is not supported", kind)
	}
	return l, d.err
}

// symbols lists the names of a group as files before version 1.8 have them: a B-tree of
// symbol tables, and a heap of names.
func (f *file) symbols(tree, heap uint64, add func(link) error) error {
	d, err := f.block("HEAP", heap, int64(8+2*f.lengths+f.offsets))
	if err != nil {
		return err
	}
	d.skip(4)
	size := d.length()
	d.skip(f.lengths)
	at := d.address()
	if d.err != nil || size > maxBlock {
		return errCut
	}
	names, err := f.at(at, int64(size))
	if err != nil {
		return err
	}
	name := func(at uint64) (string, error) {
		if at > uint64(len(names.b)) {
			return "", errCut
		}
		n := names.sub(names.b[at:])
		return n.text(), n.err
	}
	for d, err := range f.leaves(tree, 0, f.lengths) {
		if err != nil {
			return err
		}
		d.skip(f.lengths)
		at := d.address()
		if d.err != nil {
			return d.err
		}
		table, err := f.block("SNOD", at, 8)
		if err != nil {
			return err
		}
		table.skip(2)
		count := int(table.u16())
		each := 2*f.offsets + 24
		entries, err := f.at(at+8, int64(count*each))
		if err != nil {
			return err
		}
		for range count {
			e := entries.sub(entries.take(each))
			var l link
			if l.name, err = name(e.uint(f.offsets)); err != nil {
				return err
			}
			l.address = e.address()
			if kind := e.u32(); kind == 2 {
				e.skip(4)
				if l.soft, err = name(uint64(e.u32())); err != nil {
					return err
				}
				l.address = undefined
			}
			if err := cmp.Or(e.err, add(l)); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaves goes through the children of the leaves of a B-tree of version 1, whose keys have a
// number of bytes. Nodes of a level have children of the level below: the way ends.
func (f *file) leaves(address uint64, kind byte, key int) iter.Seq2[*decoder, error] {
	return func(yield func(*decoder, error) bool) {
		f.walk(address, kind, key, -1, yield)
	}
}

func (f *file) walk(address uint64, kind byte, key, level int, yield func(*decoder, error) bool) bool {
	if address == undefined {
		return true
	}
	head := 8 + 2*f.offsets
	d, err := f.block("TREE", address, int64(head))
	if err != nil {
		return yield(nil, err)
	}
	k, l, count := d.u8(), int(d.u8()), int(d.u16())
	if k != kind || level >= 0 && l != level || d.err != nil {
		return yield(nil, fmt.Errorf("the B-tree at %d: %w", address, errCut))
	}
	each := key + f.offsets
	if d, err = f.at(address+uint64(head), int64(count*each)); err != nil {
		return yield(nil, err)
	}
	for range count {
		e := d.sub(d.take(each))
		if l == 0 {
			if !yield(e, nil) {
				return false
			}
			continue
		}
		e.skip(key)
		if !f.walk(e.address(), kind, key, l-1, yield) {
			return false
		}
	}
	return true
}

// denseLinks lists the names of a group that has many: in a heap that a B-tree indexes.
func (o *object) denseLinks(b []byte, add func(link) error) error {
	d := o.decode(b)
	d.skip(1)
	if flags := d.u8(); flags&1 != 0 {
		d.skip(8)
	}
	heap, tree := d.address(), d.address()
	if d.err != nil || heap == undefined {
		return d.err
	}
	return o.f.heaped(heap, tree, recordLinks, func(b []byte) error {
		l, err := o.decode(b).link()
		if err != nil {
			return err
		}
		return add(l)
	})
}

// heaped goes through the objects of a fractal heap, by the identifiers in a B-tree's records.
func (f *file) heaped(heap, tree uint64, kind byte, each func([]byte) error) error {
	h, err := f.heap(heap)
	if err != nil {
		return err
	}
	return f.records(tree, kind, func(d *decoder) error {
		if kind == recordLinks {
			d.skip(4) // the hash of the name
		}
		id := d.take(h.id)
		if kind == recordAttributes && d.u8()&2 != 0 {
			return errShared
		}
		b, err := h.object(id)
		if err := cmp.Or(d.err, err); err != nil {
			return err
		}
		return each(b)
	})
}

// lookup finds an object by its path from the root. Soft links are followed.
func (f *file) lookup(path string) (*object, error) {
	return f.follow(path, 0)
}

func (f *file) follow(path string, depth int) (*object, error) {
	address, err := f.resolve(path, depth)
	if err != nil {
		return nil, err
	}
	return f.object(address)
}

// linkError is returned for a path that leads to an object of another file.
type linkError struct{ path, file, object string }

func (e *linkError) Error() string {
	return fmt.Sprintf("%.80q is a link to another file, %.80q", e.path, e.file)
}

// resolve is where the object at a path lies.
func (f *file) resolve(path string, depth int) (uint64, error) {
	if depth > 16 {
		return 0, fmt.Errorf("%.80q: soft links lead in a circle", path)
	}
	if err := f.spend(int64(len(path))); err != nil { // paths of links, in which each name is a link
		return 0, err
	}
	address := f.root
	below, rest := "", path
	for more := true; more; {
		var name string
		if name, rest, more = strings.Cut(rest, "/"); name == "" || name == "." {
			continue
		}
		g, err := f.group(address)
		if err != nil {
			return 0, err
		}
		i, ok := g.at[name]
		if !ok {
			return 0, &missingError{path}
		}
		switch l := g.all[i]; {
		case l.soft != "" && strings.HasPrefix(l.soft, "/"):
			address, err = f.resolve(l.soft, depth+1)
		case l.soft != "":
			address, err = f.resolve(below+"/"+l.soft, depth+1)
		case l.file != "":
			err = &linkError{path, l.file, l.object}
		case l.other != "":
			err = fmt.Errorf("%.80q is %s", path, l.other)
		default:
			address = l.address
		}
		if link, ok := errors.AsType[*linkError](err); ok && more {
			link.object += "/" + rest
		}
		if err != nil {
			return 0, err
		}
		below += "/" + name
	}
	return address, nil
}

// missingError is returned for a path that names nothing.
type missingError struct{ path string }

func (e *missingError) Error() string { return fmt.Sprintf("no array %.80q", e.path) }

func (e *missingError) Is(target error) bool { return target == fs.ErrNotExist }

// group is the names in a group, and where each of them stands.
type group struct {
	all []link
	at  map[string]int
}

// directory holds the groups of a file that were read, so that opening many arrays of a file
// does not read a group for each of them. It is safe for concurrent use.
type directory struct {
	mu      sync.Mutex
	groups  map[uint64]group
	scales  *scales        // nil where they were not listed
	lengths map[uint64]int // of dimensions, by their scales
	held    int            // names
	misses  int
}

// maxHeld is how many names a directory holds at first; a variable for tests.
var maxHeld = 1 << 17

const directoryBytes = 16 << 20

// room reports whether a directory, which is locked, holds so many names more. It may hold twice as many with each few
// lists that it had no room for: one array of a large group costs none, and many are opened in linear time.
func (d *directory) room(names int) bool {
	if d.held+names > maxHeld<<min(d.misses/4, 20) {
		d.misses++
		return false
	}
	d.held += names
	return true
}

// group reads the names in a group.
func (f *file) group(address uint64) (group, error) {
	d := f.directory
	d.mu.Lock()
	g, ok := d.groups[address]
	d.mu.Unlock()
	if ok {
		return g, nil
	}
	o, err := f.object(address)
	if err != nil {
		return g, err
	}
	if g.all, err = o.links(); err != nil {
		return g, err
	}
	g.at = make(map[string]int, len(g.all))
	for i, l := range g.all {
		if _, twice := g.at[l.name]; !twice {
			g.at[l.name] = i
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.groups[address]; !ok && d.room(len(g.all)) {
		d.groups[address] = g
	}
	return g, nil
}

// node is a group or an array of the file, by its path.
type node struct {
	name    string
	address uint64
	object  *object // nil for a link to another file
	scale   *scale  // of an array that is one
	sparse  bool    // it is a sparse matrix, which is listed as an array
}

// isArray reports what is listed as an array.
func (n *node) isArray() bool {
	return n.object == nil || n.sparse || n.object.isArray() && (n.scale == nil || !n.scale.bare)
}

const (
	maxPath  = 4096 // bytes
	maxDepth = 1000 // of groups
)

// nodes goes through the groups and the arrays of the file, groups depth first. An object that is
// reached twice is listed once. Links to other files are listed, so that what lies there is not
// taken for absent.
func (f *file) nodes() iter.Seq2[node, error] {
	return func(yield func(node, error) bool) {
		seen := map[uint64]bool{}
		var walk func(prefix string, address uint64, depth int) bool
		walk = func(prefix string, address uint64, depth int) bool {
			if seen[address] {
				return true
			}
			seen[address] = true
			n := node{name: prefix, address: address}
			var err error
			before := f.meter.Taken()
			if n.object, err = f.object(address); err == nil && (depth > maxDepth || len(prefix) > maxPath) {
				err = fmt.Errorf("%.80q: groups are nested more than %d deep, or the path is longer than %d bytes", prefix, maxDepth, maxPath)
			}
			if err != nil {
				return yield(n, err)
			}
			if n.object.isArray() {
				n.scale = n.object.scale(path.Base(prefix), false)
				more := yield(n, nil)
				_ = f.meter.Take(before - f.meter.Taken()) // its header is not held
				return more
			}
			g, err := f.group(address)
			if err != nil {
				return yield(n, err)
			}
			kind, _ := n.object.sparse(g)
			n.sparse = kind != ""
			if !yield(n, nil) {
				return false
			}
			for i, l := range g.all {
				if n.sparse {
					break
				}
				name := strings.TrimPrefix(prefix+"/"+f.variable(g, l.name), "/")
				switch {
				case g.at[l.name] != i: // a name that is there twice
				case l.other != "":
					if !yield(node{name: name, address: undefined}, nil) {
						return false
					}
				case l.address != undefined && !walk(name, l.address, depth+1):
					return false
				}
			}
			return true
		}
		walk("", f.root, 0)
	}
}

// arrays goes through what is listed as arrays.
func (f *file) arrays() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for n, err := range f.nodes() {
			if (err != nil || n.isArray()) && !yield(n.name, err) {
				return
			}
		}
	}
}
