package blob

import (
	"errors"
	"io/fs"
	"strings"
)

// CheckKey rejects keys that would lead out of a bucket, or that mean something
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

// escapes says of a link that leads out of a folder what is to be done. Package os
// has no name for its error.
func escapes(root string, err error) error {
	e, ok := err.(*fs.PathError)
	if !ok || !strings.Contains(e.Err.Error(), "escapes") {
		return err
	}
	return &fs.PathError{Op: e.Op, Path: e.Path, Err: errors.New("the link leads out of " + root + ", or is absolute: only relative links within it are followed")}
}
