package carry

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// section is a part of a file: variables that share memory with one another, and nothing with others. Its head has
// a mark, a sum of what follows, and the length of that.
type section struct {
	file      string
	at        int64
	variables []Variable
}

func (s *section) names() string {
	names := make([]string, len(s.variables))
	for i, v := range s.variables {
		names[i] = v.name
	}
	return strings.Join(names, ", ")
}

const headBytes = 16

var mark = [4]byte{'c', 'a', 'r', '1'} // and the version

var sums = crc32.MakeTable(crc32.Castagnoli)

var errNotCarried = errors.New("what was kept of it is gone, or another program has changed it: run the cell that declares it again")

// body opens what the section has, of which the sum is right.
func (s *section) body() (*os.File, *io.SectionReader, error) {
	f, err := os.Open(s.file)
	if err != nil {
		return nil, nil, errNotCarried
	}
	head := make([]byte, headBytes)
	if _, err = f.ReadAt(head, s.at); err == nil && [4]byte(head) == mark {
		body := io.NewSectionReader(f, s.at+headBytes, int64(binary.LittleEndian.Uint64(head[8:])))
		sum := crc32.New(sums)
		if n, err := io.Copy(sum, body); err == nil && n == body.Size() && sum.Sum32() == binary.LittleEndian.Uint32(head[4:]) {
			_, err = body.Seek(0, io.SeekStart)
			return f, body, err
		}
	}
	f.Close()
	return nil, nil, errNotCarried
}

// append writes a section for variables at a file's end, and returns its length.
func (m *image) append(f *os.File, at int64, variables []Variable) (int64, error) {
	sum := crc32.New(sums)
	counted := &counter{w: io.MultiWriter(io.NewOffsetWriter(f, at+headBytes), sum)}
	e := &encoder{image: m, types: newTable(types(variables, m.types)), ids: map[unsafe.Pointer]int{}, w: bufio.NewWriterSize(counted, 64<<10)}
	e.all()
	if err := e.w.Flush(); err != nil {
		return 0, err
	}
	head := binary.LittleEndian.AppendUint32(mark[:], sum.Sum32())
	head = binary.LittleEndian.AppendUint64(head, uint64(counted.n))
	_, err := f.WriteAt(head, at)
	return headBytes + counted.n, err
}

// equals reports whether a section of length n in an open file is the same.
func (s *section) equals(f *os.File, at, n int64) bool {
	was, err := os.Open(s.file)
	if err != nil {
		return false
	}
	defer was.Close()
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for done := int64(0); done < n; {
		k := min(n-done, int64(len(a)))
		if _, err := f.ReadAt(a[:k], at+done); err != nil {
			return false
		}
		if _, err := was.ReadAt(b[:k], s.at+done); err != nil || !bytes.Equal(a[:k], b[:k]) {
			return false
		}
		done += k
	}
	return true
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func types(variables []Variable, more []reflect.Type) []reflect.Type {
	all := make([]reflect.Type, len(variables))
	for i, v := range variables {
		all[i] = v.of
	}
	return append(all, more...)
}

// encoder writes an image. The writer keeps its first error.
type encoder struct {
	*image
	types *table
	ids   map[unsafe.Pointer]int // of maps
	w     *bufio.Writer
}

func (e *encoder) number(n int) { e.w.Write(binary.AppendUvarint(e.w.AvailableBuffer(), uint64(n))) }

// all writes variables and what they lead to, which was scanned and merged.
func (e *encoder) all() {
	e.w.Write(binary.LittleEndian.AppendUint64(e.w.AvailableBuffer(), e.types.signature()))
	byID := slices.SortedFunc(slices.Values(e.allocs), func(a, b numbered) int { return cmp.Compare(a.id, b.id) })
	e.number(len(byID))
	for _, a := range byID {
		e.number(a.root + 1)
		e.number(e.types.index[a.of])
		e.number(a.n)
	}
	e.number(len(e.order))
	for i, p := range e.order {
		e.ids[p] = i + 1
		d := e.maps[p]
		e.number(e.types.index[d.of])
		e.number(d.keys.Len())
		e.place(d.keys.UnsafePointer())
		e.place(d.values.UnsafePointer())
	}
	for _, a := range byID {
		e.values(a.at, a.of, a.n)
	}
}

// values writes n values of a type.
func (e *encoder) values(at unsafe.Pointer, of reflect.Type, n int) {
	if plain(of) {
		e.w.Write(unsafe.Slice((*byte)(at), n*int(of.Size())))
		return
	}
	for i := range n {
		e.value(unsafe.Add(at, uintptr(i)*of.Size()), of)
	}
}

// place writes in which allocation an address is, and where: 0 is none.
func (e *encoder) place(p unsafe.Pointer) {
	a := e.at(p)
	if a == nil {
		e.number(0)
		return
	}
	e.number(a.id + 1)
	e.number(int(uintptr(p) - a.start()))
}

func (e *encoder) value(at unsafe.Pointer, of reflect.Type) {
	if f := forms[of]; f != nil {
		e.values(e.wires[wired{at, of}], f.wire, 1)
		return
	}
	switch of.Kind() {
	case reflect.String:
		s := *(*string)(at)
		e.number(len(s))
		e.w.WriteString(s)
	case reflect.Pointer:
		to := *(*unsafe.Pointer)(at)
		switch i := slices.Index(fixed, to); {
		case to == nil:
			e.number(0)
		case i >= 0:
			e.number(1)
			e.number(i)
		case of.Elem().Size() == 0:
			e.number(2)
		default:
			e.number(3)
			e.place(to)
		}
	case reflect.Slice:
		s := (*header)(at)
		switch {
		case s.at == nil:
			e.number(0)
			return
		case s.cap == 0 || of.Elem().Size() == 0:
			e.number(1)
		default:
			e.number(2)
			e.place(s.at)
		}
		e.number(s.len)
		e.number(s.cap)
	case reflect.Map:
		e.number(e.ids[*(*unsafe.Pointer)(at)])
	case reflect.Interface:
		dynamic := dynamicType(at, of)
		if dynamic == nil {
			e.number(0)
			return
		}
		e.number(e.types.index[dynamic] + 1)
		e.values(boxed(at, dynamic), dynamic, 1)
	case reflect.Array:
		e.values(at, of.Elem(), of.Len())
	case reflect.Struct:
		for i := range of.NumField() {
			f := of.Field(i)
			e.values(unsafe.Add(at, f.Offset), f.Type, 1)
		}
	}
}

// decoder reads an image. It panics with an error.
type decoder struct {
	types  *table
	allocs []allocation
	maps   []reflect.Value
	fill   []dictionary
	later  []func() error // what holds others comes before them
	r      *bufio.Reader
}

func (d *decoder) number() int {
	n, err := binary.ReadUvarint(d.r)
	if err != nil || n > 1<<40 {
		panic(errNotCarried)
	}
	return int(n)
}

func (d *decoder) read(p []byte) {
	if _, err := io.ReadFull(d.r, p); err != nil {
		panic(errNotCarried)
	}
}

// load reads the section into its variables, whose interfaces hold types.
func (s *section) load(held []reflect.Type) (err error) {
	f, body, err := s.body()
	if err != nil {
		return err
	}
	defer f.Close()
	Room(s.names(), body.Size())
	defer func() { // of a body that was written otherwise
		if r := recover(); r != nil {
			err = errNotCarried
		}
	}()
	d := &decoder{types: newTable(types(s.variables, held)), r: bufio.NewReaderSize(body, 64<<10)}
	var signature [8]byte
	if d.read(signature[:]); binary.LittleEndian.Uint64(signature[:]) != d.types.signature() {
		return errors.New("its type has changed since: run the cell that declares it again")
	}
	for range d.number() {
		root, of, n := d.number()-1, d.types.all[d.number()], d.number()
		a := allocation{of: of, n: n}
		switch {
		case root >= 0:
			a.at = s.variables[root].at
		case n == 1:
			a.at = reflect.New(of).UnsafePointer()
		default:
			a.at = reflect.MakeSlice(reflect.SliceOf(of), n, n).UnsafePointer()
		}
		d.allocs = append(d.allocs, a)
	}
	for range d.number() {
		of, n := d.types.all[d.number()], d.number()
		part := func(elem reflect.Type) reflect.Value {
			at := d.place()
			if at == nil {
				return reflect.MakeSlice(reflect.SliceOf(elem), n, n)
			}
			return reflect.NewAt(reflect.ArrayOf(n, elem), at).Elem()
		}
		d.maps = append(d.maps, reflect.MakeMapWithSize(of, n))
		d.fill = append(d.fill, dictionary{of, part(of.Key()), part(of.Elem())})
	}
	for _, a := range d.allocs {
		d.values(a.at, a.of, a.n)
	}
	for _, f := range slices.Backward(d.later) {
		if err := f(); err != nil {
			return err
		}
	}
	for i, f := range d.fill {
		for k := range f.keys.Len() {
			d.maps[i].SetMapIndex(f.keys.Index(k), f.values.Index(k))
		}
	}
	return nil
}

func (d *decoder) place() unsafe.Pointer {
	id := d.number()
	if id == 0 {
		return nil
	}
	return unsafe.Add(d.allocs[id-1].at, d.number())
}

// values reads n values of a type.
func (d *decoder) values(at unsafe.Pointer, of reflect.Type, n int) {
	if plain(of) {
		d.read(unsafe.Slice((*byte)(at), n*int(of.Size())))
		return
	}
	for i := range n {
		d.value(unsafe.Add(at, uintptr(i)*of.Size()), of)
	}
}

func (d *decoder) value(at unsafe.Pointer, of reflect.Type) {
	if f := forms[of]; f != nil {
		wire := reflect.New(f.wire).UnsafePointer()
		d.later = append(d.later, func() error { return f.in(wire, at) })
		d.values(wire, f.wire, 1)
		return
	}
	switch of.Kind() {
	case reflect.String:
		b := make([]byte, d.number())
		d.read(b)
		*(*string)(at) = unsafe.String(unsafe.SliceData(b), len(b))
	case reflect.Pointer:
		switch d.number() {
		case 1:
			*(*unsafe.Pointer)(at) = fixed[d.number()]
		case 2:
			*(*unsafe.Pointer)(at) = reflect.New(of.Elem()).UnsafePointer()
		case 3:
			*(*unsafe.Pointer)(at) = d.place()
		}
	case reflect.Slice:
		s := (*header)(at)
		switch d.number() {
		case 0:
			return
		case 1:
			s.at = reflect.MakeSlice(of, 0, 0).UnsafePointer()
		default:
			s.at = d.place()
		}
		s.len, s.cap = d.number(), d.number()
	case reflect.Map:
		if id := d.number(); id > 0 {
			*(*unsafe.Pointer)(at) = d.maps[id-1].UnsafePointer()
		}
	case reflect.Interface:
		id := d.number()
		if id == 0 {
			return
		}
		dynamic := d.types.all[id-1]
		held := reflect.New(dynamic)
		d.later = append(d.later, func() error {
			reflect.NewAt(of, at).Elem().Set(held.Elem())
			return nil
		})
		d.values(held.UnsafePointer(), dynamic, 1)
	case reflect.Array:
		d.values(at, of.Elem(), of.Len())
	case reflect.Struct:
		for i := range of.NumField() {
			f := of.Field(i)
			d.values(unsafe.Add(at, f.Offset), f.Type, 1)
		}
	}
}
