package carry

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// Values and index are the two files of a cell: index, which is written last, says what the other has, a line each:
//
//	section AT BYTES
//	var NAME TYPE SIZE BYTES
//	held TYPE
//	lost NAME TYPE WHY
//
// The variables of a section and the types that its interfaces hold follow it, in the order in which Load takes
// them. Texts are quoted as Go quotes them, and packages in types once more.
const (
	valuesExtension = ".values"
	indexExtension  = ".index"
)

// write keeps variables in the files of the cell.
func write(folder, cell string, others Others, all []Variable) (err error) {
	base := filepath.Join(folder, cell)
	f, err := os.OpenFile(base+valuesExtension, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = cmp.Or(err, f.Close()); err != nil {
			os.Remove(f.Name())
		}
	}()
	var index strings.Builder
	lost := func(v Variable, why error) {
		name, err := text(v.of)
		if err != nil {
			name = v.of.String()
		}
		fmt.Fprintf(&index, "lost %q %q %q\n", v.name, name, why)
	}
	var sound []Variable
	var images []*image
	bytes := map[string]int64{} // by names
	running := othersRun()
	for _, v := range all {
		m := newImage(Limit, running)
		err := m.scan(v.at, v.of, 0)
		if err == errMost {
			err = others.tooLarge(m.bytes)
		}
		if err == nil {
			_, err = text(v.of)
		}
		for _, held := range m.types {
			if err == nil {
				_, err = text(held)
			}
		}
		if err != nil {
			lost(v, err)
			continue
		}
		sound, images = append(sound, v), append(images, m)
		bytes[v.name] = m.bytes
	}
	var at int64
	for _, group := range shared(images) {
		members := make([]Variable, len(group))
		m := images[group[0]]
		if len(group) > 1 {
			m = newImage(math.MaxInt64, false)
		}
		for i, k := range group {
			if members[i] = sound[k]; len(group) > 1 {
				err = cmp.Or(err, m.scan(members[i].at, members[i].of, i))
			}
		}
		if err = cmp.Or(err, m.merge()); err == nil && others.Bytes+m.bytes > Limit {
			err = others.tooLarge(m.bytes)
		}
		if err != nil {
			for _, v := range members {
				lost(v, err)
			}
			err = nil
			continue
		}
		n, err := m.append(f, at, members)
		if err != nil {
			return err
		}
		if others.Bytes += n; n > others.Most {
			others.Name, others.Most = members[0].name, n
		}
		if isAsLoaded(f, at, n, members) {
			continue
		}
		fmt.Fprintf(&index, "section %d %d\n", at, n)
		for _, v := range members {
			name, _ := text(v.of) // was asked above
			size, n := v.size(bytes[v.name])
			fmt.Fprintf(&index, "var %q %q %q %d\n", v.name, name, size, n)
		}
		for _, held := range m.types {
			name, _ := text(held)
			fmt.Fprintf(&index, "held %q\n", name)
		}
		at += n
	}
	if err := f.Truncate(at); err != nil {
		return err
	}
	if index.Len() == 0 {
		return os.Remove(f.Name())
	}
	temporary := base + ".new"
	if err := os.WriteFile(temporary, []byte(index.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, base+indexExtension)
}

// isAsLoaded reports whether a section is one that was loaded, with the same variables.
func isAsLoaded(f *os.File, at, n int64, members []Variable) bool {
	return slices.ContainsFunc(loaded, func(s *section) bool {
		return slices.EqualFunc(s.variables, members, func(a, b Variable) bool { return a == b }) && s.equals(f, at, n)
	})
}

// shared are the groups of variables that lead to the same memory, as indices, in their order.
func shared(images []*image) (groups [][]int) {
	type part struct {
		numbered
		of int
	}
	group := make([]int, len(images))
	for i := range group {
		group[i] = i
	}
	join := func(a, b int) {
		from, to := max(group[a], group[b]), min(group[a], group[b])
		for i, g := range group {
			if g == from {
				group[i] = to
			}
		}
	}
	var parts []part
	maps := map[unsafe.Pointer]int{}
	for i, m := range images {
		for _, a := range m.allocs {
			parts = append(parts, part{a, i})
		}
		for p := range m.maps {
			if other, ok := maps[p]; ok {
				join(i, other)
			}
			maps[p] = i
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.start(), b.start()) })
	var last part
	for i, p := range parts {
		if i > 0 && p.start() < last.end() {
			join(p.of, last.of)
		}
		if i == 0 || p.end() > last.end() {
			last = p
		}
	}
	for i, g := range group {
		if g == i {
			groups = append(groups, nil)
			for k := range group {
				if group[k] == g {
					groups[len(groups)-1] = append(groups[len(groups)-1], k)
				}
			}
		}
	}
	return groups
}

// size is a variable's shape, or its length, and its bytes: those of an array whose elements are elsewhere are its own.
func (v Variable) size(bytes int64) (string, int64) {
	value := reflect.NewAt(v.of, v.at).Elem()
	switch value.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return strconv.Itoa(value.Len()), bytes
	case reflect.Pointer:
		if a, ok := value.Interface().(interface {
			Shape() []int
			Bytes() int64
		}); ok && !value.IsNil() {
			shape := make([]string, len(a.Shape()))
			for i, n := range a.Shape() {
				shape[i] = strconv.Itoa(n)
			}
			return strings.Join(shape, " × "), a.Bytes()
		}
	}
	return "", bytes
}

// Section is variables that are loaded together.
type Section struct {
	File  string
	At    int64
	Bytes int64
	Names []string
	Types []string // of the variables
	Sizes []string // their shapes, or their lengths
	Takes []int64  // their bytes
	Held  []string // types that interfaces hold
}

// Lost is a variable that was not kept.
type Lost struct{ Name, Type, Why string }

// Read returns what a cell has kept, from its index; ok is false where the cell has kept nothing.
func Read(folder, id string) (sections []Section, lost []Lost, ok bool) {
	f, err := os.Open(filepath.Join(folder, id+indexExtension))
	if err != nil {
		return nil, nil, false
	}
	defer f.Close()
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return sections, lost, true
		}
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		var words []string
		for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				quoted, _, _ = strings.Cut(rest, " ")
			}
			word, err := strconv.Unquote(quoted)
			if err != nil {
				word = quoted
			}
			words, rest = append(words, word), rest[len(quoted):]
		}
		last := len(sections) - 1
		switch {
		case err != nil || kind != "section" && kind != "lost" && last < 0:
			return nil, nil, false
		case kind == "section" && len(words) == 2:
			at, _ := strconv.ParseInt(words[0], 10, 64)
			n, _ := strconv.ParseInt(words[1], 10, 64)
			sections = append(sections, Section{File: id + valuesExtension, At: at, Bytes: n})
		case kind == "var" && len(words) == 4:
			s := &sections[last]
			n, _ := strconv.ParseInt(words[3], 10, 64)
			s.Names, s.Types, s.Sizes, s.Takes = append(s.Names, words[0]), append(s.Types, words[1]), append(s.Sizes, words[2]), append(s.Takes, n)
		case kind == "held" && len(words) == 1:
			sections[last].Held = append(sections[last].Held, words[0])
		case kind == "lost" && len(words) == 3:
			lost = append(lost, Lost{words[0], words[1], words[2]})
		}
	}
}
