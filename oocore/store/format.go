package store

import "fmt"

// Format is a kind of stored arrays, known by the form of its paths.
type Format interface {
	// Owns reports a path of the format's form. It may look at what is there.
	Owns(path string) bool
	// Open opens an array and reads no more than its header.
	Open(path string) (Array, error)
	// Layout is how Create(path, m) would lay an array out. It touches nothing.
	Layout(path string, m Meta) (Layout, error)
	// Create begins a new array, or the writing of a region.
	Create(path string, m Meta) (Writer, error)
	// Place is the file or folder, of this machine or an object store, that holds the
	// array: the path without what selects or describes it.
	Place(path string) string
}

// formats are asked in order; npy and raw files are this package's own.
var formats []Format

// Register makes a format known, before any array is opened: packages call it as
// they are loaded.
func Register(f Format) { formats = append(formats, f) }

// formatOf is the format that a path names.
func formatOf(path string) Format {
	for _, f := range formats {
		if f.Owns(path) {
			return f
		}
	}
	return flatFormat{}
}

// LayoutOf is how Create would lay an array out. It touches nothing.
func LayoutOf(path string, m Meta) (Layout, error) {
	l, err := formatOf(path).Layout(path, m)
	if err != nil {
		return Layout{}, pathError("create", path, err)
	}
	return l, nil
}

// noCodec refuses codecs where a format has none.
func noCodec(format string, m Meta) error {
	if m.Codec != "" && m.Codec != "none" {
		return fmt.Errorf("%s files are stored as they are: no codec %q", format, m.Codec)
	}
	if m.Shards != nil {
		return fmt.Errorf("%s files have no shards", format)
	}
	return nil
}
