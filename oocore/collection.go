package oocore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/omezarr"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Collection is arrays by name, in an order: those of a file that holds several, of a group, of
// a checkpoint or of a folder. It is immutable. Like an Array it carries the first error, which
// comes out of Err and of the arrays.
type Collection struct {
	members []named
	site    graph.Site
	err     error
	path    string         // that it was opened from; empty for none
	source  []store.Member // that it was opened from; nil for none
	// checkpoint is the file or index that it was opened from, itself or in its folder; empty for none.
	checkpoint string
	image      *omezarr.Image // that the arrays are levels of; nil for none
}

// named is an array of a collection: what opens it, and what has been made of it.
type named struct {
	name string
	make func() *Array
	path string // that it is opened from as it is; empty where something is made of it
}

// OpenAll opens all arrays at a path: of x.npz, x.safetensors, x.gguf, x.pt, x.h5, x.fits, x.tif, a Zarr group, a
// checkpoint's model.safetensors.index.json, or a folder of such files; a folder with config.json and
// model.safetensors, pytorch_model.bin or an index of either, as Hugging Face has models, is that checkpoint. It reads the names; the
// header of an array is read when it is asked for.
func OpenAll(path string) *Collection {
	c := &Collection{site: graph.Caller(), path: path}
	members, err := storage.Members(context.Background(), path)
	if err != nil {
		c.err = &Error{Op: "open", Site: c.site, Err: err}
		return c
	}
	for _, m := range members {
		c.members = append(c.members, named{m.Name, func() *Array { return Open(m.Path) }, m.Path})
	}
	c.source = members
	if c.checkpoint = storage.Checkpoint(path); isCheckpoint(path) {
		c.checkpoint = path
	}
	return c
}

// orMissing returns the collection, or for nil one with an error that says so.
func (c *Collection) orMissing() *Collection {
	if c == nil {
		return &Collection{err: errors.New("the *oocore.Collection is nil: make one with OpenAll")}
	}
	return c
}

// Err returns why the collection could not be opened, and nil where it could.
func (c *Collection) Err() error { return c.orMissing().err }

// Len returns the number of arrays.
func (c *Collection) Len() int { return len(c.orMissing().members) }

// Names returns the names in order.
func (c *Collection) Names() []string {
	c = c.orMissing()
	names := make([]string, len(c.members))
	for i, m := range c.members {
		names[i] = m.name
	}
	return names
}

// String returns the number of arrays and the first names, or the error.
func (c *Collection) String() string {
	const most = 8
	c = c.orMissing()
	switch n := len(c.members); {
	case c.err != nil:
		return c.err.Error()
	case n > most:
		return fmt.Sprintf("%d arrays: %s, …", n, strings.Join(c.Names()[:most], ", "))
	default:
		return fmt.Sprintf("%d arrays: %s", n, strings.Join(c.Names(), ", "))
	}
}

// All iterates over names and arrays in order. Where the collection has an error there is one
// array, which carries it.
func (c *Collection) All() iter.Seq2[string, *Array] {
	c = c.orMissing()
	return func(yield func(string, *Array) bool) {
		if c.err != nil {
			yield("", made(nil, c.err))
			return
		}
		for _, m := range c.members {
			if !yield(m.name, m.make()) {
				return
			}
		}
	}
}

// Get returns the array of a name. Where there is none the array carries an error.
func (c *Collection) Get(name string) *Array {
	c = c.orMissing()
	if c.err != nil {
		return made(nil, c.err)
	}
	i := slices.IndexFunc(c.members, func(m named) bool { return m.name == name })
	if i < 0 {
		return made(nil, &Error{Op: "get", Site: graph.Caller(), Err: fmt.Errorf("no array %.80q among %d", name, len(c.members))})
	}
	return c.members[i].make()
}

// Match returns the arrays whose names match a pattern, as path.Match reads it, where * stands
// for any characters, dots and slashes among them.
func (c *Collection) Match(pattern string) *Collection { return c.filter("match", pattern, true) }

// Without returns the arrays whose names do not match a pattern, as Match reads it, such as those of types that no array has.
func (c *Collection) Without(pattern string) *Collection { return c.filter("without", pattern, false) }

// filter returns the arrays whose names match a pattern, or do not.
func (c *Collection) filter(op, pattern string, match bool) *Collection {
	c = c.orMissing()
	m := &Collection{site: c.site, err: c.err, path: c.path, source: c.source, checkpoint: c.checkpoint}
	if _, err := path.Match(pattern, ""); err != nil && c.err == nil {
		m.err = &Error{Op: op, Site: graph.Caller(), Err: fmt.Errorf("%.80q: %w", pattern, err)}
		return m
	}
	for _, of := range c.members {
		if matches(pattern, of.name) == match {
			m.members = append(m.members, of)
		}
	}
	return m
}

// matches is path.Match but for slashes, which are characters like others in a name.
func matches(pattern, name string) bool {
	const slash = "\u2215" // looks like one
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", slash), strings.ReplaceAll(name, "/", slash))
	return ok && err == nil
}

// Map returns the collection of what f makes of each array, under the same names. It is lazy:
// f is called for an array that is asked for, each time that it is.
func (c *Collection) Map(f func(name string, x *Array) *Array) *Collection {
	c = c.orMissing()
	m := &Collection{site: c.site, err: c.err, path: c.path, source: c.source, checkpoint: c.checkpoint}
	for _, of := range c.members {
		m.members = append(m.members, named{name: of.name, make: func() *Array { return f(of.name, of.make()) }})
	}
	return m
}

// With returns the collection with an array more, at its end; new(Collection) has none.
func (c *Collection) With(name string, a *Array) *Collection {
	m := *c.orMissing()
	m.members = append(slices.Clip(m.members), named{name: name, make: func() *Array { return a }})
	return &m
}

// Like returns the collection with the metadata of another, at a path, in place of those of the one
// that it was opened from: texts, the pairs of a GGUF file, and small files beside a checkpoint.
func (c *Collection) Like(path string) *Collection {
	c = c.orMissing()
	of := OpenAll(path)
	return &Collection{members: c.members, site: c.site, err: cmp.Or(c.err, of.err), path: of.path, source: of.source, checkpoint: of.checkpoint}
}

// isCheckpoint reports the path of a checkpoint's index.
func isCheckpoint(path string) bool { return strings.HasSuffix(path, ".safetensors.index.json") }

// Parts returns a collection for another process: files by their paths, and what was made of them as arrays.
func (internals) Parts(c *Collection) (*door.Parts[Array], error) {
	if c = c.orMissing(); c.err != nil {
		return nil, c.err
	}
	p := &door.Parts[Array]{Path: c.path, Checkpoint: c.checkpoint, Source: c.source, Image: c.image}
	for _, m := range c.members {
		one := door.Part[Array]{Name: m.name, Path: m.path}
		if m.path == "" {
			one.Array = m.make()
		}
		p.Members = append(p.Members, one)
	}
	return p, nil
}

// Join returns the collection of parts.
func (internals) Join(p *door.Parts[Array]) *Collection {
	if p == nil {
		return (*Collection)(nil).orMissing()
	}
	c := &Collection{site: graph.Caller(), path: p.Path, checkpoint: p.Checkpoint, source: p.Source, image: p.Image}
	for _, m := range p.Members {
		make := func() *Array { return Open(m.Path) }
		if m.Array != nil {
			make = func() *Array { return m.Array }
		}
		c.members = append(c.members, named{m.Name, make, m.Path})
	}
	return c
}
