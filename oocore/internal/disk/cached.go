package disk

import (
	"io/fs"
	"os"
	"path/filepath"
)

// cachedFiles is how many files of a folder Cached looks at.
const cachedFiles = 32

// Cached estimates which part of a file, or of the files in a folder, is in the page
// cache, between 0 and 1, from samples; ok is false where the system does not tell.
func Cached(name string) (part float64, ok bool) {
	var seen, present int64
	files := 0
	var look func(path string, mode fs.FileMode)
	look = func(path string, mode fs.FileMode) {
		switch {
		case mode.IsRegular():
			files++
			n, in := cached(path)
			seen, present = seen+n, present+in
		case mode.IsDir():
			d, err := os.Open(path)
			if err != nil {
				return
			}
			_ = list(d, func(e fs.DirEntry) bool { // and not WalkDir, which reads all of a folder and sorts it
				look(filepath.Join(path, e.Name()), e.Type())
				return files < cachedFiles
			})
		}
	}
	if st, err := os.Lstat(name); err == nil {
		look(name, st.Mode())
	}
	if seen == 0 {
		return 0, false
	}
	return float64(present) / float64(seen), true
}
