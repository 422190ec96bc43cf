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

// AttachStagingDir opens the staging folder of an output that another process is writing,
// to write some of its chunks. That process holds the lock, and it alone creates,
// commits and removes what lies in the staging folder. A writer that is created with an
// attached staging folder fails with ErrNotStaged where that process has begun no such
// array. Its Sync makes durable what it wrote; Suspend and Abort close it and remove
// nothing; Commit is an error. dir is empty for the folder that NewStagingDir takes for the
// output; output is empty where the staging folder holds temporary arrays only. A process that may continue after the run has given it
// up calls Register.
func AttachStagingDir(dir, output string) (*StagingDir, error) {
	w := &StagingDir{Path: dir, attached: true}
	if output == "" {
		return w, nil
	}
	own, target, err := stagingPath(placeOf(output))
	if err != nil {
		return nil, PathError("open", output, err)
	}
	if w.target = target; dir == "" {
		w.Path = own
	}
	return w, nil
}

// StagingIn returns the path to give to NewStagingDir for an output: a path in folder where the output is in
// an object store, whose staging folder would be in the user's cache otherwise; else the output itself.
func StagingIn(folder, output string) string {
	if folder == "" || blob.PlaceOf(output).Files {
		return output
	}
	return filepath.Join(folder, filepath.Base(output)+"-"+digest(output)+filepath.Ext(output))
}

// Attached reports whether another process holds the staging folder.
func (w *StagingDir) Attached() bool { return w.attached }

// ErrNotStaged is returned for an array of an attached staging folder that its owner has
// not begun, or has begun with another shape, dtype or layout.
var ErrNotStaged = errors.New("the process that writes it has begun no such array: its run is over, or is another")

// ErrAttachedCommit is returned by Commit of a writer in an attached staging folder.
var ErrAttachedCommit = errors.New("only the process that began the array can commit it")

// Share says that from now on processes that are attached to the staging folder write the array too:
// Abort then assumes that a region was written even where this writer has not.
func Share(w store.Writer) {
	if s, ok := w.(interface{ Share() }); ok {
		s.Share()
	}
}
