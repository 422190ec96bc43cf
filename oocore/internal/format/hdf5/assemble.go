package hdf5

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// superblockBytes is the length of a superblock of version 2.
const superblockBytes = 48

// assembly is the file around chunks that are written: their indexes, and the headers of arrays and groups. Headers are made twice, since they
// refer to each other by addresses that follow from their lengths: the first time all addresses are 0.
type assembly struct {
	w      storage.File
	end    int64 // of the file
	base   int64 // what addresses count from
	old    *file // whose objects stay; nil for none
	heaps  heaps
	netcdf bool

	groups  map[string]*newGroup
	objects []*newObject
}

// newObject is a header that is written.
type newObject struct {
	at       uint64         // its address, to which all refers
	replaces bool           // what is there now: the header is continued elsewhere
	kept     []newAttribute // of a scale that is replaced: what others refer to it by
	messages func() ([]message, error)
}

// newGroup is a group that arrays are written to.
type newGroup struct {
	name   string
	object *newObject
	old    *object
	links  []newLink // that are added
	scales map[string]*newScale
}

type newLink struct {
	name string
	to   *newObject
}

// newScale is what names the axes of arrays.
type newScale struct {
	to     *newObject
	length int
	uses   []use
}

// unlimited is the length of a scale that has none of its own.
const unlimited = -1

// use is an axis that has a scale.
type use struct {
	of   *newObject
	axis int
}

func (a *assembly) address() uint64 { return uint64(a.end - a.base) }

// put writes a block at the end of the file, and returns its address.
func (a *assembly) put(b []byte) (at uint64, err error) {
	a.end = (a.end + 7) &^ 7
	at = a.address()
	_, err = a.w.WriteAt(b, a.end)
	a.end += int64(len(b))
	return at, err
}

// finish writes all of a file but its chunks.
func (w *writer) finish(ctx context.Context, out storage.File, old storage.Source) error {
	if err := w.read(); err != nil {
		return err
	}
	a := &assembly{w: out, netcdf: isNetCDF(w.meta.Path), groups: map[string]*newGroup{}, end: superblockBytes}
	for _, n := range w.arrays {
		for _, c := range n.places {
			a.end = max(a.end, c.Offset+c.Bytes)
		}
	}
	if old != nil {
		size, err := a.copy(ctx, out, old)
		if err != nil {
			return err
		}
		a.end = max(a.end, size)
	}
	if err := a.arrays(ctx, w); err != nil {
		return err
	}
	return a.write()
}

// copy takes over the old file.
func (a *assembly) copy(ctx context.Context, out storage.File, old storage.Source) (size int64, err error) {
	st, err := old.Stat()
	if err != nil {
		return 0, err
	}
	size = st.Size()
	if err := storage.CopyRange(ctx, out, 0, old, 0, size); err != nil {
		return 0, err
	}
	if a.old, err = open(old, size); err == nil {
		a.base = a.old.base
	}
	return size, err
}

// arrays lays out the arrays, and the groups that hold them.
func (a *assembly) arrays(ctx context.Context, w *writer) error {
	names := slices.Collect(func(yield func(string) bool) {
		for _, n := range w.arrays {
			if !yield(folder(n.name)) {
				return
			}
		}
		for name := range w.meta.Groups {
			if !yield(name) {
				return
			}
		}
	})
	slices.Sort(names)
	attributes := func(name string) store.Details {
		if name == "" && w.meta.Root.Attributes != nil {
			return w.meta.Root
		}
		return w.meta.Groups[name]
	}
	for _, name := range append([]string{""}, names...) {
		if _, err := a.group(name, attributes); err != nil {
			return err
		}
	}
	used := map[string]bool{} // dimensions, as GROUP/NAME
	for _, n := range w.arrays {
		for _, dim := range n.dims() {
			used[folder(n.name)+"/"+dim] = true
		}
	}
	objects := make([]*newObject, len(w.arrays))
	for i, n := range w.arrays { // scales first: others refer to them
		if err := ctx.Err(); err != nil {
			return err
		}
		g := a.groups[folder(n.name)]
		index, err := a.index(n)
		if err != nil {
			return fmt.Errorf("array %.80q: %w", n.name, err)
		}
		o := &newObject{}
		objects[i] = o
		o.messages = func() ([]message, error) { return a.array(n, o, index) }
		base := path.Base(n.name)
		if own := n.scaleName(); own != "" {
			g.scales[own] = &newScale{to: o, length: n.meta.Shape[0]}
		} else if used[folder(n.name)+"/"+base] { // the name is the dimension's
			base = nonCoordinate + base
		}
		if err := a.link(g, base, o); err != nil {
			return err
		}
	}
	order := make([]int, len(w.arrays)) // from the root downwards: what has a dimension of its own hides that of the group above
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(strings.Count(w.arrays[i].name, "/"), strings.Count(w.arrays[j].name, "/"))
	})
	for _, i := range order {
		n := w.arrays[i]
		if n.scaleName() != "" {
			continue
		}
		for axis, dim := range n.dims() {
			if dim == "" {
				continue
			}
			s, err := a.scale(n, axis, dim)
			if err != nil {
				return fmt.Errorf("array %.80q: %w", n.name, err)
			}
			s.uses = append(s.uses, use{objects[i], axis})
		}
	}
	return nil
}

// scaleName is the dimension that an array labels; "" for none.
func (n *output) scaleName() string {
	if base := path.Base(n.name); len(n.meta.Shape) == 1 && len(n.meta.Details.Dims) == 1 && n.meta.Details.Dims[0] == base {
		return base
	}
	return ""
}

// dims are the names of an array's axes. NetCDF has no axis without.
func (n *output) dims() []string {
	dims := slices.Clone(n.meta.Details.Dims)
	if dims == nil {
		dims = make([]string, len(n.meta.Shape))
	}
	for axis, dim := range dims {
		if n.netcdf && dim == "" {
			dims[axis] = fmt.Sprintf("%s_dim_%d", path.Base(n.name), axis)
		}
	}
	return dims
}

// group is the group of a name, which comes into being with those that hold it where it is not there.
func (a *assembly) group(name string, attributes func(name string) store.Details) (*newGroup, error) {
	if g := a.groups[name]; g != nil {
		return g, nil
	}
	g := &newGroup{name: name, object: &newObject{}, scales: map[string]*newScale{}}
	a.groups[name] = g
	var above *newGroup
	if name != "" {
		var err error
		if above, err = a.group(folder(name), attributes); err != nil {
			return nil, err
		}
	}
	g.object.messages = func() ([]message, error) { return a.groupMessages(g, attributes(name)) }
	if a.old != nil && (above == nil || above.old != nil) {
		address, err := a.old.resolve(name, 0)
		if err == nil {
			if g.old, err = a.old.object(address); err == nil {
				g.object.at, g.object.replaces = address, true
				return g, a.oldScales(g)
			}
		}
		if !errors.As(err, new(*missingError)) {
			return nil, err
		}
	}
	a.objects = append(a.objects, g.object)
	if above != nil {
		above.links = append(above.links, newLink{path.Base(name), g.object})
	}
	return g, nil
}

// oldScales finds the scales of a group that is there.
func (a *assembly) oldScales(g *newGroup) error {
	links, err := g.old.links()
	if err != nil {
		return err
	}
	for _, l := range links {
		if l.address == undefined {
			continue
		}
		o, err := a.old.object(l.address)
		if err != nil {
			return err
		}
		if s := o.scale(l.name, true); s != nil && o.isArray() {
			body, _ := o.find(msgDataspace)
			if shape, err := o.decode(body).space(); err == nil && len(shape) == 1 {
				if s.bare && body[2]&1 != 0 { // an unlimited one is as long as its variables
					shape[0] = unlimited
				}
				g.scales[l.name] = &newScale{to: &newObject{at: l.address}, length: shape[0]}
			}
		}
	}
	return nil
}

// link gives an object a name in a group. What has it there is replaced: the new object takes its address.
func (a *assembly) link(g *newGroup, name string, o *newObject) error {
	a.objects = append(a.objects, o)
	if g.old != nil {
		links, err := g.old.links()
		if err != nil {
			return err
		}
		for _, l := range links {
			if l.name == name && l.address != undefined {
				o.at, o.replaces = l.address, true
				old, err := a.old.object(l.address)
				if err != nil {
					return err
				}
				for _, m := range old.messages {
					if was, err := old.attribute(m.body); m.kind == msgAttribute && err == nil && slices.Contains([]string{"_Netcdf4Dimid", "REFERENCE_LIST"}, was.name) {
						o.kept = append(o.kept, newAttribute{name: was.name, raw: m.body})
					}
				}
				return nil
			}
			if l.name == name {
				return fmt.Errorf("%.80q is a link there: save under another name", name)
			}
		}
	}
	g.links = append(g.links, newLink{name, o})
	return nil
}

// scale finds the scale of a dimension in the group of an array or above, or makes one that has a length and no elements.
func (a *assembly) scale(n *output, axis int, dim string) (*newScale, error) {
	length := n.meta.Shape[axis]
	for name := range storage.Above(n.name) {
		s := a.groups[name].scales[dim]
		switch {
		case s == nil:
			continue
		case s.length == length || s.length == unlimited:
			return s, nil
		case name != folder(n.name): // which hides those above it, and is hidden by one of this group
		case n.meta.Details.ChosenDims:
			return nil, fmt.Errorf("dimension %.80q has the length %d in its group and %d here: name it otherwise", dim, s.length, length)
		default: // it was that of another array, which is elsewhere
			return a.scale(n, axis, fmt.Sprintf("%s_dim_%d", path.Base(n.name), axis))
		}
		break
	}
	g := a.groups[folder(n.name)]
	s := &newScale{to: &newObject{}, length: length}
	s.to.messages = s.bareScale
	g.scales[dim] = s
	return s, a.link(g, dim, s.to)
}

// scaleAttributes say that an array is a scale.
func scaleAttributes(name string, uses []use) []newAttribute {
	text := func(key, value string) newAttribute {
		return newAttribute{name: key, kind: fixedText(len(value) + 1), data: append([]byte(value), 0)}
	}
	all := []newAttribute{text("CLASS", "DIMENSION_SCALE"), text("NAME", name)}
	if n := len(uses); n > 0 && n*16 < maxMessage-256 {
		back := newAttribute{name: "REFERENCE_LIST", kind: backType, shape: []int{n}}
		for _, u := range uses {
			back.data = pack(back.data, u.of.at, uint32(u.axis), uint32(0))
		}
		all = append(all, back)
	}
	return all
}

func withAttributes(messages []message, all []newAttribute) []message {
	messages = append(messages, message{msgAttributes, pack(byte(0), byte(3), uint16(len(all)), uint64(undefined), uint64(undefined), uint64(undefined))})
	for _, a := range all {
		messages = append(messages, message{msgAttribute, a.message()})
	}
	return messages
}

// bareScale is a dimension without a variable, as NetCDF has it.
func (s *newScale) bareScale() ([]message, error) {
	return withAttributes([]message{
		{msgDataspace, space([]int{s.length})},
		{msgDatatype, datatype(dtype.Float32)},
		{msgFill, pack(byte(3), byte(2|2<<2))},
		{msgLayout, pack(byte(3), byte(1), uint64(undefined), uint64(4*s.length))},
	}, scaleAttributes(fmt.Sprintf("%s.%10d", bareDimension, s.length), s.uses)), nil
}

// array is the header of an array.
func (a *assembly) array(n *output, o *newObject, index uint64) ([]message, error) {
	t := n.meta.DType
	fill := pack(byte(3), byte(3|2<<2))
	if n.meta.Details.Fill != "" {
		fill = pack(byte(3), byte(3|2<<2|0x20), uint32(t.Size()), n.chunks.Fill())
	}
	layout := pack(byte(3), byte(1), index, uint64(grid.Size(n.meta.Shape)*t.Size()))
	if n.chunked() {
		layout = pack(byte(3), byte(2), byte(len(n.meta.Shape)+1), index)
		for _, c := range append(slices.Clone(n.chunks.Chunks()), t.Size()) {
			layout = le.AppendUint32(layout, uint32(c))
		}
	}
	messages := []message{{msgDataspace, space(n.meta.Shape)}, {msgDatatype, datatype(t)}, {msgFill, fill}, {msgLayout, layout}}
	if len(n.filters) > 0 {
		messages = append(messages, message{msgFilters, filtersMessage(n.filters)})
	}
	all, err := n.attributes(&a.heaps)
	if err != nil {
		return nil, err
	}
	if own := n.scaleName(); own != "" {
		all = append(all, o.kept...)
		for _, as := range scaleAttributes(own, a.groups[folder(n.name)].scales[own].uses) {
			if !slices.ContainsFunc(all, func(is newAttribute) bool { return is.name == as.name }) {
				all = append(all, as)
			}
		}
	} else if list, ok := a.dimensionList(n, o); ok {
		all = append(all, list)
	}
	return withAttributes(messages, all), nil
}

// dimensionList says which scales the axes have.
func (a *assembly) dimensionList(n *output, o *newObject) (list newAttribute, ok bool) {
	list = newAttribute{name: "DIMENSION_LIST", kind: listsType, shape: []int{len(n.meta.Shape)}}
	at := make([]*newScale, len(n.meta.Shape))
	for name := range storage.Above(n.name) {
		for _, s := range a.groups[name].scales {
			for _, u := range s.uses {
				if u.of == o {
					at[u.axis], ok = s, true
				}
			}
		}
	}
	for _, s := range at {
		if s == nil {
			list.data = append(list.data, make([]byte, 16)...)
			continue
		}
		list.data = pack(list.data, uint32(1), a.heaps.add(le.AppendUint64(nil, s.to.at)))
	}
	return list, ok
}

// groupMessages is the header of a group: links, which have an order, and what an old one has besides links.
func (a *assembly) groupMessages(g *newGroup, d store.Details) (all []message, err error) {
	var links []link
	if g.old != nil {
		if links, err = g.old.links(); err != nil {
			return nil, err
		}
		if len(g.links) == 0 && d.Attributes == nil {
			return nil, nil // it stays
		}
	}
	var body []message
	add := func(name string, kind []byte, value []byte) {
		b := pack(byte(1), byte(4|8|0x10|1), kind, uint64(len(body)), byte(1), uint16(len(name)), name, value)
		body = append(body, message{msgLink, b})
	}
	for _, l := range links {
		switch {
		case l.other != "":
			return nil, fmt.Errorf("the group %.80q has %.80q, %s, which cannot be taken over: save to a new file", "/"+g.name, l.name, l.other)
		case l.soft != "":
			add(l.name, []byte{1}, pack(uint16(len(l.soft)), l.soft))
		default:
			add(l.name, []byte{0}, le.AppendUint64(nil, l.address))
		}
	}
	for _, l := range g.links {
		add(l.name, []byte{0}, le.AppendUint64(nil, l.to.at))
	}
	all = append([]message{{msgLinkInfo, pack(byte(0), byte(3), uint64(len(body)), uint64(undefined), uint64(undefined), uint64(undefined))}, {msgGroupInfo, []byte{0, 0}}}, body...)
	made, err := attributesOf(d, dtype.Invalid, a.netcdf, &a.heaps)
	if err != nil || g.old == nil {
		return withAttributes(all, made), err
	}
	for _, m := range g.old.messages {
		if (m.kind == msgAttributes || m.kind == msgAttribute) && d.Attributes == nil {
			all = append(all, m)
		}
	}
	if d.Attributes != nil {
		all = withAttributes(all, made)
	}
	return all, nil
}

// write writes the heaps and the headers, and at last the superblock.
func (a *assembly) write() error {
	for _, g := range a.groups {
		if g.old != nil {
			a.objects = append(a.objects, g.object)
		}
	}
	a.end = (a.end + 7) &^ 7
	headers := func() (all [][]byte, err error) {
		a.heaps.parts, a.heaps.count = nil, 0
		for _, o := range a.objects {
			messages, err := o.messages()
			var b []byte
			if err == nil && messages != nil {
				b, err = header(messages, o.replaces)
			}
			if err != nil {
				return nil, err
			}
			all = append(all, b)
		}
		return all, nil
	}
	first, err := headers()
	if err != nil {
		return err
	}
	at := a.address()
	for _, objects := range a.heaps.parts {
		a.heaps.at = append(a.heaps.at, at)
		at += uint64(len(collection(objects)))
	}
	places := make([]uint64, len(first))
	for i, b := range first {
		if b == nil {
			continue // it stays
		}
		at = (at + 7) &^ 7
		if places[i] = at; !a.objects[i].replaces {
			a.objects[i].at = at
		}
		at += uint64(len(b))
	}
	all, err := headers()
	if err != nil {
		return err
	}
	for _, objects := range a.heaps.parts {
		if _, err := a.put(collection(objects)); err != nil {
			return err
		}
	}
	for i, b := range all {
		o := a.objects[i]
		if len(b) != len(first[i]) {
			return fmt.Errorf("a header of %d bytes has become %d", len(first[i]), len(b))
		}
		if b == nil {
			continue
		}
		placed, err := a.put(b)
		if err == nil && placed != places[i] {
			err = fmt.Errorf("a header is at %d and should be at %d", placed, places[i])
		}
		if err == nil && o.replaces {
			_, err = a.w.WriteAt(stub(placed, uint64(len(b))), a.base+int64(o.at))
		}
		if err != nil {
			return err
		}
	}
	return a.superblock()
}

// superblock writes where the file ends, and of a new file all else.
func (a *assembly) superblock() error {
	if a.old == nil {
		root := a.groups[""].object.at
		_, err := a.w.WriteAt(summed(pack(signature, byte(2), byte(8), byte(8), byte(0), uint64(0), uint64(undefined), uint64(a.end), root)), 0)
		return err
	}
	head := make([]byte, 112)
	if _, err := a.w.ReadAt(head, a.base); err != nil && err != io.EOF {
		return err
	}
	switch v := a.old.version; v {
	case 0, 1:
		b := head[24+4*int(v):]
		le.PutUint64(b[16:], uint64(a.end))
		le.PutUint32(b[48:], 0) // what the root is made of is in its header
		clear(b[56:72])
		head = head[:24+4*int(v)+72]
	default:
		le.PutUint64(head[28:], uint64(a.end))
		head = summed(head[:superblockBytes-4])
	}
	_, err := a.w.WriteAt(head, a.base)
	return err
}

// chunkNode is half of the most children of a node in the B-tree of chunks.
const chunkNode = 32

// index writes where the chunks of an array are: a B-tree, level by level from its leaves. It returns the address of its root, or that of the
// elements of an array that is not in chunks.
func (a *assembly) index(n *output) (at uint64, err error) {
	places := make([]storage.AppendedChunk, 0, len(n.places))
	for _, c := range n.places {
		places = append(places, c)
	}
	slices.SortFunc(places, func(x, y storage.AppendedChunk) int { return cmp.Compare(x.Chunk, y.Chunk) })
	if !n.chunked() {
		if len(places) == 0 {
			return undefined, nil
		}
		return uint64(places[0].Offset - a.base), nil
	}
	dims := len(n.meta.Shape)
	// key is the key of a chunk, or with past the first that no chunk has.
	key := func(c storage.AppendedChunk, past int) []byte {
		b := pack(uint32(c.Bytes), uint32(0), make([]byte, 8*(dims+1)))
		number := c.Chunk
		for axis := dims - 1; axis >= 0; axis-- {
			length := n.chunks.Chunks()[axis]
			count := int64((n.meta.Shape[axis] + length - 1) / length)
			le.PutUint64(b[8+8*axis:], uint64(number%count+int64(past))*uint64(length))
			number /= count
		}
		return b
	}
	type child struct {
		first int // of the chunks below
		at    uint64
	}
	var level []child
	for i, c := range places {
		if c.Bytes > math.MaxUint32 {
			return 0, errors.New("a chunk has more than 4 GiB")
		}
		level = append(level, child{i, uint64(c.Offset - a.base)})
	}
	node := 24 + 2*chunkNode*8 + (2*chunkNode+1)*(8+8*(dims+1))
	for depth := 0; depth == 0 && len(level) > 0 || len(level) > 1; depth++ {
		var above []child
		a.end = (a.end + 7) &^ 7
		start := a.address()
		for i := 0; i < len(level); i += 2 * chunkNode {
			left, right := uint64(undefined), uint64(undefined)
			if i > 0 {
				left = start + uint64((i/(2*chunkNode)-1)*node)
			}
			children, last := level[i:], key(places[len(places)-1], 1)
			if len(children) > 2*chunkNode {
				right = start + uint64((i/(2*chunkNode)+1)*node)
				last = key(places[children[2*chunkNode].first], 0)
				children = children[:2*chunkNode]
			}
			b := pack("TREE", byte(1), byte(depth), uint16(len(children)), left, right)
			for _, c := range children {
				b = pack(b, key(places[c.first], 0), c.at)
			}
			b = pack(b, last)
			b = append(b, make([]byte, node-len(b))...)
			address, err := a.put(b)
			if err != nil {
				return 0, err
			}
			above = append(above, child{children[0].first, address})
		}
		level = above
	}
	if len(level) == 0 {
		return undefined, nil
	}
	return level[0].at, nil
}
