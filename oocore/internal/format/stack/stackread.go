package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

func (s *stack) Read(ctx context.Context, dst []byte, r types.Region) error {
	return storage.ReadBy(ctx, s, s.info.Work.Stream, dst, r)
}

// stackSession reads one file after the other.
type stackSession struct {
	*stack
	scatter []byte
	work    []byte // of the file's session

	file    int // that is open
	array   store.Array
	session store.Session // nil where the file is not encoded
}

func (s *stack) Session(work []byte) (store.Session, error) {
	if err := storage.EnoughFor(s.info.Path, work, s.info.Work.Stream); err != nil {
		return nil, err
	}
	session := &stackSession{stack: s, work: work}
	if s.scatters() {
		session.scatter, session.work = work[:scatterBytes], work[scatterBytes:]
	}
	return session, nil
}

func (s *stackSession) Close() (err error) {
	if s.session != nil {
		err = s.session.Close()
		s.session = nil
	}
	if s.array != nil {
		err = errors.Join(err, s.array.Close())
		s.array = nil
	}
	return err
}

// open opens a file, if it is still what it was. Of one whose header is known that is seen after
// each read.
func (s *stackSession) open(ctx context.Context, file int) (err error) {
	if s.array != nil && s.file == file {
		return nil
	}
	if err := s.Close(); err != nil {
		return err
	}
	if s.alike != nil {
		a, err := s.alike.In(s.files[file])
		if err != nil {
			return err
		}
		s.array, s.file = a, file
		return nil
	}
	a, err := storage.OpenContext(ctx, s.files[file])
	if err != nil {
		return err
	}
	info := a.Info()
	if stateOf(&info.ID) != s.states[file] {
		return errors.Join(storage.PathError("read", s.files[file], store.ErrChanged), a.Close())
	}
	s.array, s.file = a, file
	if coded, ok := a.(storage.Coded); ok {
		s.session, err = coded.Session(s.work)
	}
	return err
}

// seen returns an error where a file that was read is not what it was when the stack was opened.
func (s *stackSession) seen(a *storage.Flat) error {
	id, err := a.Version()
	if err != nil {
		return err
	}
	switch {
	case id.Size < a.Info().ID.Size:
		return store.ErrCutShort
	case stateOf(&id) != s.states[s.file]:
		return store.ErrChanged
	}
	return nil
}

func (s *stackSession) Read(ctx context.Context, dst []byte, r types.Region) (stored int64, err error) {
	if len(r.Count) != len(s.info.Shape) {
		return 0, storage.PathError("read", s.info.Path, fmt.Errorf("the region has %d dimensions, the array %d", len(r.Count), len(s.info.Shape)))
	}
	if want := grid.Size(r.Count) * s.info.DType.Size(); len(dst) != want {
		return 0, storage.PathError("read", s.info.Path, fmt.Errorf("the region has %d bytes, the buffer %d", want, len(dst)))
	}
	of := types.Region{Start: without(r.Start, s.axis), Count: without(r.Count, s.axis), Step: without(r.Step, s.axis)}
	strides := grid.Strides(r.Count)
	for i := range r.Count[s.axis] {
		file := r.Start[s.axis] + i*r.Step[s.axis]
		if file < 0 || file >= len(s.files) {
			return stored, storage.PathError("read", s.info.Path, fmt.Errorf("there is no file %d of %d", file, len(s.files)))
		}
		if len(dst) == 0 {
			return stored, nil
		}
		if err := s.open(ctx, file); err != nil {
			return stored, err
		}
		n, err := s.one(ctx, dst, i*strides[s.axis], without(strides, s.axis), of, grid.Size(r.Count[:s.axis]) == 1)
		stored += n
		if err != nil {
			return stored, err
		}
	}
	return stored, nil
}

// one reads a region of the open file to a place in dst.
func (s *stackSession) one(ctx context.Context, dst []byte, at int, strides []int, r types.Region, dense bool) (stored int64, err error) {
	size := s.info.DType.Size()
	if dense {
		return s.fill(ctx, dst[at*size:(at+grid.Size(r.Count))*size], r)
	}
	for part := range grid.Entire(r.Count).Split(grid.Auto(r.Count, size, scatterBytes)) {
		of := types.Region{Start: slices.Clone(r.Start), Count: part.Shape, Step: r.Step}
		to := at
		for d, start := range part.Start {
			of.Start[d] += start * r.Step[d]
			to += start * strides[d]
		}
		buffer := s.scatter[:part.Size()*size]
		n, err := s.fill(ctx, buffer, of)
		stored += n
		if err != nil {
			return stored, err
		}
		kernel.Copy(size, part.Shape, dst, to, strides, buffer, 0, grid.Strides(part.Shape))
	}
	return stored, nil
}

func (s *stackSession) fill(ctx context.Context, dst []byte, r types.Region) (int64, error) {
	if s.session != nil {
		return s.session.Read(ctx, dst, r)
	}
	if s.alike == nil {
		return int64(len(dst)), s.array.Read(ctx, dst, r)
	}
	a := s.array.(*storage.Flat)
	err := a.Read(ctx, dst, r)
	if ctx.Err() == nil {
		if changed := s.seen(a); changed != nil {
			err = storage.PathError("read", s.files[s.file], changed)
		}
	}
	return int64(len(dst)), err
}

// without is a list without one of its elements.
func without(list []int, i int) []int { return slices.Delete(slices.Clone(list), i, i+1) }
