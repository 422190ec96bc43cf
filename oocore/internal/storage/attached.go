package storage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/store"
)

// attachment is an array of the program that Open finds by a path, for as long as an Info of it is in use.
type attachment struct{ array store.Array }

var (
	attachments   sync.Map // of weak.Pointer[attachment], by their paths
	attachedCount atomic.Int64
)

const attachedScheme = "array:"

func init() { store.Register(attachedFormat{"an array of the program is not written"}) }

// Attach returns the Info of an array that the program has made, with a path by which Open finds it while that
// Info, or a copy of it, is in use. Closing what Open returns does not close the array.
func Attach(a store.Array) store.Info {
	if a == nil {
		return store.Info{}
	}
	info := a.Info()
	held := &attachment{a}
	name := strings.NewReplacer("/", "_", "?", "_", "#", "_").Replace(filepath.Base(info.Path))
	info.Path = fmt.Sprintf("%s%d:%s", attachedScheme, attachedCount.Add(1), name)
	info.Keep = held
	attachments.Store(info.Path, weak.Make(held))
	runtime.AddCleanup(held, func(path string) { attachments.Delete(path) }, info.Path)
	return info
}

// InProcess reports whether a path has a meaning in this process only.
func InProcess(path string) bool {
	return strings.HasPrefix(path, attachedScheme) || blob.InProcess(path)
}

type attachedFormat struct{ store.ReadOnly }

func (attachedFormat) Owns(path string) bool    { return strings.HasPrefix(path, attachedScheme) }
func (attachedFormat) Place(path string) string { return path }

func (attachedFormat) Open(_ context.Context, path string) (store.Array, error) {
	w, _ := attachments.Load(path)
	p, _ := w.(weak.Pointer[attachment])
	held := p.Value()
	if held == nil {
		return nil, errors.New("the program has no array of this name any more")
	}
	a := attachedArray{held.array, path, held}
	if c, ok := held.array.(Coded); ok {
		return attachedCoded{a, c}, nil
	}
	if r, ok := held.array.(Reshaper); ok {
		return attachedReshaper{a, r}, nil
	}
	return a, nil
}

// attachedArray is an attached array, which the program closes.
type attachedArray struct {
	store.Array
	path string
	held *attachment
}

func (a attachedArray) Info() store.Info {
	info := a.Array.Info()
	info.Path, info.Keep = a.path, a.held
	return info
}

func (attachedArray) Close() error { return nil }

// attachedCoded is an attachedArray that decodes what it reads.
type attachedCoded struct {
	attachedArray
	coded Coded
}

func (a attachedCoded) Session(work []byte) (store.Session, error) { return a.coded.Session(work) }

// attachedReshaper is an attachedArray that can be read in another shape.
type attachedReshaper struct {
	attachedArray
	reshaper Reshaper
}

func (a attachedReshaper) Reshape(shape []int) (store.Array, error) { return a.reshaper.Reshape(shape) }
