package carry

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// allocation is memory that something leads to: n elements of a type.
type allocation struct {
	at   unsafe.Pointer
	of   reflect.Type
	n    int
	root int // a variable's index; -1 for none
}

// numbered is an allocation in the order in which it was found, which is the same where nothing has changed.
type numbered struct {
	allocation
	id int
}

func (a allocation) start() uintptr { return uintptr(a.at) }
func (a allocation) end() uintptr   { return uintptr(a.at) + a.of.Size()*uintptr(a.n) }

// dictionary is a map, and its elements in two slices.
type dictionary struct {
	of           reflect.Type
	keys, values reflect.Value
}

// wired is a value whose form travels.
type wired struct {
	at unsafe.Pointer
	of reflect.Type
}

// image is all memory that variables lead to.
type image struct {
	found  map[allocation]bool
	allocs []numbered // in the order in which they were found; once merged, by their addresses
	maps   map[unsafe.Pointer]*dictionary
	order  []unsafe.Pointer // of maps
	wires  map[wired]unsafe.Pointer
	types  []reflect.Type // that interfaces hold, in the order in which they were found
	bytes  int64
	most   int64 // that are looked at
	shared bool  // another goroutine may write meanwhile
}

// errMost ends what takes more than is looked at.
var errMost = errors.New("too large")

func newImage(most int64, shared bool) *image {
	return &image{found: map[allocation]bool{}, maps: map[unsafe.Pointer]*dictionary{}, wires: map[wired]unsafe.Pointer{}, most: most, shared: shared}
}

// scan finds what a variable leads to. It goes along lists by a loop, not by calls.
func (m *image) scan(at unsafe.Pointer, of reflect.Type, root int) error {
	if m.shared && !settled(of) {
		return errRunning
	}
	open := []allocation{{at, of, 1, root}}
	if of.Size() > 0 {
		m.add(open[0])
	}
	for len(open) > 0 {
		a := open[len(open)-1]
		open = open[:len(open)-1]
		if m.bytes += int64(a.of.Size()) * int64(a.n); m.bytes > m.most {
			return errMost
		}
		if plain(a.of) {
			continue
		}
		for i := range a.n {
			next, err := m.value(unsafe.Add(a.at, uintptr(i)*a.of.Size()), a.of, nil)
			if err != nil {
				return err
			}
			open = append(open, next...)
		}
	}
	return nil
}

func (m *image) add(a allocation) { m.allocs = append(m.allocs, numbered{a, len(m.allocs)}) }

// lead adds an allocation, and the work of looking at it where it is new.
func (m *image) lead(at unsafe.Pointer, of reflect.Type, n int, next []allocation) []allocation {
	a := allocation{at, of, n, -1}
	if of.Size() == 0 || n == 0 || m.found[a] {
		return next
	}
	m.found[a] = true
	m.add(a)
	return append(next, a)
}

// value adds what one value leads to.
func (m *image) value(at unsafe.Pointer, of reflect.Type, next []allocation) (_ []allocation, err error) {
	if plain(of) {
		return next, nil
	}
	if f := forms[of]; f != nil {
		key := wired{at, of}
		if m.wires[key] == nil {
			w, err := f.out(at)
			if err != nil {
				return nil, err
			}
			m.wires[key] = w
		}
		return m.value(m.wires[key], f.wire, next)
	}
	if isOfTheSystem(of) {
		return nil, fmt.Errorf("a %s stands for something of its process", of)
	}
	switch of.Kind() {
	case reflect.String:
		if m.bytes += int64(len(*(*string)(at))); m.bytes > m.most {
			return nil, errMost
		}
	case reflect.Pointer:
		to := *(*unsafe.Pointer)(at)
		if to == nil || slices.Contains(fixed, to) {
			return next, nil
		}
		return m.lead(to, of.Elem(), 1, next), nil
	case reflect.Slice:
		s := (*header)(at)
		return m.lead(s.at, of.Elem(), s.cap, next), nil
	case reflect.Map:
		return m.dictionary(at, of, next)
	case reflect.Interface:
		dynamic := dynamicType(at, of)
		if dynamic == nil {
			return next, nil
		}
		if !slices.Contains(m.types, dynamic) {
			m.types = append(m.types, dynamic)
		}
		return m.value(boxed(at, dynamic), dynamic, next)
	case reflect.Array:
		for i := range of.Len() {
			if next, err = m.value(unsafe.Add(at, uintptr(i)*of.Elem().Size()), of.Elem(), next); err != nil {
				return nil, err
			}
		}
	case reflect.Struct:
		for i := range of.NumField() {
			f := of.Field(i)
			if next, err = m.value(unsafe.Add(at, f.Offset), f.Type, next); err != nil {
				return nil, err
			}
		}
	default:
		if *(*unsafe.Pointer)(at) != nil {
			return nil, fmt.Errorf("a %s has no meaning in another process", of)
		}
	}
	return next, nil
}

func (m *image) dictionary(at unsafe.Pointer, of reflect.Type, next []allocation) ([]allocation, error) {
	p := *(*unsafe.Pointer)(at)
	if p == nil || m.maps[p] != nil {
		return next, nil
	}
	v := reflect.NewAt(of, at).Elem()
	d := &dictionary{of, reflect.MakeSlice(reflect.SliceOf(of.Key()), v.Len(), v.Len()), reflect.MakeSlice(reflect.SliceOf(of.Elem()), v.Len(), v.Len())}
	m.maps[p] = d
	m.order = append(m.order, p)
	i := 0
	for each := v.MapRange(); each.Next() && i < d.keys.Len(); i++ {
		d.keys.Index(i).SetIterKey(each)
		d.values.Index(i).SetIterValue(each)
	}
	for _, part := range []reflect.Value{d.keys, d.values} {
		next = m.lead(part.UnsafePointer(), part.Type().Elem(), part.Len(), next)
	}
	return next, nil
}

// header is a slice in memory.
type header struct {
	at       unsafe.Pointer
	len, cap int
}

// dynamicType is the type of what an interface holds; nil for nothing.
func dynamicType(at unsafe.Pointer, of reflect.Type) reflect.Type {
	v := reflect.NewAt(of, at).Elem()
	if v.IsNil() {
		return nil
	}
	return v.Elem().Type()
}

// boxed is the place of what an interface holds: its second word, or where that leads.
func boxed(at unsafe.Pointer, dynamic reflect.Type) unsafe.Pointer {
	word := unsafe.Add(at, unsafe.Sizeof(uintptr(0)))
	if isPointer(dynamic) {
		return word
	}
	return *(*unsafe.Pointer)(word)
}

// isPointer reports a type whose values are one pointer.
func isPointer(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct:
		return of.NumField() == 1 && isPointer(of.Field(0).Type)
	case reflect.Array:
		return of.Len() == 1 && isPointer(of.Elem())
	}
	return false
}

var errOverlap = errors.New("slices of different types share memory")

// merge joins allocations that share memory: what was pointed to inside of another is a part of that.
func (m *image) merge() error {
	slices.SortFunc(m.allocs, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.start(), b.start()), cmp.Compare(b.end(), a.end()), cmp.Compare(b.root, a.root))
	})
	merged := m.allocs[:0]
	for _, a := range m.allocs {
		m.bytes -= int64(a.end() - a.start())
		if len(merged) == 0 || a.start() >= merged[len(merged)-1].end() {
			merged = append(merged, a)
			continue
		}
		last := &merged[len(merged)-1]
		last.id = min(last.id, a.id)
		if a.end() <= last.end() {
			continue
		}
		if a.of != last.of || (a.start()-last.start())%a.of.Size() != 0 || last.root >= 0 {
			return errOverlap
		}
		last.n = int((a.end() - last.start()) / a.of.Size())
	}
	byID := make([]int, len(merged))
	for i := range byID {
		byID[i] = i
		m.bytes += int64(merged[i].end() - merged[i].start())
	}
	slices.SortFunc(byID, func(a, b int) int { return cmp.Compare(merged[a].id, merged[b].id) })
	for id, i := range byID {
		merged[i].id = id
	}
	m.allocs = merged
	return nil
}

// at finds the allocation that an address is in; nil for none.
func (m *image) at(p unsafe.Pointer) *numbered {
	i, found := slices.BinarySearchFunc(m.allocs, uintptr(p), func(a numbered, p uintptr) int { return cmp.Compare(a.start(), p) })
	if !found {
		i--
	}
	if i < 0 || uintptr(p) >= m.allocs[i].end() {
		return nil
	}
	return &m.allocs[i]
}
