package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/store"
)

// partName is the name of one of several files that are one collection: model-00001-of-00003.gguf.
var partName = regexp.MustCompile(`-(\d{5})-of-(\d{5})(\.[^.]+)$`)

// PartsOf returns the files of the collection that a file is a part of, as its name says, and which of them it is,
// from 0 on; nil where it says nothing.
func PartsOf(file string) (all []string, number int) {
	m := partName.FindStringSubmatch(file)
	if m == nil {
		return nil, 0
	}
	number, _ = strconv.Atoi(m[1])
	count, _ := strconv.Atoi(m[2])
	if number < 1 || number > count {
		return nil, 0
	}
	for i := range count {
		all = append(all, fmt.Sprintf("%s-%05d-of-%05d%s", strings.TrimSuffix(file, m[0]), i+1, count, m[3]))
	}
	return all, number - 1
}

// PartMembers lists the arrays of a collection in several files, of which members lists those of one. A file that is
// missing, and two arrays of one name, are an error.
func PartMembers(ctx context.Context, files []string, members func(file string) ([]store.Member, error)) (all []store.Member, err error) {
	in := map[string]string{}
	var missing []string
	for _, file := range files {
		found, err := members(file)
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, filepath.Base(file))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), Plain(err))
		}
		for _, m := range found {
			if before, twice := in[m.Name]; twice {
				return nil, fmt.Errorf("%.80q is in %s and in %s", m.Name, filepath.Base(before), filepath.Base(file))
			}
			in[m.Name] = file
		}
		all = append(all, found...)
	}
	if missing != nil {
		return nil, fmt.Errorf("it is one of %d files that are one model: %s is missing beside it, and has further arrays", len(files), strings.Join(missing[:min(len(missing), 8)], ", "))
	}
	return all, ctx.Err()
}

// parted is a Format whose collections may lie in several files.
type parted interface {
	// Parts returns the files of the collection that a file is one of.
	Parts(ctx context.Context, file string) ([]string, error)
}

// laterPart reports a file whose collection is listed with the first of its files.
func laterPart(ctx context.Context, path string) bool {
	f, ok := formatOf(path).(parted)
	if !ok {
		return false
	}
	files, err := f.Parts(ctx, path)
	return err == nil && len(files) > 1 && files[0] != path
}

// FindPart opens the array of a name of a collection in several files.
func FindPart(ctx context.Context, kind, name string, members func() ([]store.Member, error)) (store.Array, error) {
	all, err := members()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, m := range all {
		if m.Name == name {
			return OpenContext(ctx, m.Path)
		}
		names[i] = m.Name
	}
	if name == "" {
		return nil, fmt.Errorf("the files of the model have %s: add #NAME to the path", QuoteNames(kind, names))
	}
	return nil, fmt.Errorf("no %s %.80q: the files of the model have %s", kind, name, QuoteNames(kind, names))
}
