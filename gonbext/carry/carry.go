// Package carry is what the kernel's cells are compiled with, so that values carry over from cell to cell:
// the program that the kernel makes of a cell loads what the cell mentions of earlier cells, and keeps what it
// declares. Programs have no use for it.
//
// A value is kept as memory: numbers, strings, structs with all their fields, and what pointers, slices and maps
// lead to, each allocation once, so that what was shared is shared again, and cycles close. What has no meaning
// in another process, such as a channel, a function or an open file, is left out, with the reason.
package carry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// Folder is the environment variable that names the folder of a kernel's values. Without it nothing is kept.
const Folder = "GONBEXT_CARRIED"

// Limit is the most bytes that are kept of all variables of a kernel.
const Limit = 256 << 20

// Room is called before values are loaded, with their names and their bytes. Package gonbext ends a cell there whose
// budget they do not fit into.
var Room = func(names string, bytes int64) {}

// Variable is a variable of a cell.
type Variable struct {
	name string
	at   unsafe.Pointer
	of   reflect.Type
}

// At is a variable at its address, which other values may have.
func At[T any](name string, p *T) Variable {
	return Variable{name, unsafe.Pointer(p), reflect.TypeFor[T]()}
}

// Of is a variable whose address nothing has: the value that it has now.
func Of[T any](name string, v T) Variable { return At(name, &v) }

// Type is a type that values in interfaces have.
func Type[T any]() reflect.Type { return reflect.TypeFor[T]() }

// Held are types that the interfaces of a section hold.
func Held(types ...reflect.Type) []reflect.Type { return types }

// loaded are what the cell has loaded.
var loaded []*section

// Load reads a section of a file into its variables, in the file's order. Without them the cell cannot run: an
// error ends the program.
func Load(file string, at int64, held []reflect.Type, variables ...Variable) {
	s := &section{filepath.Join(os.Getenv(Folder), filepath.Base(file)), at, variables}
	if err := s.load(held); err != nil {
		fmt.Fprintf(os.Stderr, "%s, of an earlier cell: %v\n", s.names(), err)
		os.Exit(1)
	}
	loaded = append(loaded, s)
}

// Others is what is kept of variables that a cell neither declares nor loads: the bytes of all, and the one that
// takes most.
type Others struct {
	Bytes int64
	Name  string
	Most  int64
}

// Keep writes the variables that a cell declares, and those that it has loaded and does not declare anew. It is
// called where the cell ends. What was loaded and is as it was is not written again.
func Keep(cell string, others Others, declared ...Variable) {
	folder := os.Getenv(Folder)
	if folder == "" {
		return
	}
	all := slices.Clone(declared)
	for _, s := range loaded {
		for _, v := range s.variables {
			if !slices.ContainsFunc(declared, func(d Variable) bool { return d.name == v.name }) {
				all = append(all, v)
			}
		}
	}
	if len(all) > 0 {
		if err := write(folder, cell, others, all); err != nil {
			fmt.Fprintf(os.Stderr, "the values of this cell are not carried to others: %v\n", err)
		}
	}
	runtime.KeepAlive(all)
}

// tooLarge is the error of bytes for which others leave no room.
func (o Others) tooLarge(bytes int64) error {
	if bytes > Limit {
		return fmt.Errorf("it takes more than %s, up to which a notebook's values are carried: save it to a file", mebibytes(Limit))
	}
	return fmt.Errorf("with its %s the notebook's values would take %s, and they are carried up to %s in all; %s takes most of them, %s: save one to a file, or forget it with %%rm",
		mebibytes(bytes), mebibytes(o.Bytes+bytes), mebibytes(Limit), o.Name, mebibytes(o.Most))
}

// mebibytes writes bytes without package units, which every cell would have to link.
func mebibytes(n int64) string { return strconv.FormatFloat(float64(n)/(1<<20), 'g', 3, 64) + " MiB" }

// errRunning is the error of what another goroutine may write to while it is read. A map that is written meanwhile
// would end the program.
var errRunning = errors.New("a goroutine of its cell still ran when the cell ended, and may write to it: wait for it there, as with a sync.WaitGroup")

// othersRun reports whether goroutines of cells' own functions run beside this one.
func othersRun() bool {
	if runtime.NumGoroutine() == 1 {
		return false
	}
	text := make([]byte, 1<<20)
	_, others, _ := strings.Cut(string(text[:runtime.Stack(text, true)]), "\n\n")
	return strings.Contains(others, "\n"+ofCells+".") || strings.Contains(others, "created by "+ofCells+".")
}
