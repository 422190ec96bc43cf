// Package disktest makes the file operations of stores fail, and shows what a
// crash would leave of them.
package disktest

import (
	"io/fs"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edsrzf/mmap-go"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// Use lets stores use a file system until the test ends.
func Use(t testing.TB, f disk.FS) { t.Cleanup(disk.Use(f)) }

// Op is a kind of file operation.
type Op uint8

// The operations. Truncating is a Write, mapping a Read, and making a folder's
// entries durable a Sync.
const (
	Open Op = iota
	Create
	Read
	Write
	Sync
	Rename
	List
	Remove
	Mkdir
	Ops // their number
)

func (o Op) String() string {
	return [...]string{"open", "create", "read", "write", "sync", "rename", "list", "remove", "mkdir"}[o]
}

// Fault is the machine's file system, whose N-th operation of a kind fails with
// Err, counted from 1. With Short, half of a read or write is done first. With no
// Err the operation is only late. N of 0 lets nothing fail and only counts.
type Fault struct {
	Op    Op
	N     int64
	Err   error
	Short bool
	Delay time.Duration

	counts [Ops]atomic.Int64
}

// Count is the number of operations of a kind so far.
func (f *Fault) Count(op Op) int64 { return f.counts[op].Load() }

// Hit reports that the operation that is to fail was reached.
func (f *Fault) Hit() bool { return f.N > 0 && f.Count(f.Op) >= f.N }

// fail counts an operation, and is its error where it is the one to fail.
func (f *Fault) fail(op Op, name string) error {
	if n := f.counts[op].Add(1); op != f.Op || n != f.N {
		return nil
	}
	time.Sleep(f.Delay)
	if f.Err == nil {
		return nil
	}
	return &fs.PathError{Op: op.String(), Path: name, Err: f.Err}
}

// OpenFile opens or creates.
func (f *Fault) OpenFile(name string, flag int, perm fs.FileMode) (disk.Handle, error) {
	op := Open
	if flag&os.O_CREATE != 0 {
		op = Create
	}
	if err := f.fail(op, name); err != nil {
		return nil, err
	}
	h, err := disk.System().OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return faulty{h, f}, nil
}

// Mkdir makes a folder.
func (f *Fault) Mkdir(name string, perm fs.FileMode) error {
	if err := f.fail(Mkdir, name); err != nil {
		return err
	}
	return disk.System().Mkdir(name, perm)
}

// Rename renames.
func (f *Fault) Rename(from, to string) error {
	if err := f.fail(Rename, to); err != nil {
		return err
	}
	return disk.System().Rename(from, to)
}

// Exchange is a Rename.
func (f *Fault) Exchange(a, b string) error {
	if err := f.fail(Rename, b); err != nil {
		return err
	}
	return disk.System().Exchange(a, b)
}

// Remove removes.
func (f *Fault) Remove(name string) error {
	if err := f.fail(Remove, name); err != nil {
		return err
	}
	return disk.System().Remove(name)
}

// List lists.
func (f *Fault) List(name string, yield func(fs.DirEntry) bool) error {
	if err := f.fail(List, name); err != nil {
		return err
	}
	return disk.System().List(name, yield)
}

// SyncDir syncs a folder.
func (f *Fault) SyncDir(name string) error {
	if err := f.fail(Sync, name); err != nil {
		return err
	}
	return disk.System().SyncDir(name)
}

type faulty struct {
	disk.Handle
	fault *Fault
}

func (h faulty) ReadAt(p []byte, at int64) (int, error) {
	if err := h.fault.fail(Read, h.OS().Name()); err != nil {
		return h.half(h.Handle.ReadAt, p, at), err
	}
	return h.Handle.ReadAt(p, at)
}

func (h faulty) WriteAt(p []byte, at int64) (int, error) {
	if err := h.fault.fail(Write, h.OS().Name()); err != nil {
		return h.half(h.Handle.WriteAt, p, at), err
	}
	return h.Handle.WriteAt(p, at)
}

// half does half of an operation where that is wanted. Whether it succeeds is not
// told any more.
func (h faulty) half(do func([]byte, int64) (int, error), p []byte, at int64) int {
	if !h.fault.Short {
		return 0
	}
	n, _ := do(p[:len(p)/2], at)
	return n
}

func (h faulty) Truncate(size int64) error {
	if err := h.fault.fail(Write, h.OS().Name()); err != nil {
		return err
	}
	return h.Handle.Truncate(size)
}

func (h faulty) Sync() error {
	if err := h.fault.fail(Sync, h.OS().Name()); err != nil {
		return err
	}
	return h.Handle.Sync()
}

func (h faulty) Map(at int64, n int) (mmap.MMap, error) {
	if err := h.fault.fail(Read, h.OS().Name()); err != nil {
		return nil, err
	}
	return h.Handle.Map(at, n)
}
