package carry

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// table numbers the types that values of some types lead to, alike in every process that has these types.
type table struct {
	all   []reflect.Type
	index map[reflect.Type]int
}

func newTable(roots []reflect.Type) *table {
	t := &table{index: map[reflect.Type]int{}}
	for _, root := range roots {
		t.add(root)
	}
	return t
}

func (t *table) add(of reflect.Type) {
	if _, ok := t.index[of]; ok {
		return
	}
	t.index[of] = len(t.all)
	t.all = append(t.all, of)
	if f := forms[of]; f != nil {
		t.add(f.wire)
		return
	}
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		t.add(of.Elem())
	case reflect.Map:
		t.add(of.Key())
		t.add(of.Elem())
	case reflect.Struct:
		for i := range of.NumField() {
			t.add(of.Field(i).Type)
		}
	}
}

// signature is a number that differs where the types do: what a value was written as is what it is read as.
func (t *table) signature() uint64 {
	h := fnv.New64a()
	for _, of := range t.all {
		fmt.Fprintln(h, of, of.Kind(), of.Size())
		if of.Kind() == reflect.Struct {
			for i := range of.NumField() {
				f := of.Field(i)
				fmt.Fprintln(h, f.Name, t.index[f.Type], f.Offset)
			}
		}
	}
	return h.Sum64()
}

// ofCells is the package of cells, whose types every cell can name.
var ofCells = "main"

// text writes a type in Go's words, with the path of a package, in quotes, where the program has the
// package's name; types of the cells themselves have none. The error is of a type that another program
// cannot name.
func text(of reflect.Type) (string, error) {
	if of.Name() != "" {
		path, name := of.PkgPath(), of.Name()
		if path == "" {
			return name, nil
		}
		generic, arguments, is := strings.Cut(name, "[")
		if strings.ContainsAny(generic, "·") || path != ofCells && !exported(generic) {
			return "", fmt.Errorf("%s cannot be named in another program", of)
		}
		if is {
			arguments = "[" + qualified(arguments)
		}
		return qualify(path, generic) + arguments, nil
	}
	in := func(prefix string, elem reflect.Type) (string, error) {
		s, err := text(elem)
		return prefix + s, err
	}
	switch of.Kind() {
	case reflect.Pointer:
		return in("*", of.Elem())
	case reflect.Slice:
		return in("[]", of.Elem())
	case reflect.Array:
		return in("["+strconv.Itoa(of.Len())+"]", of.Elem())
	case reflect.Map:
		key, err := text(of.Key())
		if err != nil {
			return "", err
		}
		return in("map["+key+"]", of.Elem())
	case reflect.Struct:
		fields := make([]string, of.NumField())
		for i := range fields {
			f := of.Field(i)
			s, err := text(f.Type)
			if err != nil {
				return "", err
			}
			if f.PkgPath != "" && f.PkgPath != ofCells {
				return "", fmt.Errorf("%s cannot be named in another program", of)
			}
			if !f.Anonymous {
				s = f.Name + " " + s
			}
			if f.Tag != "" {
				s += " " + strconv.Quote(string(f.Tag))
			}
			fields[i] = s
		}
		return "struct{" + strings.Join(fields, "; ") + "}", nil
	case reflect.Interface:
		if of.NumMethod() == 0 {
			return "any", nil
		}
	case reflect.Chan, reflect.Func:
		return of.String(), nil // which is said, and never compiled
	}
	return "", fmt.Errorf("%s cannot be named in another program", of)
}

// qualified has the names of packages, which the runtime writes by their paths in arguments of generic types, as
// text has them.
func qualified(arguments string) string {
	var b strings.Builder
	for rest := arguments; rest != ""; {
		n := strings.IndexAny(rest, "[]*, {}();")
		if n < 0 {
			n = len(rest)
		}
		word := rest[:n]
		if dot := strings.LastIndexByte(word, '.'); dot > 0 {
			word = qualify(strings.ReplaceAll(word[:dot], "%2e", "."), word[dot+1:])
		}
		b.WriteString(word)
		if n < len(rest) {
			b.WriteByte(rest[n])
			n++
		}
		rest = rest[n:]
	}
	return b.String()
}

func qualify(path, name string) string {
	if path == ofCells {
		return name
	}
	return strconv.Quote(path) + "." + name
}

func exported(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// ofTheSystem are packages whose structs stand for something outside of memory.
var ofTheSystem = []string{"os", "net", "syscall", "runtime", "reflect", "context", "plugin", "testing", "unique", "weak", "iter", "internal", "database", "golang.org/x/sys"}

// isOfTheSystem reports a struct that memory does not tell the whole of.
func isOfTheSystem(of reflect.Type) bool {
	if of.Kind() != reflect.Struct {
		return false
	}
	if of.PkgPath() == "internal/sync" || of.PkgPath() == "net/url" { // of sync.Mutex; text
		return false
	}
	return slices.ContainsFunc(ofTheSystem, func(p string) bool { return of.PkgPath() == p || strings.HasPrefix(of.PkgPath(), p+"/") })
}

// plain reports a type without references, whose memory is its value.
func plain(of reflect.Type) bool {
	if is, ok := plains[of]; ok {
		return is
	}
	is := false
	switch of.Kind() {
	case reflect.Array:
		is = plain(of.Elem())
	case reflect.Struct:
		is = forms[of] == nil && !isOfTheSystem(of)
		for i := range of.NumField() {
			is = is && plain(of.Field(i).Type)
		}
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.String, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
	default:
		is = true
	}
	plains[of] = is
	return is
}

var plains = map[reflect.Type]bool{}

// settled reports a type whose values lead to nothing that is written to later.
func settled(of reflect.Type) bool {
	if plain(of) || forms[of] != nil || of.Kind() == reflect.String {
		return true
	}
	return of.Kind() == reflect.Pointer && forms[of.Elem()] != nil
}
