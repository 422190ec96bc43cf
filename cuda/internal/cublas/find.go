package cublas

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrAbsent is returned where the machine has no cuBLAS.
var ErrAbsent = errors.New("no cuBLAS was found")

// first is the major version of the first CUDA whose cuBLAS has what is called here.
const first = 11

// Find opens the libraries that a driver of a CUDA version can use, one after the other:
// those on the loader's path, of CUDA's folders, and of the packages of the Python on PATH.
// GONBEXT_CUBLAS names another file, or is "none". A file that is no usable cuBLAS gives an
// error in its turn.
func Find(version int) iter.Seq2[*Library, error] {
	return func(yield func(*Library, error) bool) {
		found := false
		for file := range files(version / 1000) {
			l, err := open(file)
			if errors.Is(err, ErrAbsent) {
				continue
			}
			found = true
			if !yield(l, err) {
				return
			}
		}
		if !found {
			err := ErrAbsent
			if name := os.Getenv("GONBEXT_CUBLAS"); name != "" {
				err = fmt.Errorf("%w, and GONBEXT_CUBLAS is %q", ErrAbsent, name)
			}
			yield(nil, err)
		}
	}
}

// files are those to try for CUDA up to a major version, the newest of each place first.
func files(major int) iter.Seq[string] {
	return func(yield func(string) bool) {
		switch name := os.Getenv("GONBEXT_CUBLAS"); name {
		case "":
		case "none":
			return
		default:
			yield(name)
			return
		}
		for _, place := range []func() []string{loaderPath, cudaFolders, pythonFolders} {
			folders := place()
			for m := major; m >= first; m-- {
				name := fmt.Sprintf("libcublas.so.%d", m)
				for _, folder := range folders {
					matches := []string{name} // the loader knows where
					if folder != "" {
						if !filepath.IsAbs(folder) {
							continue // it is another one wherever the program runs
						}
						matches, _ = filepath.Glob(filepath.Join(folder, name))
					}
					for _, file := range matches {
						if !yield(file) {
							return
						}
					}
				}
			}
		}
	}
}

func loaderPath() []string { return []string{""} }

// cudaFolders are patterns of the folders in which CUDA's installers put libraries.
func cudaFolders() (all []string) {
	for _, root := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda", "/usr/local/cuda-*"} {
		if root != "" {
			all = append(all, filepath.Join(root, "lib64"), filepath.Join(root, "lib"), filepath.Join(root, "targets", "*", "lib"))
		}
	}
	return all
}

// pythonFolders are patterns of the folders in which NVIDIA's packages for pip and conda put
// libraries, of the Python on PATH.
var pythonFolders = sync.OnceValue(func() (all []string) {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	python := exec.CommandContext(ctx, "python3", "-c", `import sys; print(sys.prefix, *filter(None, sys.path), sep="\n")`)
	python.Dir = filepath.VolumeName(os.TempDir()) + string(filepath.Separator) // a version manager would take one that the present folder names
	python.WaitDelay = time.Second                                              // what it has started may live on
	out, err := python.Output()
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, folder := range slices.Compact(lines[1:]) {
		if filepath.IsAbs(folder) { // no folder of the present one
			all = append(all, filepath.Join(folder, "nvidia", "*", "lib"))
		}
	}
	return append(all, filepath.Join(lines[0], "lib"))
})
