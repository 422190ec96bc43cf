package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore/store/blob"
)

// Member is an array of a collection.
type Member struct {
	Name string // in the collection
	Path string // for Open
}

// Collection is a Format of which one file or folder can hold several arrays.
type Collection interface {
	Format
	// Members lists the arrays in the order in which they are stored. path names no array.
	Members(ctx context.Context, path string) ([]Member, error)
}

// Members lists the arrays at a path: of a file or a group that holds several, of the files of
// a folder, or the array itself, by the file's name.
func Members(ctx context.Context, path string) ([]Member, error) {
	members, err := members(ctx, path)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return members, nil
}

func members(ctx context.Context, path string) ([]Member, error) {
	if c, ok := formatOf(path).(Collection); ok {
		return c.Members(ctx, path)
	}
	if st, err := os.Stat(path); !blob.Remote(path) && err == nil && st.IsDir() {
		return folderMembers(ctx, path)
	}
	a, err := OpenContext(ctx, path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(formatOf(path).Place(path))
	return []Member{{strings.TrimSuffix(name, filepath.Ext(name)), path}}, a.Close()
}

// folderMembers lists the arrays of the files in a folder, those of a file with several under
// its name. A file of another kind is none.
func folderMembers(ctx context.Context, folder string) (all []Member, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if strings.HasPrefix(e.Name(), ".") || formatOf(path) == Format(flatFormat{}) && !strings.EqualFold(filepath.Ext(path), ".npy") {
			continue
		}
		found, err := members(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), Plain(err))
		}
		stem := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		for _, m := range found {
			if len(found) > 1 {
				m.Name = stem + "/" + m.Name
			} else {
				m.Name = stem
			}
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the folder has no arrays")
	}
	return all, nil
}

// InFile lists the arrays of a file, of which names reads the names from its header: the one
// that is named, if any.
func InFile(ctx context.Context, file, name string, names func(r io.ReaderAt, size int64) ([]string, error)) ([]Member, error) {
	if name != "" {
		return []Member{{name, file + "#" + name}}, nil
	}
	o, id, err := OpenObject(ctx, file)
	if err != nil {
		return nil, err
	}
	list, err := names(HeadOf(ctx, o), id.Size)
	if err = errors.Join(err, o.Close()); err != nil {
		return nil, err
	}
	all := make([]Member, len(list))
	for i, name := range list {
		all[i] = Member{name, file + "#" + name}
	}
	return all, nil
}
