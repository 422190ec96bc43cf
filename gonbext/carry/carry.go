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
	"strings"
	"unsafe"
)

// Folder is the environment variable that names the folder of a kernel's values. Without it nothing is kept.
const Folder = "GONBEXT_CARRIED"

// Limit is the most bytes that are kept of a variable and what it leads to.
const Limit = 256 << 20

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
		names := make([]string, len(variables))
		for i, v := range variables {
			names[i] = v.name
		}
		fmt.Fprintf(os.Stderr, "%s, of an earlier cell: %v\n", strings.Join(names, ", "), err)
		os.Exit(1)
	}
	loaded = append(loaded, s)
}

// Keep writes the variables that a cell declares, and those that it has loaded and does not declare anew. It is
// called where the cell ends. What was loaded and is as it was is not written again.
func Keep(cell string, declared ...Variable) {
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
		if err := write(folder, cell, all); err != nil {
			fmt.Fprintf(os.Stderr, "the values of this cell are not carried to others: %v\n", err)
		}
	}
	runtime.KeepAlive(all)
}

// errTooLarge is the error of what is larger than Limit.
var errTooLarge = errors.New("it takes more than the 256 MiB that are carried: save it to a file")
