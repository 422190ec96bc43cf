package blob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CheckKey refuses keys that would lead out of a bucket, or that mean something
// else on another system.
func CheckKey(key string) error {
	var why string
	switch {
	case key == "":
		why = "it is empty"
	case strings.ContainsAny(key, "\\\x00"):
		why = "it has a backslash or a zero byte"
	default:
		for part := range strings.SplitSeq(key, "/") {
			switch part {
			case "":
				why = "a part of it is empty"
			case ".", "..":
				why = "it leads out of its folder"
			}
		}
	}
	if why == "" {
		return nil
	}
	return &fs.PathError{Op: "open", Path: key, Err: errors.New("not the name of an object: " + why)}
}

// checkLinks refuses a path below a root, some part of which is a link that leads
// out of it.
func checkLinks(root, key string) error {
	for i := 0; i <= len(key); i++ {
		if i < len(key) && key[i] != '/' {
			continue
		}
		name := filepath.Join(root, key[:i])
		st, err := os.Lstat(name)
		if err != nil {
			return nil // what uses it says so
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		inside, err := filepath.EvalSymlinks(root)
		if err != nil {
			return err
		}
		target, err := filepath.EvalSymlinks(name)
		if err != nil {
			return err
		}
		if target != inside && !strings.HasPrefix(target, strings.TrimSuffix(inside, string(filepath.Separator))+string(filepath.Separator)) {
			return &fs.PathError{Op: "open", Path: name, Err: errors.New("the link leads out of " + root)}
		}
	}
	return nil
}
