package run

import (
	"errors"
	"os"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/types"
)

// sizeFiles sizes a plan for the part of a budget that files in memory, as in a tmpfs, leave: see
// filesInMemory. held are the bytes of these files, which are part of what the plan needs.
func (o *Options) sizeFiles(p *plan.Plan, r size.Options) (s *size.Plan, held int64, err error) {
	files := o.filesInMemory(p)
	if files == nil {
		s, err = size.New(p, r)
		return s, 0, err
	}
	budget := r.Budget
	sized := func(budget int64) (s *size.Plan, bytes int64, err error) {
		r.Budget = budget
		if s, err = size.New(p, r); err == nil {
			bytes = files(s)
		}
		return s, bytes, err
	}
	_, _, err = sized(0)
	short, ok := errors.AsType[*types.MemoryError](err)
	if !ok {
		return nil, 0, err
	}
	least, bytes, err := sized(short.Need)
	if err != nil {
		return nil, 0, err
	}
	need := size.WholeMiB(short.Need + bytes)
	if budget < need {
		return nil, 0, &types.MemoryError{Op: short.Op, Need: need, Limit: budget, Held: bytes, Holder: "files in memory (tmpfs)"}
	}
	s = least
	for held = bytes; ; { // the less the arena has, the more is spilled
		more, all, err := sized(budget - held)
		if err != nil { // what more tasks at once spill leaves too little for them
			s, held = least, bytes
			break
		}
		if s = more; all <= held {
			break
		}
		held = all
	}
	s.Budget, s.Need = budget, need
	return s, held, nil
}

// recordBytes is what a task takes in the run's record, of which the overhead of any run has room for some.
const recordBytes, recordRoom = 320, 256 << 10

// filesInMemory returns what counts the bytes that a run of a sized plan has in files in memory, as in a tmpfs, where the
// kernel takes nothing of them back: outputs, what is spilled, and the record. It is nil where all files are on disks.
func (o *Options) filesInMemory(p *plan.Plan) func(*size.Plan) int64 {
	var bytes int64
	var path string
	var array, spills, spilled bool
	for i := range p.Outputs() {
		at := p.StagingPath(i)
		if i == p.Output || at != path {
			path = at
			array, spills = storage.InMemory(path)
		}
		if array {
			bytes += fileBytes(&p.Arrays[i])
		}
		if i == p.Output {
			spilled = spills
		}
	}
	if n := int64(p.Tasks()) * recordBytes; n > recordRoom {
		if dir, err := o.Log(); err == nil && disk.InMemory(dir) {
			bytes += n
		}
	}
	if bytes == 0 && !spilled {
		return nil
	}
	return func(s *size.Plan) int64 {
		all := bytes
		for k := range p.Arrays {
			if spilled && s.Place(k) == size.InSpill {
				all += exec.SpillBytes(&p.Arrays[k])
			}
		}
		return all
	}
}

// fileBytes is what an array takes in memory as files: whole pages, and what the kernel keeps of each file and folder. What
// cannot be compressed becomes a little longer.
func fileBytes(a *plan.Array) int64 {
	const inodes, head = 2 << 10, 128 // for a chunk: a file, and part of a folder; what its codec writes beside its elements
	unit := a.Layout.Unit
	if unit == nil {
		return a.Bytes()
	}
	units := int64(grid.Grid{Shape: a.Shape, Chunks: unit}.Len())
	each := int64(grid.Size(unit) * a.DType.Size())
	each += each/128 + head*int64(grid.Grid{Shape: unit, Chunks: a.Layout.Chunks()}.Len())
	page := int64(os.Getpagesize())
	return units * ((each+page-1)/page*page + inodes)
}
