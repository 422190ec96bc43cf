package oocore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Save computes all arrays into a collection, in one run, and returns the collection that is then
// there: x.safetensors, x.safetensors.index.json with files of ShardSize beside it, x.gguf, x.npz,
// x.nc, x.h5, x.zarr as a group, or a folder of npy files. What the arrays share is computed once, and the budget is that
// of the whole. The collection replaces one that is there when it is whole; in a folder of npy files
// other files stay. Texts of the file that the collection was opened from are kept, and, from
// checkpoint to checkpoint, small files beside it such as config.json are copied where the new one's
// folder has none of their names. A GGUF file has the key-value pairs of the GGUF file that the
// collection was opened from, or is Like. Of a checkpoint, which is an index or a folder as Hugging Face has models, a
// folder, or a path that names no format, becomes such a folder.
//
// As with Array.Save nothing is computed where the same was saved before, and an unfinished run
// resumes where it stopped, at the array and in it at the chunk.
func (c *Collection) Save(ctx context.Context, path string, opts ...Option) (*Collection, error) {
	c = c.orMissing()
	site := graph.Caller()
	to := c.place(path)
	r, err := c.prepare(site, to, opts)
	if err != nil {
		return nil, err
	}
	if to != path && !r.MakesNothing() {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return nil, &Error{Op: "save", Site: site, Err: err}
		}
		defer os.Remove(path) // where it is empty, after an error
	}
	return r.saveCollection(ctx, c, to)
}

// Plan returns what Save would do. It reads nothing but the headers of the arrays.
func (c *Collection) Plan(path string, opts ...Option) (*Plan, error) {
	c = c.orMissing()
	r, err := c.prepare(graph.Caller(), c.place(path), opts)
	if err != nil {
		return nil, err
	}
	return shown(r.Plan), nil
}

func (r *request) saveCollection(ctx context.Context, c *Collection, path string) (*Collection, error) {
	result, err := r.Save(ctx, r.Job)
	if err != nil {
		return nil, &Error{Op: "save", Site: r.Site, Err: err}
	}
	if result.Foreseen == nil {
		saved := OpenAll(path)
		saved.site = r.Site
		return saved, saved.err
	}
	foreseen, err := r.arrays(result.Foreseen)
	if err != nil {
		return nil, err
	}
	planned := &Collection{site: r.Site}
	for i, m := range c.members {
		planned.members = append(planned.members, named{name: m.name, make: func() *Array { return foreseen[i] }})
	}
	return planned, nil
}

func (c *Collection) prepare(site graph.Site, path string, opts []Option) (_ *request, err error) {
	failed := func(name string, err error) (*request, error) {
		if inner, ok := errors.AsType[*Error](err); ok {
			err = inner
		}
		if name != "" {
			err = fmt.Errorf("%.80q: %w", name, err)
		}
		return nil, &Error{Op: "save", Site: site, Err: err}
	}
	if c.err != nil {
		return nil, c.err
	}
	s, err := applyOptions(opts)
	if err != nil {
		return failed("", err)
	}
	defer func() {
		if err != nil {
			s.Rejected(c.String())
		}
	}()
	switch {
	case path == "":
		return failed("", errors.New("the path is empty: name a file such as x.safetensors"))
	case len(c.members) == 0:
		return failed("", errors.New("the collection has no arrays"))
	case s.Region != "" || s.Grow != nil || s.SideReductions != nil:
		return failed("", errors.New("a collection is saved as a whole, without a region"))
	case c.image != nil && !strings.HasSuffix(path, ".zarr"):
		return failed("", errors.New("the levels of an image are saved to NAME.zarr"))
	case s.ShardSize != 0 && !isCheckpoint(path):
		return failed("", errors.New("a shard size is of a checkpoint: save to NAME.safetensors.index.json"))
	}
	m := &storage.CollectionMeta{Path: path, ShardSize: s.ShardSize, Metadata: c.texts(), Files: c.besides(path)}
	if c.image != nil {
		m.Root.Attributes = c.image.Attributes
	}
	if storage.HasGroups(path) && c.path != "" && c.image == nil {
		if m.Groups, err = storage.Groups(context.Background(), c.path); err != nil {
			return failed("", err)
		}
		m.Root = m.Groups[""]
		delete(m.Groups, "")
	}
	if len(c.source) > 0 {
		if m.Template, err = storage.TemplateFor(path, c.source[0].Path); err != nil {
			return failed("", err)
		}
	}
	var arrays []*Array
	var members []storage.NewMember
	for name, a := range c.All() {
		arrays = append(arrays, a)
		members = append(members, storage.NewMember{Name: name, Meta: store.Meta{Shape: a.Shape(), DType: a.DType()}})
	}
	types, recipe := storage.TypesOf(path, s.Codec, members)
	encoded := "" // is the type of bytes that stay as they are
	var all []compile.Output
	names := make(map[string]bool, len(c.members))
	for i, a := range arrays {
		name := members[i].Name
		if s.Type = nil; recipe {
			s.Type = &types[i]
		}
		var encoding string
		if !recipe || types[i] == "" {
			var stored string
			if stored, encoding = storage.EncodedAt(context.Background(), path, a.storedAt()); encoding != "" {
				a, s.Type = Open(stored), &encoded
			}
		}
		if names[name] {
			return failed("", fmt.Errorf("two arrays have the name %.80q", name))
		}
		names[name] = true
		member, err := storage.MemberPath(path, name)
		if err != nil {
			return failed("", err)
		}
		out, err := s.output(site, "save", a, member)
		if err != nil {
			return failed(name, err)
		}
		if encoding != "" {
			out.Target.Codec = encoding
		}
		if len(out.Root.Shape) != len(out.Target.Chunks) {
			out.Target.Chunks = nil // those of the option are for arrays of as many dimensions
		}
		if (m.Metadata != nil || member == path+"#"+name) && s.Attributes == nil && !storage.HasGroups(path) {
			out.Target.Details.Attributes = nil // texts of the file that it was in, or of the one that it will be in
		}
		if copied := out.Root; m.Groups != nil {
			if copied.Kind == graph.Cast {
				copied = copied.In[0]
			}
			// Names that axes have in common there, they have here.
			out.Target.Details.ChosenDims = copied.Kind == graph.Source || out.Target.Details.ChosenDims
		}
		if c.image != nil {
			if out.Target.Details.Dims, out.Target.Details.ChosenDims = c.image.Names(), true; s.Chunks == nil {
				out.Target.Chunks = c.image.Chunks(out.Root.Shape, out.Root.DType.Size())
			}
		}
		out.Target.Collection, out.Target.Member = m, name
		all = append(all, out)
	}
	return s.prepare(site, "save", all...)
}

// texts are those of the file that the collection was opened from; nil for none.
func (c *Collection) texts() map[string]string {
	if len(c.source) == 0 {
		return nil
	}
	if strings.Contains(filepath.Base(c.checkpoint), "pytorch_model.bin") {
		return map[string]string{"format": "pt"} // without which Transformers does not open model.safetensors
	}
	info, err := storage.Describe(c.source[0].Path)
	var texts map[string]string
	if _, _, file := storage.Split(c.source[0].Path); err != nil || !file || json.Unmarshal(info.Details.Attributes, &texts) != nil {
		return nil
	}
	return texts
}

// smallFile is the size up to which a file beside a checkpoint's tensors is copied with it.
const smallFile = 64 << 20

// storedAt is the path of an array that is as it is stored, in an encoding or so that it cannot be read; empty of any other.
func (a *Array) storedAt() string {
	if n, err := a.expression(); err == nil && n.Kind == graph.Source && n.Stored.Info.Codec != "" {
		return n.Stored.Info.Path
	}
	return a.opaque
}

// place is where the collection goes: a checkpoint that is saved to a folder takes the name there that it has where it is from.
func (c *Collection) place(path string) string {
	if c.checkpoint == "" || path == "" || !storage.NamesFolder(path) {
		return path
	}
	return filepath.Join(path, c.checkpointName())
}

// checkpointName is the name that the collection's checkpoint has where it is written.
func (c *Collection) checkpointName() string {
	return strings.Replace(filepath.Base(c.checkpoint), "pytorch_model.bin", "model.safetensors", 1)
}

// besides are the small files of the checkpoint that the collection was opened from, where it is
// saved to a checkpoint in another folder.
func (c *Collection) besides(path string) (files []string) {
	if c.checkpoint == "" || !isCheckpoint(path) && filepath.Base(path) != c.checkpointName() {
		return nil
	}
	folder := filepath.Dir(c.checkpoint)
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		st, err := e.Info()
		if err != nil || !st.Mode().IsRegular() || st.Size() > smallFile || strings.HasPrefix(e.Name(), ".") ||
			strings.Contains(e.Name(), ".safetensors") || strings.HasPrefix(e.Name(), "pytorch_model") {
			continue
		}
		files = append(files, filepath.Join(folder, e.Name()))
	}
	return files
}
