package run

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/receipt"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// unitVersions are the versions of the inputs of a run and, where they have such, of their units.
type unitVersions struct {
	inputs []resultcache.Input
	grids  map[int]grid.Grid // of units, by array: one, the whole, where there are no versions of others
	parts  map[int]grid.Grid // grids, and those of what tasks make of temporary arrays
	of     map[int][]uint64  // by array: those of all units and then that of everything else, and as many digests where they are known
}

// mostUnits bounds the units of an input, whose versions are in memory.
const mostUnits = 1 << 20

// readVersions lists the inputs on this machine that have versions of their units. That these are of what is read
// follows from the versions of the whole, which are asked for before and after.
func (j *Job) readVersions(ctx context.Context) (*unitVersions, error) {
	v := &unitVersions{grids: map[int]grid.Grid{}, of: map[int][]uint64{}}
	for i := range j.Plan.Arrays {
		a := &j.Plan.Arrays[i]
		if a.Place != plan.InFile {
			continue
		}
		path, err := storage.Absolute(a.Path)
		if err != nil {
			return nil, err
		}
		in := resultcache.Input{Array: i, Path: path, Version: j.inputs[i], Shape: a.Shape}
		v.grids[i] = grid.Whole(a.Shape)
		if a.Store.Files && a.Chunks != nil {
			if err := v.list(ctx, a.Path, &in); err != nil {
				return nil, err
			}
		}
		v.inputs = append(v.inputs, in)
	}
	v.parts = j.parts(v.grids)
	return v, nil
}

// list takes in the versions of an input's units, if it has such.
func (v *unitVersions) list(ctx context.Context, path string, in *resultcache.Input) error {
	stored, err := storage.Reopen(ctx, path)
	if err != nil {
		return err
	}
	if a, ok := stored.(storage.Versioned); ok && a.Units().Len() <= mostUnits {
		in.Units = a.Units().Len()
		all := make([]uint64, in.Units+1)
		err = a.Versions(ctx, func(unit int, version uint64) {
			if unit < 0 {
				unit = in.Units
			}
			all[unit] = version
		})
		digests := receipt.Digests(in.Path, in.Version, a.Units())
		in.Digests = digests != nil
		v.grids[in.Array], v.of[in.Array] = a.Units(), append(all, digests...)
	}
	return errors.Join(err, stored.Close())
}

// write writes the versions of all units, in the order of inputs.
func (v *unitVersions) write(w io.Writer) error {
	for i := range v.inputs {
		if err := binary.Write(w, binary.LittleEndian, v.of[v.inputs[i].Array]); err != nil {
			return err
		}
	}
	return nil
}

// errAll is that all of an input has changed, or that what it was cannot be compared.
var errAll = errors.New("all of an input has changed")

// changed reads what write has written of earlier inputs, and returns the units that are new or have other versions now, by
// array.
func (v *unitVersions) changed(from io.Reader, earlier []resultcache.Input) (map[int]checkpoint.Tasks, error) {
	if len(earlier) != len(v.inputs) {
		return nil, errAll
	}
	changed := map[int]checkpoint.Tasks{}
	for i, was := range earlier {
		now := v.inputs[i]
		if was.Array != now.Array || was.Path != now.Path || (was.Units == 0) != (now.Units == 0) {
			return nil, errAll
		}
		if was.Units == 0 {
			if !was.Version.Equal(now.Version) {
				changed[now.Array] = checkpoint.All(1)
			}
			continue
		}
		before, after := make([]uint64, was.Numbers()), v.of[now.Array]
		if err := binary.Read(from, binary.LittleEndian, before); err != nil {
			return nil, err
		}
		same := func(was, now int) bool {
			return before[was] == after[now]
		}
		if was.Digests && now.Digests {
			old, of := before[was.Units+1:], after[now.Units+1:]
			same = func(was, now int) bool { return before[was] == after[now] || old[was] == of[now] }
		}
		if !same(was.Units, now.Units) {
			return nil, errAll
		}
		var units checkpoint.Tasks
		for u := range now.Units {
			if u >= was.Units || !same(u, u) {
				units.Add(u, 1)
			}
		}
		changed[now.Array] = units
	}
	return changed, nil
}
