package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// Format is a kind of stored arrays, known by the form of its paths.
type Format interface {
	// Owns reports whether a path has the format's form. It may look at the file or folder.
	Owns(path string) bool
	// Open opens an array and reads no more than its header. The end of ctx ends waiting
	// for a server.
	Open(ctx context.Context, path string) (Array, error)
	// Layout returns how Create(path, m) would lay an array out. It writes nothing.
	Layout(path string, m Meta) (Layout, error)
	// Create begins a new array, or the writing of a region.
	Create(path string, m Meta) (Writer, error)
	// Place returns the file or folder, of this machine or an object store, that holds the
	// array: the path without what selects or describes it. For an array that lies in none the
	// Version of its Info().ID tells whether it has changed; without that it counts as changed.
	Place(path string) string
}

// nested is a Format whose arrays lie in groups, each of which comes into being with its
// first array.
type nested interface {
	// Holders returns the groups of this machine that hold the array, as far as they are
	// there.
	Holders(path string) []string
}

// formats are asked in order; npy and raw files, and stacks of any, are this package's
// own.
var formats = []Format{stackFormat{}}

// Register makes a format known, before any array is opened: packages call it as
// they are loaded. Nil is none.
func Register(f Format) {
	if f != nil {
		formats = append(formats, f)
	}
}

// folders is a Format that also owns a folder for what is in it.
type folders interface {
	// OwnsName reports whether a path has the format's form, without a look at the file system.
	OwnsName(path string) bool
}

// nameFormat is formatOf for a path that is no folder, without a look at the file system.
func nameFormat(path string) Format {
	for _, f := range formats {
		owns := f.Owns
		if f, ok := f.(folders); ok {
			owns = f.OwnsName
		}
		if owns(path) {
			return f
		}
	}
	return flatFormat{}
}

// formatOf returns the format that a path names.
func formatOf(path string) Format {
	for _, f := range formats {
		if path != "" && f.Owns(path) {
			return f
		}
	}
	return flatFormat{}
}

// LayoutOf returns how Create would lay an array out. It writes nothing.
func LayoutOf(path string, m Meta) (Layout, error) {
	l, err := formatOf(path).Layout(path, m)
	if err != nil {
		return Layout{}, pathError("create", path, err)
	}
	return l, nil
}

// noCodec rejects codecs where a format has none.
func noCodec(format string, m Meta) error {
	if m.Codec != "" && m.Codec != "none" {
		return fmt.Errorf("%s files are stored as they are: no codec %q", format, m.Codec)
	}
	if m.Shards != nil {
		return fmt.Errorf("%s files have no shards", format)
	}
	return nil
}

// ReadOnly is embedded by a Format whose arrays cannot be written. Its text says why.
type ReadOnly string

// Error returns the text.
func (r ReadOnly) Error() string { return cmp.Or(string(r), "the format is not written") }

// Layout returns the reason.
func (r ReadOnly) Layout(string, Meta) (Layout, error) { return Layout{}, r }

// Create returns the reason.
func (r ReadOnly) Create(string, Meta) (Writer, error) { return nil, r }

// Keeper is a Format that stores some of the details of arrays.
type Keeper interface {
	Format
	// Keeps returns an error that names the details which cannot be stored, or nil.
	Keeps(d Details) error
}

// Keeps returns an error that names the details of an array which cannot be stored at a path, or
// nil.
func Keeps(path string, d Details) error {
	var err error
	if k, ok := formatOf(path).(Keeper); ok {
		err = k.Keeps(d)
	} else if d.Dims != nil || d.Fill != "" || d.Attributes != nil {
		err = errors.New("its format stores neither dimension names nor a fill value nor attributes: save to NAME.zarr")
	}
	return pathError("create", path, err)
}
