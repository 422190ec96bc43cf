package receipt

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/store"
)

// CheckFile rejects a place for a receipt where something else is.
func CheckFile(file string) error {
	st, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := os.Stat(filepath.Dir(file))
		return err
	case err == nil && st.Mode().IsRegular() && resultcache.Is(file):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s is there, and is no receipt: name another file for it", file)
}

// Export writes the receipt of an array that was saved as a file, for others, with SHA-256 of each part. It reads the array once.
func Export(ctx context.Context, path, file string) error {
	r, err := Find(path, "")
	if err == nil {
		err = r.load()
	}
	if err != nil {
		return err
	}
	a, err := store.OpenContext(ctx, path)
	if err != nil {
		return err
	}
	err = r.seal(ctx, a)
	if err = errors.Join(err, a.Close()); err != nil {
		return err
	}
	e := r.Entry
	if p, err := r.Plan(); err == nil {
		_ = moved(p, func(path string) (string, error) { return relative(file, path), nil })
		if e.Plan, err = p.Encode(); err != nil {
			return err
		}
	}
	e.Path, e.Inputs = relative(file, e.Path), nil
	for _, in := range r.Inputs {
		in.Path = relative(file, in.Path)
		e.Inputs = append(e.Inputs, in)
	}
	return resultcache.Write(file, e, r.rest)
}

// seal adds the cryptographic digests, of what has the others still.
func (r *Receipt) seal(ctx context.Context, a store.Array) error {
	var damaged error
	known := make([]bool, len(r.traces))
	err := r.digests(ctx, a, true, func(task int) bool {
		t := &r.traces[task]
		if known[task] = t.Form != nil; !known[task] {
			t.Stage, t.Task, t.Form = r.Stage, task, wholeForm(r.Grid.Box(task).Shape)
		}
		return true
	}, func(task int, sum uint64, sha []byte, err error) {
		t := &r.traces[task]
		if err == nil && known[task] && sum != t.Digest {
			err = errors.New("it is not what was written")
		}
		if err != nil {
			damaged = fmt.Errorf("chunk %s of %s: %w", r.Grid.Box(task), r.Place, err)
		}
		t.Digest, t.Sum = sum, sha
	})
	if r.Folded != 0 && len(r.traces) == 1 {
		r.Sum = hex.EncodeToString(r.traces[0].Sum)
	}
	return errors.Join(err, damaged)
}

// rest writes what follows the plan of a receipt: the versions of units, and the traces of the tasks that have written the array.
func (r *Receipt) rest(w io.Writer) error {
	from, err := r.Entry.Rest()
	if err != nil {
		return err
	}
	defer from.Close()
	for i := range r.Inputs {
		if _, err := io.CopyN(w, from, 8*int64(r.Inputs[i].Numbers())); err != nil {
			return err
		}
	}
	if r.Folded != 0 {
		return nil
	}
	var failed error
	var written checkpoint.Tasks
	err = checkpoint.EachTrace(from, func(t checkpoint.Trace) bool {
		if t.Stage == r.Stage && t.Task < len(r.traces) {
			sealed := r.traces[t.Task]
			sealed.Reads = t.Reads
			failed = checkpoint.WriteTrace(w, &sealed)
			written.Add(t.Task, 1)
		}
		return failed == nil
	})
	for task := range r.traces {
		if err == nil && failed == nil && !written.Has(task) {
			failed = checkpoint.WriteTrace(w, &r.traces[task])
		}
	}
	return errors.Join(err, failed)
}
