package gguf

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// A model may lie in several files, name-00001-of-00003.gguf, each of which says by split.count how many they are and
// by split.no which it is. They are read as one, by the path of any of them: all are there, no tensor is in two, and
// they agree on the architecture and on the number of tensors.

// errOther is why a tensor is looked for in the other files of a model.
var errOther = errors.New("the tensor may be in another file of the model")

// Parts returns the files of the model that a file is a part of.
func (x format) Parts(ctx context.Context, file string) ([]string, error) {
	h, err := headers.Open(ctx, file)
	if err != nil || h.Parts < 2 {
		return []string{file}, err
	}
	files, n := storage.PartsOf(file)
	if len(files) != h.Parts || n != h.Part {
		return nil, fmt.Errorf("it is part %d of a model in %d files, whose others cannot be found: name it NAME-%05d-of-%05d.gguf, and put them beside it", h.Part+1, h.Parts, h.Part+1, h.Parts)
	}
	return files, nil
}

// Members lists the tensors of the model that a file is a part of.
func (x format) Members(ctx context.Context, path string) ([]store.Member, error) {
	file, name, _ := x.Cut(path)
	if name != "" {
		return x.MemberFormat.Members(ctx, path)
	}
	files, err := x.Parts(ctx, file)
	if err != nil {
		return nil, err
	}
	if len(files) == 1 {
		return x.MemberFormat.Members(ctx, path)
	}
	type model struct {
		Architecture string `json:"general.architecture"`
		Name         string `json:"general.name"`
	}
	var first model // the later parts need not say it
	tensors := 0
	all, err := storage.PartMembers(ctx, files, func(file string) ([]store.Member, error) {
		h, err := headers.Open(ctx, file)
		if err != nil {
			return nil, err
		}
		if _, n := storage.PartsOf(file); h.Parts != len(files) || h.Part != n {
			return nil, fmt.Errorf("it says that it is part %d of %d", h.Part+1, max(h.Parts, 1))
		}
		var of model
		if len(h.Attributes) > 0 {
			if err := json.Unmarshal(h.Attributes, &of); err != nil {
				return nil, err
			}
		}
		for _, d := range []struct {
			what, this string
			first      *string
		}{{"architecture", of.Architecture, &first.Architecture}, {"name", of.Name, &first.Name}} {
			*d.first = cmp.Or(*d.first, d.this)
			if d.this != "" && d.this != *d.first {
				return nil, fmt.Errorf("it is of a model of %s %.80q, and those before it of %.80q: put the parts of one model in a folder of their own", d.what, d.this, *d.first)
			}
		}
		tensors = max(tensors, h.All)
		return x.MemberFormat.Members(ctx, file)
	})
	if err == nil && tensors > 0 && len(all) != tensors {
		err = fmt.Errorf("the %d files of the model have %d tensors, and say that they have %d: %s", len(files), len(all), tensors, strings.TrimSuffix(filepath.Base(files[0]), extension))
	}
	return all, err
}
