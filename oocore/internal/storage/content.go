package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/store"
)

// contents are formats that are known by the first bytes of a file, whatever its name is, each with an extension of its files.
var contents = []struct {
	name, extension string
	matches         func(first []byte) bool
}{
	{"HDF5", ".h5", func(b []byte) bool {
		const signature = "\x89HDF\r\n\x1a\n" // behind a block of the user's, too
		for at := 0; at < len(b); at = max(512, 2*at) {
			if bytes.HasPrefix(b[at:], []byte(signature)) {
				return true
			}
		}
		return false
	}},
	{"NetCDF", ".cdf", beginsWith("CDF")},
	{"TIFF", ".tif", beginsWith("II*\x00", "MM\x00*", "II+\x00", "MM\x00+")},
	{"FITS", ".fits", beginsWith("SIMPLE  =")},
	{"NIfTI", ".nii", func(b []byte) bool {
		return len(b) > 348 && (string(b[344:348]) == "n+1\x00" || string(b[4:8]) == "n+2\x00")
	}},
	{"npy", ".npy", beginsWith("\x93NUMPY")},
	{"npz", ".npz", func(b []byte) bool { // a zip archive whose first member is npy
		return len(b) > 30 && string(b[:4]) == "PK\x03\x04" && bytes.HasSuffix(b[30:min(len(b), 30+int(binary.LittleEndian.Uint16(b[26:])))], []byte(".npy"))
	}},
	{"PyTorch", ".pt", func(b []byte) bool { // a zip archive whose first member is a pickle, or the number that files had before 1.6
		const old = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
		return bytes.HasPrefix(b, []byte(old)) ||
			len(b) > 30 && string(b[:4]) == "PK\x03\x04" && bytes.HasSuffix(b[30:min(len(b), 30+int(binary.LittleEndian.Uint16(b[26:])))], []byte("/data.pkl"))
	}},
	{"GGUF", ".gguf", beginsWith("GGUF")},
	{"safetensors", ".safetensors", func(b []byte) bool {
		return len(b) > 10 && binary.LittleEndian.Uint64(b) < 1<<32 && b[8] == '{' && (b[9] == '"' || b[9] == '}')
	}},
}

// contentBytes are those of the beginning of a file that are looked at.
const contentBytes = 4096 + 8

func beginsWith(signs ...string) func([]byte) bool {
	return func(b []byte) bool {
		return slices.ContainsFunc(signs, func(sign string) bool { return bytes.HasPrefix(b, []byte(sign)) })
	}
}

// knownContents lists the formats that are known by content.
func knownContents() string {
	names := make([]string, len(contents))
	for i, c := range contents {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// reading reads a path by the format f that its name says. Where that fails, and the first bytes of the file are of another format, it reads by that.
func reading[T any](ctx context.Context, f store.Format, path string, read func(store.Format) (T, error)) (T, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	v, err := read(f)
	_, is := f.(unnamed)
	if is && !blob.PlaceOf(path).Files { // an error that needs no server
		return v, err
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return v, err
	}
	if g := contentOf(ctx, f.Place(path)); g != nil && reflect.TypeOf(f) != reflect.TypeOf(g) {
		return read(g)
	}
	return v, err
}

// contentOf returns the format of a file by its first bytes, or nil.
func contentOf(ctx context.Context, file string) store.Format {
	o, id, first, p, err := openHead(ctx, file)
	if err != nil {
		return nil
	}
	b := make([]byte, contentBytes)
	if p == nil {
		b = b[:min(id.Size, contentBytes)]
	}
	n, err := first.ReadAt(b, 0)
	if o.Close() != nil || err != nil && err != io.EOF {
		return nil
	}
	b = b[:n]
	for _, c := range contents {
		if !c.matches(b) || p != nil && (c.name == "npz" || c.name == "PyTorch") { // which are packed themselves
			continue
		}
		f := nameFormat("x" + c.extension)
		if _, unknown := f.(unnamed); unknown {
			break // the program does not have it
		}
		return f
	}
	return nil
}
