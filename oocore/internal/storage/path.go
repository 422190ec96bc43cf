package storage

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

const (
	formatNpy = "npy"
	formatRaw = "raw"
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
		return "", pathError("create", path, err)
	}
	return filepath.Abs(target)
}

// location has the parts of a path.
type location struct {
	file   string
	format string
	raw    rawQuery
}

// rawQuery has what follows the question mark in a raw file's path.
type rawQuery struct {
	shape   []int // nil where not given
	dtype   dtype.Type
	offset  int64
	fortran bool
	big     bool // big-endian
}

// locate takes a path apart. A question mark begins a query only where one
// follows, since names may hold one.
func locate(path string) (location, error) {
	if err := checkUnpacked(path); err != nil {
		return location{}, err
	}
	if file, query, ok := cutQuery(path); ok {
		q, err := parseRawQuery(query)
		_, flat := formatOf(file).(flatFormat)
		switch npy := formatByName(file) == formatNpy; {
		case q.offset > 0: // elements somewhere in a file of any format
		case !flat || npy && q.shape != nil:
			return location{file, formatRaw, q}, describedError(file)
		case npy: // how it is to be written
			return location{file, formatNpy, q}, err
		}
		return location{file, formatRaw, q}, err
	}
	if format := formatByName(path); format != "" {
		return location{file: path, format: format}, nil
	}
	ext := strings.ToLower(filepath.Ext(strings.SplitN(path, "#", 2)[0]))
	if adapter := adapters[ext]; adapter != "" {
		return location{}, adapterError{ext[1:], adapter}
	}
	if slices.Contains([]string{".pt", ".pth", ".ckpt"}, ext) {
		return location{}, errPyTorch
	}
	if like := synonyms[ext]; like != "" {
		return location{}, fmt.Errorf("files with this ending may be %s files: if it is one, give it, or a link to it, a name that ends in .%s", strings.ToUpper(like), like)
	}
	if err := misnamed(path); err != nil {
		return location{}, err
	}
	return location{}, errors.New("the name does not say the format: use NAME.npy or NAME.bin?shape=10,20&dtype=float32, NAME.zarr, NAME.npz#array or NAME.safetensors#tensor")
}

// locateStored is locate for a path that is to be read.
func locateStored(path string) (location, error) {
	loc, err := locate(path)
	if err == nil && loc.format == formatNpy && loc.file != path {
		err = describedError(loc.file)
	}
	return loc, err
}

// describedError is of a query behind the name of a file that needs none.
func describedError(file string) error {
	return fmt.Errorf("a file of this format says its type and shape itself, and what stands behind a question mark is of raw files: name %s", file)
}

// misnamed returns an error that says how an array is named, where its name stands behind that of
// what holds it in the way of another format.
func misnamed(path string) error {
	if file, name, ok := strings.Cut(path, "#"); ok {
		switch filepath.Ext(file) {
		case ".npy":
			return fmt.Errorf("an npy file holds one array, which has no name: name %s", file)
		case ".zarr", ".n5":
			return fmt.Errorf("an array of a group is named behind a slash: name %s/%s", file, name)
		}
		return nil
	}
	for file := filepath.Dir(path); file != filepath.Dir(file); file = filepath.Dir(file) {
		if st, err := os.Stat(file); err == nil {
			if st.Mode().IsRegular() && locatable(file) {
				return fmt.Errorf("%s is a file, whose arrays are named behind #: name %s#%s", filepath.Base(file), file, filepath.ToSlash(path[len(file)+1:]))
			}
			return nil
		}
	}
	return nil
}

// locatable reports whether the name of a file says its format.
func locatable(file string) bool {
	_, flat := formatOf(file).(flatFormat)
	return !flat || formatByName(file) != ""
}

// locateNew is locate for a path that is to be written.
func locateNew(path string) (location, error) {
	if adapters[strings.ToLower(filepath.Ext(path))] != "" {
		return location{}, fmt.Errorf("%s files are only read: save to NAME.npy, NAME.zarr, or another format that is written", filepath.Ext(path))
	}
	loc, err := locate(path)
	if err == nil && !blob.PlaceOf(loc.file).Files {
		err = errFrontToBack
	}
	return loc, err
}

// errFrontToBack rejects writing elements in any order to an object.
var errFrontToBack = errors.New("objects are written from front to back, and the chunks of an array are not computed so: write NAME.zarr there")

// errPyTorch is of files that PyTorch pickles.
var errPyTorch = errors.New("it is a PyTorch file, whose pickled objects are not read: save the tensors by safetensors.torch.save_file, and name the .safetensors file")

// synonyms are endings of files in a format that has another ending here.
var synonyms = map[string]string{
	".nwb": "hdf5", ".nxs": "hdf5", ".he5": "hdf5", ".loom": "hdf5", ".mnc": "hdf5", ".cxi": "hdf5", ".nx5": "hdf5", ".jld2": "hdf5", ".btf": "tiff", ".svs": "tiff", ".ndpi": "tiff", ".scn": "tiff", ".qptiff": "tiff",
}

// adapterError is of a file whose format is in a package that is not linked.
type adapterError struct{ format, adapter string }

func (e adapterError) Error() string {
	return fmt.Sprintf("%s files need a package: import _ %q", e.format, "github.com/gonbext/gonbext/oocore/adapters/"+e.adapter)
}

// CommandText says the same to whoever calls a command, which imports nothing.
func (e adapterError) CommandText() string {
	return e.format + " files are not read by this program: write the columns or the picture as .npy files, by numpy.save, and name these"
}

// packers are programs that pack a file as a whole, and the commands that unpack what each has
// packed, by the extensions of these.
var packers = map[string][2]string{".gz": {"gzip", "gunzip -k"}, ".bz2": {"bzip2", "bunzip2 -k"}, ".xz": {"xz", "unxz -k"}, ".zst": {"zstd", "unzstd"}, ".fz": {"fpack", "funpack"}}

// checkUnpacked rejects the name of a packed file, of which no part could be read or written.
func checkUnpacked(path string) error {
	file, _, _ := cutQuery(path)
	for _, file := range []string{file, strings.SplitN(file, "#", 2)[0]} {
		end := filepath.Ext(file)
		if by, ok := packers[strings.ToLower(end)]; ok {
			return fmt.Errorf("the name is that of a file packed by %s, of which no range can be read or written: unpack it first (%s %s), and name %s",
				by[0], by[1], filepath.Base(file), strings.TrimSuffix(filepath.Base(file), end))
		}
	}
	return nil
}

// adapters are the packages of oocore/adapters that register formats, by the extensions of these.
var adapters = map[string]string{".png": "images", ".jpg": "images", ".jpeg": "images", ".parquet": "arrow", ".csv": "csv", ".tsv": "csv"}

// cutQuery finds what describes a raw file. Where what follows the question mark
// says something else, and ends as files do, it belongs to the name.
func cutQuery(path string) (file, query string, ok bool) {
	i := strings.LastIndexByte(path, '?')
	if i < 0 {
		return path, "", false
	}
	file, query = path[:i], path[i+1:]
	key, _, ok := strings.Cut(query, "=")
	switch {
	case !ok || strings.Contains(query, "/"):
		return path, "", false
	case slices.Contains([]string{"shape", "dtype", "offset", "order"}, key):
		return file, query, true
	}
	return file, query, formatByName(path) == ""
}

// formatByName is the format that a name's end tells, or none.
func formatByName(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npy":
		return formatNpy
	case ".bin", ".raw":
		return formatRaw
	}
	return ""
}

// Stored returns the path that opens what Create(path, m) writes. The path of a raw file
// has to describe its elements.
func Stored(path string, m store.Meta) string {
	loc, err := locate(path)
	if err == nil && loc.format == formatNpy {
		return loc.file // whose header says all
	}
	if err != nil || loc.raw.shape != nil && loc.raw.dtype != dtype.Invalid {
		return path
	}
	shape := "()"
	if len(m.Shape) > 0 {
		shape = strings.Trim(strings.ReplaceAll(grid.Format(m.Shape), " ", ""), "(,)")
	}
	query := fmt.Sprintf("%s?shape=%s&dtype=%s", loc.file, shape, m.DType)
	if loc.raw.big {
		query = fmt.Sprintf("%s?shape=%s&dtype=>%s", loc.file, shape, m.DType)
	}
	if loc.raw.fortran {
		query += "&order=F"
	}
	return query
}

// parseDType reads a dtype by its name, or by NumPy's code, with its byte order before it:
// float32, <f4, >f4, >float32.
func parseDType(text string) (t dtype.Type, big bool, err error) {
	name := strings.TrimLeft(text, "<>=|")
	if len(text)-len(name) > 1 {
		return 0, false, fmt.Errorf("dtype=%s has more than one byte order", text)
	}
	big = text != name && text[0] == '>'
	for t, code := range npyDescr {
		if code == name {
			return t, big, nil
		}
	}
	t, err = dtype.Parse(name)
	return t, big, err
}

func parseRawQuery(text string) (q rawQuery, err error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return q, fmt.Errorf("%q is not of the form shape=10,20&dtype=float32", text)
	}
	for key, v := range values {
		if len(v) > 1 {
			return q, fmt.Errorf("%s= is given twice", key)
		}
		switch key {
		case "shape":
			q.shape, err = grid.Parse(v[0])
		case "dtype":
			q.dtype, q.big, err = parseDType(v[0])
		case "offset":
			if q.offset, err = strconv.ParseInt(v[0], 10, 64); err != nil || q.offset < 0 {
				err = fmt.Errorf("offset=%s is not a number of bytes", v[0])
			}
		case "order":
			if q.fortran = v[0] == "F"; v[0] != "F" && v[0] != "C" {
				err = fmt.Errorf("order=%s is neither C nor F", v[0])
			}
		default:
			err = fmt.Errorf("%q is unknown: a raw file has shape=, dtype=, offset= and order=", key)
		}
		if err != nil {
			return q, err
		}
	}
	return q, nil
}

// rawExtent checks a query against the size of its file.
func rawExtent(q rawQuery, size int64) (store.Extent, error) {
	switch {
	case q.shape != nil && q.dtype == dtype.Invalid:
		return store.Extent{}, errors.New("a raw file does not say the type of what it holds: add &dtype=float32")
	case q.shape == nil && q.dtype != dtype.Invalid:
		return store.Extent{}, errors.New("a raw file does not say the shape of what it holds: add &shape=10,20")
	case q.shape == nil:
		return store.Extent{}, errors.New("a raw file does not say what it holds: add ?shape=10,20&dtype=float32")
	}
	e := store.Extent{Offset: q.offset, Shape: q.shape, DType: q.dtype, Fortran: q.fortran, Big: q.big}
	if err := grid.Check(q.shape, q.dtype.Size()); err != nil {
		return store.Extent{}, err
	}
	if bytes := int64(grid.Size(q.shape) * q.dtype.Size()); bytes != size-q.offset {
		return store.Extent{}, fmt.Errorf("shape %s of %s has %d bytes, the file has %d from offset %d on",
			grid.Format(q.shape), q.dtype, bytes, max(size-q.offset, 0), q.offset)
	}
	return e, nil
}

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
