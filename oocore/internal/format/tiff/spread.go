package tiff

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// maxFiles is the most files of an image.
const maxFiles = 1 << 14

// member is a file of images whose planes lie in several.
type member struct {
	path         string
	id           store.FileVersion // of which the directories were read
	first, pages int               // among those of all files
}

// of are the member's pages.
func (m *member) of(all []page) []page { return all[m.first : m.first+m.pages] }

// read opens the file, if it is what it was when its directories were read.
func (m *member) read(ctx context.Context, do func(f *file) error) error {
	o, id, err := storage.OpenObject(ctx, m.path)
	if err != nil { // not as an error of the file that names it
		return fmt.Errorf("%s, which has planes of the image: %v", m.path, storage.Plain(err))
	}
	if m.id == (store.FileVersion{}) {
		m.id = id
	}
	f := newFile(storage.HeadOf(ctx, o, id.Size), id.Size)
	if err = m.same(id); err == nil {
		if _, err = f.begin(); err == nil {
			err = do(f)
		}
	}
	if err = errors.Join(err, o.Close()); err != nil {
		return fmt.Errorf("%s: %w", m.path, storage.Plain(err))
	}
	return nil
}

func (m *member) same(id store.FileVersion) error {
	if !m.id.Equal(id) {
		return store.ErrChanged
	}
	return nil
}

// join returns the pages of all files that the description of one names, and the images that they are. Files are found by their names in the
// folder of the one that describes them; that one itself, and the one at path, by their UUIDs too.
func (c *contents) join(ctx context.Context, path string) (*contents, error) {
	said, described := c.spread, map[string]string{"": path}
	own := map[string]string{said.UUID: path}
	if said.BinaryOnly != nil {
		var err error
		if path, err = storage.Beside(path, said.BinaryOnly.MetadataFile); err != nil {
			return nil, err
		}
		if said, described[""], err = metadata(ctx, path); err != nil {
			return nil, fmt.Errorf("%s, which has the metadata of its image: %w", path, err)
		}
	}
	names := said.names()
	if len(names) >= maxFiles {
		return nil, fmt.Errorf("planes of its image are in %d files, %d are possible", len(names), maxFiles)
	}
	for name, id := range names {
		if at, ok := own[id]; ok && id != "" {
			described[name] = at
			continue
		}
		var err error
		if described[name], err = storage.Beside(path, name); err != nil {
			return nil, err
		}
	}
	if described[""] == "" {
		delete(described, "")
	}
	m := meter.Meter{What: "the pages of its files"}
	defer m.Done()
	j := &contents{files: []member{}, named: map[string]int{}}
	layouts := map[layout]int32{}
	for _, name := range slices.Sorted(maps.Keys(described)) {
		at := slices.IndexFunc(j.files, func(of member) bool { return of.path == described[name] })
		if j.named[name] = at; at >= 0 {
			continue // a file of two names
		}
		j.named[name] = len(j.files)
		of := member{path: described[name], first: len(j.pages)}
		if err := of.read(ctx, func(f *file) error {
			var one contents
			f.room.Take = m.Take
			if err := f.pages(&one); err != nil {
				return err
			}
			for _, p := range one.pages {
				l := one.layouts[p.layout]
				k, ok := layouts[l]
				if !ok {
					k = int32(len(j.layouts))
					j.layouts, layouts[l] = append(j.layouts, l), k
				}
				p.layout, p.file = k, int32(len(j.files))
				j.pages = append(j.pages, p)
			}
			of.pages = len(one.pages)
			return nil
		}); err != nil {
			return nil, err
		}
		j.files = append(j.files, of)
	}
	var err error
	if j.series, err = j.omeSeries(said); err != nil {
		return nil, err
	}
	for i := range j.series {
		j.finish(&j.series[i])
	}
	return j, nil
}

// metadata reads the description in a file that other files name: XML, or a TIFF file, whose path is returned then.
func metadata(ctx context.Context, path string) (said *ome, tiff string, err error) {
	o, id, err := storage.OpenObject(ctx, path)
	if err != nil {
		return nil, "", errors.New(storage.Plain(err).Error())
	}
	defer o.Close()
	m := meter.Meter{What: "the metadata of its image"}
	defer m.Done()
	f, text := newFile(storage.HeadOf(ctx, o, id.Size), id.Size), ""
	f.room.Take = m.Take
	if at, failed := f.begin(); failed == nil {
		tiff = path
		var tags fields
		if tags, _, err = f.directory(at); err == nil {
			text, err = f.text(tags[tagDescription])
		}
	} else if err = m.Take(9 * id.Size); err == nil {
		var b []byte
		b, err = f.take(0, min(id.Size, maxDescription))
		text = string(b)
	}
	if err != nil {
		return nil, "", err
	}
	if said, err = parseOME(text); err == nil && said.BinaryOnly != nil {
		err = errors.New("its own metadata is in another file: the files lead in a circle")
	}
	return said, tiff, err
}

// version is that of the file that was opened, with those of all members.
func (c *contents) version(id store.FileVersion) store.FileVersion {
	sum := sha256.New()
	for _, of := range c.files {
		text, _ := json.Marshal(of.id)
		fmt.Fprintf(sum, "%s %s\n", of.path, text)
		wait, reliable := disk.Unsettled(storage.LastChange(of.id))
		if id.Settles = max(id.Settles, of.id.Settles, wait); !reliable {
			id.Settles = -1
		}
	}
	id.Version = hex.EncodeToString(sum.Sum(nil)[:16])
	return id
}

// spread is the index of a session, which has one file open at a time.
type spread struct {
	*stored
	at     chunked.Source
	opened int32
}

func (a *stored) newSpread(_ []byte, read *int64) chunked.Index {
	return &spread{a, chunked.Source{Kind: "file", Read: read}, -1}
}

func (s *spread) Find(ctx context.Context, chunk []int) (*chunked.Source, error) {
	file, found, err := s.find(chunk, &s.at)
	if err != nil || !found {
		return nil, err
	}
	if file == s.opened {
		return &s.at, nil
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	of := &s.contents.files[file]
	o, id, err := storage.OpenObject(ctx, of.path)
	if err == nil {
		s.at.Object, s.at.Key, s.opened = o, of.path, file
		s.at.Serial++
		err = of.same(id)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %v", of.path, storage.Plain(err))
	}
	return &s.at, nil
}

func (s *spread) Close() error {
	if s.opened < 0 {
		return nil
	}
	s.opened = -1
	return s.at.Object.Close()
}
