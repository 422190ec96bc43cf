package inspect

import (
	"archive/zip"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore/store/safetensors"
	"github.com/gonbext/gonbext/oocore/store/zarr"
)

// Members are the paths of the arrays in a group or a file that can have several.
func Members(path string) ([]string, error) {
	var read func(string) ([]string, error)
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz":
		read = npzMembers
	case ".safetensors":
		read = tensors
	default:
		return zarrMembers(path)
	}
	// Whoever opens a pipe waits for its other end.
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil, cmp.Or(err, errors.New(path+": it is not a regular file"))
	}
	return read(path)
}

// npzMembers are the names in an archive. Opening one of them checks it.
func npzMembers(path string) (paths []string, err error) {
	z, err := zip.OpenReader(path)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	defer z.Close()
	for _, f := range z.File {
		if name, ok := strings.CutSuffix(f.Name, ".npy"); ok {
			paths = append(paths, path+"#"+name)
		}
	}
	return paths, nil
}

func tensors(path string) (paths []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	h, err := safetensors.ReadHeader(f, st.Size())
	for _, t := range h.Tensors {
		paths = append(paths, path+"#"+t.Name)
	}
	return paths, err
}

func zarrMembers(path string) (paths []string, err error) {
	entries, err := zarr.Tree(path)
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	return paths, err
}
