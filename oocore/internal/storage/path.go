package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	slashed "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/store"
)

// Absolute returns the absolute form of a path. An object store's address is absolute already.
func Absolute(path string) (string, error) {
	if !blob.PlaceOf(path).Files {
		return path, nil
	}
	return filepath.Abs(path)
}

// placeOf returns where the array of a path lies, with what the store there can do.
func placeOf(path string) blob.Place { return blob.PlaceOf(formatOf(path).Place(path)) }

// Place returns the file or folder of this machine that a path's array is written to, from any
// folder and with links followed, or its address in an object store. Several arrays may have
// one.
func Place(path string) (string, error) {
	place := placeOf(path)
	if !place.Files {
		return place.Path, nil
	}
	target, err := followed(place.Path)
	if err != nil {
		return "", PathError("create", path, err)
	}
	return filepath.Abs(target)
}

// unnamed is the Format of paths that no other owns: it says why.
type unnamed struct{}

func (unnamed) Owns(string) bool { return true }

// Place returns the file of a path, in which # may stand before an array of it.
func (unnamed) Place(path string) string {
	file := Extensions(nil).Place(path)
	if file == path {
		return path
	}
	if st, err := os.Stat(file); !blob.PlaceOf(file).Files || err == nil && st.Mode().IsRegular() {
		return file
	}
	return path
}

func (unnamed) Open(ctx context.Context, path string) (store.Array, error) {
	folder, name, _ := strings.Cut(path, "#")
	if st, err := os.Stat(folder); err != nil || !st.IsDir() || !blob.PlaceOf(folder).Files {
		return nil, unnamedError(path)
	}
	if file := Checkpoint(folder); file != "" && name != "" {
		return nil, fmt.Errorf("a tensor is named behind the file that has it, or the index of the files: name %s#%s", file, name)
	}
	if _, err := folderMembers(ctx, folder); err != nil {
		return nil, err
	}
	return nil, unnamedError(path)
}

func (unnamed) Coordinates(array, dim string) []string {
	return Extensions(nil).Coordinates(array, dim)
}

func (unnamed) Layout(path string, _ store.Meta) (store.Layout, error) {
	if err := packedError(path); err != nil {
		return store.Layout{}, err
	}
	if adapter := adapters[strings.ToLower(filepath.Ext(path))]; adapter == "csv" || adapter == "arrow" {
		return store.Layout{}, fmt.Errorf("a %s file is written as a whole, by gonbext convert or by Write of package oocore/adapters/%s", filepath.Ext(path), adapter)
	} else if adapter != "" {
		return store.Layout{}, fmt.Errorf("%s files are only read: save to NAME.npy, NAME.zarr, or another format that is written", filepath.Ext(path))
	}
	return store.Layout{}, unnamedError(path)
}

func (f unnamed) Create(path string, m store.Meta) (store.Writer, error) {
	_, err := f.Layout(path, m)
	return nil, err
}

// unnamedError says why a path names no format.
func unnamedError(path string) error {
	if err := checkUnpacked(path); err != nil {
		return err
	}
	ext := strings.ToLower(filepath.Ext(strings.SplitN(path, "#", 2)[0]))
	if adapter := adapters[ext]; adapter != "" {
		return adapterError{ext[1:], adapter}
	}
	if err := misnamed(path); err != nil {
		return err
	}
	if file := (unnamed{}).Place(path); path != "" && isFile(file) {
		switch end := packedEnd(file); end {
		case "":
		case ".zip":
			return errors.New("it is a zip archive that is cut short, or whose first member is no array: one that is a store of Zarr is read where its name ends in .zarr.zip")
		default:
			return fmt.Errorf("its first bytes are those of a file packed by %s, which is read where its name says so: let the name end in %s", packers[end][0], end)
		}
		return fmt.Errorf("neither the name nor the first bytes, which were compared with those of %s, say the format: where it holds bare elements, add ?shape=10,20&dtype=float32", knownContents())
	}
	return errors.New("the name does not say the format: use NAME.npy or NAME.bin?shape=10,20&dtype=float32, NAME.zarr, NAME.npz#array or NAME.safetensors#tensor")
}

// misnamed returns an error that says how an array is named, where its name stands behind that of
// what holds it in the way of another format.
func misnamed(path string) error {
	if file, name, ok := strings.Cut(path, "#"); ok {
		switch filepath.Ext(file) {
		case ".zarr", ".n5":
			return fmt.Errorf("an array of a group is named behind a slash: name %s/%s", file, name)
		}
		return nil
	}
	for file := filepath.Dir(path); file != filepath.Dir(file); file = filepath.Dir(file) {
		if st, err := os.Stat(file); err == nil {
			if st.Mode().IsRegular() && Named(file) {
				return fmt.Errorf("%s is a file, whose arrays are named behind #: name %s#%s", filepath.Base(file), file, filepath.ToSlash(path[len(file)+1:]))
			}
			return nil
		}
	}
	return nil
}

// adapterError is of a file whose format is in a package that is not linked.
type adapterError struct{ format, adapter string }

func (e adapterError) Error() string {
	return fmt.Sprintf("%s files need a package: import _ %q", e.format, "github.com/gonbext/gonbext/oocore/adapters/"+e.adapter)
}

// CommandText says the same to whoever calls a command, which imports nothing.
func (e adapterError) CommandText() string {
	return e.format + " files are not read by this program: write the picture as a .npy file, by numpy.save, and name that"
}

// packers are programs that pack a file as a whole, and the commands that unpack what each has
// packed, by the extensions of these.
var packers = map[string][2]string{".gz": {"gzip", "gunzip -k"}, ".bz2": {"bzip2", "bunzip2 -k"}, ".xz": {"xz", "unxz -k"}, ".zst": {"zstd", "unzstd"}, ".fz": {"fpack", "funpack"}}

// checkUnpacked rejects the name of a packed file, in which nothing was found.
func checkUnpacked(path string) error {
	file, _, _ := CutQuery(path)
	for _, file := range []string{file, strings.SplitN(file, "#", 2)[0]} {
		end := filepath.Ext(file)
		if by, ok := packers[strings.ToLower(end)]; ok {
			if packings[strings.ToLower(end)].sign != "" {
				if err := checkPacked(file); err != nil {
					return err
				}
			}
			return fmt.Errorf("the name is that of a file packed by %s, in which no array can be read: unpack it first (%s %s), and name %s",
				by[0], by[1], filepath.Base(file), strings.TrimSuffix(filepath.Base(file), end))
		}
	}
	return nil
}

// adapters are the packages of oocore/adapters that register formats, by the extensions of these.
var adapters = map[string]string{".png": "images", ".jpg": "images", ".jpeg": "images", ".parquet": "arrow", ".csv": "csv", ".tsv": "csv"}

// ExistingFolder returns the folder of an output, or the nearest one above it that exists. For an output in
// an object store it is the folder of temporary files.
func ExistingFolder(output string) string {
	if !blob.PlaceOf(output).Files {
		return os.TempDir()
	}
	dir := filepath.Dir(output)
	for dir != filepath.Dir(dir) {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// CutQuery finds what describes a raw file. Where what follows the question mark
// says something else, and ends as files do, it belongs to the name.
func CutQuery(path string) (file, query string, ok bool) {
	i := strings.LastIndexByte(path, '?')
	if i < 0 {
		return path, "", false
	}
	file, query = path[:i], path[i+1:]
	key, _, ok := strings.Cut(query, "=")
	describes := slices.Contains([]string{"shape", "dtype", "offset", "stride", "order"}, key)
	if !ok || strings.Contains(query, "/") || !describes && slices.Contains([]string{".npy", ".bin", ".raw"}, strings.ToLower(filepath.Ext(path))) {
		return path, "", false
	}
	return file, query, true
}

// isFile reports a regular file.
func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// Beside returns the path of a file by its name in the folder of another one, which it may not leave.
func Beside(file, name string) (string, error) {
	inner := slashed.Clean(filepath.ToSlash(name))
	switch {
	case !filepath.IsLocal(inner):
		return "", fmt.Errorf("%.80q leads out of the folder of %s", name, file)
	case !blob.PlaceOf(file).Files:
		return file[:strings.LastIndexByte(file, '/')+1] + inner, nil
	}
	return filepath.Join(filepath.Dir(file), filepath.FromSlash(inner)), nil
}
