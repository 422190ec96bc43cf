package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/storage/door"
	"github.com/gonbext/gonbext/oocore/store"
)

// nested is a Format whose arrays lie in groups, each of which comes into being with its
// first array.
type nested interface {
	// Holders returns the groups of this machine that hold the array, as far as they are
	// there.
	Holders(path string) []string
}

func init() {
	door.Storage = engine{}
}

// RegisterFirst registers a format that is asked before all others.
func RegisterFirst(f store.Format) { door.First = append(door.First, f) }

// RegisterLast registers a format that is asked where no other owns a path, before those that were registered so already. What it owns is
// seen from the name alone.
func RegisterLast(f store.Format) { door.Last = slices.Insert(door.Last, 0, any(f)) }

// engine is what package store has of this one.
type engine struct{}

func (engine) Open(ctx context.Context, path string) (store.Array, error) {
	return OpenContext(ctx, path)
}

func (engine) Create(path string, m store.Meta) (store.Writer, error) { return Create(path, m) }

func (engine) OpenExtent(ctx context.Context, path, file, format string, find func(r io.ReaderAt, size int64) (store.Extent, error)) (store.Array, error) {
	return OpenExtent(ctx, path, file, format, find)
}

// folders is a Format that also owns a folder for what is in it.
type folders interface {
	// OwnsName reports whether a path has the format's form, without a look at the file system.
	OwnsName(path string) bool
}

// nameFormat is formatOf for a path that is no folder, without a look at the file system.
func nameFormat(path string) store.Format {
	return format(func(f store.Format) bool {
		if f, ok := f.(folders); ok {
			return f.OwnsName(path)
		}
		return f.Owns(path)
	})
}

// formatOf returns the format that a path names. What is in a folder matters only where there is one: the system is asked once for all formats.
func formatOf(path string) store.Format {
	if path != "" && !leadsToFolder(path) {
		return nameFormat(path)
	}
	return format(func(f store.Format) bool { return path != "" && f.Owns(path) })
}

// leadsToFolder reports a folder of this machine, also where the path goes on behind it with a name or a query.
func leadsToFolder(path string) bool {
	if !blob.PlaceOf(path).Files {
		return false
	}
	for end := range len(path) + 1 {
		if end < len(path) && path[end] != '#' && path[end] != '?' {
			continue
		}
		if st, err := os.Stat(path[:end]); err == nil && st.IsDir() {
			return true
		}
	}
	return false
}

// format returns the first format that owns a path.
func format(owns func(store.Format) bool) store.Format {
	for _, all := range [][]any{door.First, door.Formats, door.Last} {
		for _, f := range all {
			if f := f.(store.Format); owns(f) {
				return f
			}
		}
	}
	return unnamed{}
}

// Named reports whether a path names a format.
func Named(path string) bool { return formatOf(path) != store.Format(unnamed{}) }

// byName reports whether a format is known from a name alone, which folders may have too.
func byName(f store.Format) bool {
	_, flat := flatOf(f)
	return flat || f == store.Format(unnamed{})
}

// LayoutOf returns how Create would lay an array out. It writes nothing.
func LayoutOf(path string, m store.Meta) (store.Layout, error) {
	l, err := formatOf(path).Layout(path, m)
	if err != nil {
		return store.Layout{}, PathError("create", path, err)
	}
	return l, nil
}

// noCodec rejects codecs where a format has none.
func noCodec(format string, m store.Meta) error {
	if m.Codec != "" && m.Codec != "none" {
		return fmt.Errorf("%s files are stored as they are: no codec %q", format, m.Codec)
	}
	if m.Shards != nil {
		return fmt.Errorf("%s files have no shards", format)
	}
	return nil
}

// Keeper is a Format that stores some of the details of arrays.
type Keeper interface {
	store.Format
	// Keeps returns an error that names the details which cannot be stored, or nil.
	Keeps(d store.Details) error
}

// Keeps returns an error that names the details of an array which cannot be stored at a path, or
// nil.
func Keeps(path string, d store.Details) error {
	var err error
	if k, ok := formatOf(path).(Keeper); ok {
		err = k.Keeps(d)
	} else if d.Dims != nil || d.Fill != "" || d.Attributes != nil {
		err = errors.New("its format stores neither dimension names nor a fill value nor attributes: save to NAME.zarr")
	}
	return PathError("create", path, err)
}
