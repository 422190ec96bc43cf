package carry

import (
	"bytes"
	"container/list"
	"context"
	"errors"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

type node struct {
	name     string
	next     *node
	children []*node
	marks    map[string]*node
}

type point struct{ X, y float64 }

type shape interface{ area() float64 }

type square struct{ side float64 }

func (s square) area() float64 { return s.side * s.side }

type pair[K comparable, V any] struct {
	key K
	val V
}

// carried keeps variables in one cell and loads them in another, to which it gives zero values of their types.
func carried(t *testing.T, held []reflect.Type, from []Variable, to ...Variable) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv(Folder, folder)
	loaded = nil
	t.Cleanup(func() { loaded = nil })
	Keep("a", Others{}, from...)
	sections, lost, ok := Read(folder, "a")
	if !ok || len(lost) > 0 {
		t.Fatalf("%v, lost %v", ok, lost)
	}
	loaded = nil
	for _, s := range sections {
		var variables []Variable
		for _, name := range s.Names {
			for _, v := range to {
				if v.name == name {
					variables = append(variables, v)
				}
			}
		}
		if len(s.Held) != len(held) {
			t.Fatalf("held %q, want %v", s.Held, held)
		}
		Load(s.File, s.At, held, variables...)
	}
	Keep("b", Others{})
	if _, _, again := Read(folder, "b"); again && from[0].of.Kind() != reflect.Map { // whose order is another each time
		t.Error("what is as it was is written again")
	}
}

// one carries one value.
func one[T any](t *testing.T, v T, held ...reflect.Type) (out T) {
	t.Helper()
	carried(t, held, []Variable{At("v", &v)}, At("v", &out))
	return out
}

func same[T any](t *testing.T, v T, held ...reflect.Type) {
	t.Helper()
	if out := one(t, v, held...); !reflect.DeepEqual(out, v) {
		t.Errorf("%T is %v, want %v", v, out, v)
	}
}

func TestValuesAreCarried(t *testing.T) {
	same(t, 3)
	same(t, "text é \x00")
	same(t, true)
	same(t, math.Pi)
	same(t, math.Inf(-1))
	same(t, complex(1, -2))
	same(t, [3]int8{1, 2, 3})
	same(t, []float32{1, 2, 3})
	same(t, []float32{})
	same(t, []float32(nil))
	same(t, [][]string{{"a"}, nil, {}})
	same(t, map[string]int{"a": 1, "b": 2})
	same(t, map[string]int(nil))
	same(t, map[[2]int][]string{{1, 2}: {"x"}})
	same(t, map[string]map[string]float64{"a": {"b": 1}})
	same(t, point{1, 2})
	same(t, &point{1, 2})
	same(t, []*point{{1, 2}, nil})
	same(t, struct {
		A int `json:"a"`
		b string
	}{1, "b"})
	same(t, pair[string, []int]{"k", []int{1}})
	same(t, struct{}{})
	same(t, []struct{}{{}, {}})
	same(t, new(int))
	same[any](t, nil)
	same[error](t, nil)
	same[any](t, 3, Type[int]())
	same[any](t, point{1, 2}, Type[point]())
	same[shape](t, square{3}, Type[square]())
	same[shape](t, &square{3}, Type[*square]())
	same(t, []any{1, "two", 3.0, []any{nil}}, Type[int](), Type[string](), Type[float64](), Type[[]any]())
	same(t, map[string]any{"a": 1}, Type[int]())
	same(t, []byte("bytes"))
	same(t, time.Duration(5))
	same(t, [2][]int{{1}, {2}})
	same(t, io.SeekEnd)
	same(t, *new([0]int))
	same(t, uintptr(7))
	same(t, &[]*[]int{{1}})
	same(t, sync.Mutex{})
}

func TestLibrariesValuesAreCarried(t *testing.T) {
	if out := one(t, big.NewInt(0).Exp(big.NewInt(7), big.NewInt(300), nil)); out.String() != big.NewInt(0).Exp(big.NewInt(7), big.NewInt(300), nil).String() {
		t.Error(out)
	}
	var b bytes.Buffer
	b.WriteString("buffer")
	if out := one(t, b); out.String() != "buffer" {
		t.Error(out.String())
	}
	re := regexp.MustCompile(`(\w+)@(\w+)`)
	if out := one(t, re); !out.MatchString("a@b") || out.MatchString("a-b") {
		t.Error("another pattern")
	}
	l := list.New()
	l.PushBack(1)
	l.PushBack(2)
	out := one(t, l, Type[int]())
	if out.Len() != 2 || out.Front().Value != 1 || out.Front().Next().Value != 2 || out.Back().Next() != nil {
		t.Error("another list")
	}
	var w strings.Builder
	w.WriteString("begun")
	folder := t.TempDir()
	t.Setenv(Folder, folder)
	loaded = nil
	Keep("a", Others{}, At("w", &w))
	sections, lost, _ := Read(folder, "a")
	var later strings.Builder
	if len(lost) > 0 {
		t.Fatal(lost)
	}
	Load(sections[0].File, sections[0].At, nil, At("w", &later))
	later.WriteString(" and ended") // which panics in a copy
	if later.String() != "begun and ended" {
		t.Error(later.String())
	}
}

func TestTimesAreCarried(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	for _, v := range []time.Time{{}, time.Unix(1, 2), time.Unix(1, 2).UTC(), time.Date(2001, 2, 3, 4, 5, 6, 7, berlin), time.Now()} {
		out := one(t, v)
		if !out.Equal(v) || out.Location().String() != v.Location().String() || out.Format(time.RFC3339Nano) != v.Format(time.RFC3339Nano) {
			t.Errorf("%v is %v", v, out)
		}
	}
	if out := one(t, time.Now()); strings.Contains(out.String(), "m=") {
		t.Error("the reading of this process's clock is carried")
	}
	if out := one(t, time.Local); out != time.Local {
		t.Error("there are two local zones")
	}
}

func TestSharedMemoryIsSharedAgain(t *testing.T) {
	x := 3
	p := &x
	all := [6]int{0, 1, 2, 3, 4, 5}
	left, right := all[0:3:4], all[2:6]
	s := struct {
		A, B int
		self *int
	}{A: 1, B: 2}
	s.self = &s.B
	a := &node{name: "a"}
	b := &node{name: "b", next: a, children: []*node{a}}
	a.next, a.marks = b, map[string]*node{"b": b}
	m := map[string]int{"k": 1}
	m2 := m
	var cycle any
	cycle = &cycle

	var x1 int
	var p1 *int
	var all1 [6]int
	var left1, right1 []int
	s1 := s
	s1.A, s1.B, s1.self = 0, 0, nil
	var a1, b1 *node
	var m1, m21 map[string]int
	var cycle1 any
	folder := t.TempDir()
	t.Setenv(Folder, folder)
	loaded = nil
	Keep("a", Others{}, At("x", &x), At("p", &p), At("all", &all), At("left", &left), At("right", &right), At("s", &s), At("a", &a), At("b", &b), At("m", &m), At("m2", &m2), At("cycle", &cycle))
	sections, lost, _ := Read(folder, "a")
	if len(lost) > 0 || len(sections) != 6 {
		t.Fatalf("%d sections, lost %v", len(sections), lost)
	}
	to := []Variable{At("x", &x1), At("p", &p1), At("all", &all1), At("left", &left1), At("right", &right1), At("s", &s1), At("a", &a1), At("b", &b1), At("m", &m1), At("m2", &m21), At("cycle", &cycle1)}
	for _, s := range sections {
		var variables []Variable
		var held []reflect.Type
		for _, name := range s.Names {
			for _, v := range to {
				if v.name == name {
					variables = append(variables, v)
				}
			}
			if name == "cycle" {
				held = append(held, Type[*any]())
			}
		}
		Load(s.File, s.At, held, variables...)
	}
	if *p1 = 5; x1 != 5 {
		t.Error("a pointer leads elsewhere")
	}
	if all1 != all || len(left1) != 3 || cap(left1) != 4 || len(right1) != 4 {
		t.Error(all1, left1, right1)
	}
	if left1 = append(left1, 9); all1[3] != 9 || right1[1] != 9 {
		t.Error("slices of one array are of several")
	}
	if *s1.self = 7; s1.B != 7 || s1.A != 1 {
		t.Error("a pointer to a struct's own field leads elsewhere")
	}
	if a1.next != b1 || b1.next != a1 || b1.children[0] != a1 || a1.marks["b"] != b1 || a1.name != "a" {
		t.Error("a cycle does not close")
	}
	if m1["k"] = 2; m21["k"] != 2 {
		t.Error("one map is two")
	}
	if p, ok := cycle1.(*any); !ok || *p != cycle1 {
		t.Error("an interface that holds itself does not")
	}
}

func TestALongListIsCarried(t *testing.T) {
	var first *node
	for range 200_000 {
		first = &node{next: first}
	}
	n := 0
	for at := one(t, first); at != nil; at = at.next {
		n++
	}
	if n != 200_000 {
		t.Errorf("%d elements", n)
	}
}

type hidden struct{ err error }

func init() { ofCells = reflect.TypeFor[node]().PkgPath() }

func TestWhatHasNoMeaningElsewhereIsLost(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	type local struct{ A int }
	folder := t.TempDir()
	t.Setenv(Folder, folder)
	loaded = nil
	c, f, ctx, wrapped, opened, in := make(chan int), func() {}, context.Background(), errors.New("e"), file, hidden{errors.New("e")}
	large := make([]byte, Limit+1)
	fine, timer := 1, time.NewTimer(time.Hour)
	defer timer.Stop()
	nested := map[string][]any{"a": {c}}
	Keep("a", Others{}, At("c", &c), At("f", &f), At("ctx", &ctx), At("wrapped", &wrapped), At("opened", &opened), At("in", &in), At("large", &large), At("fine", &fine), At("timer", &timer), At("nested", &nested))
	sections, lost, _ := Read(folder, "a")
	why := map[string]Lost{}
	for _, l := range lost {
		why[l.Name] = l
	}
	if len(sections) != 1 || sections[0].Names[0] != "fine" || len(why) != 9 {
		t.Errorf("kept %v, lost %v", sections, lost)
	}
	for name, want := range map[string]string{"c": "chan int", "f": "func()", "ctx": `"context".Context`, "opened": `*"os".File`} {
		if why[name].Type != want {
			t.Errorf("%s is %s, want %s", name, why[name].Type, want)
		}
	}
	if !strings.Contains(why["large"].Why, "256 MiB") {
		t.Error(why["large"].Why)
	}
	if out := one(t, os.Stdout); out != os.Stdout {
		t.Error("os.Stdout is another")
	}
	_ = local{}
}

func TestOfIsTheValueOfNow(t *testing.T) {
	v, out := 1, 0
	was := Of("v", v)
	v = 2
	carried(t, nil, []Variable{was}, At("v", &out))
	if out != 1 {
		t.Error(out)
	}
}

// A section that is cut short, changed, gone, or of another type is an error and no value.
func TestOtherFilesAreRejected(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(Folder, folder)
	loaded = nil
	v := []string{"a", "b"}
	Keep("a", Others{}, At("v", &v))
	file := filepath.Join(folder, "a.values")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
	try := func(b []byte, to ...Variable) error {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return (&section{file, 0, to}).load(nil)
	}
	var out []string
	if err := try(whole, At("v", &out)); err != nil || !reflect.DeepEqual(out, v) {
		t.Fatal(err, out)
	}
	for i := range whole {
		changed := bytes.Clone(whole)
		changed[i] ^= 0x40
		if try(changed, At("v", &out)) == nil {
			t.Errorf("byte %d may be any", i)
		}
		if try(whole[:i], At("v", &out)) == nil {
			t.Errorf("%d bytes are enough", i)
		}
	}
	var other []int
	if err := try(whole, At("v", &other)); err == nil || !strings.Contains(err.Error(), "type has changed") {
		t.Error(err)
	}
	os.Remove(file)
	if err := (&section{file, 0, nil}).load(nil); !errors.Is(err, errNotCarried) {
		t.Error(err)
	}
}

func TestTypesInWords(t *testing.T) {
	for want, of := range map[string]reflect.Type{
		"int": Type[int](), "[]string": Type[[]string](), "map[string][3]*int": Type[map[string][3]*int](), "any": Type[any](), "error": Type[error](),
		`"time".Time`: Type[time.Time](), `*"math/big".Int`: Type[*big.Int](), `struct{A int "json:\"a\""; B []bool}`: reflect.TypeOf(struct {
			A int `json:"a"`
			B []bool
		}{}),
	} {
		if got, err := text(of); err != nil || got != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	if got, err := text(reflect.TypeOf(errors.New("x"))); err == nil {
		t.Errorf("an unexported type of another package is %s", got)
	}
}

// left keeps variables beside others, and returns why those were not kept that were not.
func left(t *testing.T, others Others, variables ...Variable) (kept []string, why map[string]string) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv(Folder, folder)
	loaded = nil
	Keep("a", others, variables...)
	sections, lost, _ := Read(folder, "a")
	for _, s := range sections {
		kept = append(kept, s.Names...)
	}
	why = map[string]string{}
	for _, l := range lost {
		why[l.Name] = l.Why
	}
	return kept, why
}

// The limit is of all values of a notebook, and memory that several variables lead to counts once.
func TestLimitIsOfAllValues(t *testing.T) {
	first, second, small := make([]byte, 2<<20), make([]byte, 3<<20), 1
	kept, why := left(t, Others{Limit - 3<<20, "big", 200 << 20}, At("first", &first), At("second", &second), At("small", &small))
	if !reflect.DeepEqual(kept, []string{"first", "small"}) {
		t.Error(kept, why)
	}
	if want := "with its 3 MiB the notebook's values would take 258 MiB, and they are carried up to 256 MiB in all; big takes most of them, 200 MiB: save one to a file, or forget it with %rm"; why["second"] != want {
		t.Errorf("%s\nwant %s", why["second"], want)
	}
	part := second[1<<20:]
	if kept, why = left(t, Others{Bytes: Limit - 4<<20}, At("second", &second), At("part", &part)); len(kept) != 2 {
		t.Error(why)
	}
}

// What a goroutine that still runs may write to is not read, as a map that is written meanwhile would end the program.
func TestWhatAGoroutineWritesIsLost(t *testing.T) {
	m, n, text, at := map[int]int{}, 3, "text", time.Now()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				m[i%1000] = i
			}
		}
	}()
	time.Sleep(time.Millisecond)
	for range 20 {
		kept, why := left(t, Others{}, At("m", &m), At("n", &n), At("text", &text), At("at", &at))
		if !reflect.DeepEqual(kept, []string{"n", "text", "at"}) || !strings.HasPrefix(why["m"], "a goroutine of its cell still ran") {
			t.Fatal(kept, why)
		}
	}
	close(stop)
	<-stopped
	for othersRun() {
		time.Sleep(time.Millisecond) // until it has ended
	}
	if out := one(t, m); !reflect.DeepEqual(out, m) {
		t.Error("another map")
	}
}

func TestAMapOfAMillionIsCarried(t *testing.T) {
	m := map[int]float64{}
	for i := range 1_000_000 {
		m[i] = float64(i) / 3
	}
	if out := one(t, m); !reflect.DeepEqual(out, m) {
		t.Error("another map")
	}
}

// Before values are loaded the cell is asked whether it has room for them.
func TestRoomIsAskedFor(t *testing.T) {
	asked, bytes := "", int64(0)
	Room = func(names string, n int64) { asked, bytes = names, n }
	defer func() { Room = func(string, int64) {} }()
	if one(t, make([]byte, 3<<20)); asked != "v" || bytes < 3<<20 || bytes > 3<<20+1000 {
		t.Error(asked, bytes)
	}
}
