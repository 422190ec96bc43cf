// Package disktest makes the file operations of stores fail, and shows what a
// crash would leave of them.
package disktest

import (
	"io/fs"
	"os"
	"path/filepath"
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
	Lock
	Ops // their number
)

func (o Op) String() string {
	return [...]string{"open", "create", "read", "write", "sync", "rename", "list", "remove", "mkdir", "lock"}[o]
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
	Call  func() // where it is set, before the operation, which then does not fail

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
	if f.Call != nil {
		f.Call()
		return nil
	}
	if f.Err == nil {
		return nil
	}
	return &fs.PathError{Op: op.String(), Path: name, Err: f.Err}
}

// FS returns the file system whose operations are counted, those in open folders too.
func (f *Fault) FS() disk.FS { return counted{f, disk.System(), ""} }

// counted is a file system whose operations a Fault counts.
type counted struct {
	fault *Fault
	fs    disk.FS
	root  string // of an open folder
}

func (c counted) fail(op Op, name string) error { return c.fault.fail(op, filepath.Join(c.root, name)) }

func (c counted) OpenFile(name string, flag int, perm fs.FileMode) (disk.Handle, error) {
	op := Open
	if flag&os.O_CREATE != 0 {
		op = Create
	}
	if err := c.fail(op, name); err != nil {
		return nil, err
	}
	h, err := c.fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return faulty{h, c.fault}, nil
}

func (c counted) Mkdir(name string, perm fs.FileMode) error {
	return unless(c.fail(Mkdir, name), func() error { return c.fs.Mkdir(name, perm) })
}

func (c counted) Rename(from, to string) error {
	return unless(c.fail(Rename, to), func() error { return c.fs.Rename(from, to) })
}

func (c counted) Link(from, to string) error {
	return unless(c.fail(Create, to), func() error { return c.fs.Link(from, to) })
}

func (c counted) Exchange(a, b string) error {
	return unless(c.fail(Rename, b), func() error { return c.fs.Exchange(a, b) })
}

func (c counted) Remove(name string) error {
	return unless(c.fail(Remove, name), func() error { return c.fs.Remove(name) })
}

func (c counted) List(name string, yield func(fs.DirEntry) bool) error {
	return unless(c.fail(List, name), func() error { return c.fs.List(name, yield) })
}

func (c counted) SyncDir(name string) error {
	return unless(c.fail(Sync, name), func() error { return c.fs.SyncDir(name) })
}

func (c counted) Below(root *disk.Root) disk.FS {
	return counted{c.fault, c.fs.Below(root), root.Name()}
}

// unless does an operation that does not fail.
func unless(err error, do func() error) error {
	if err != nil {
		return err
	}
	return do()
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
	return unless(h.fault.fail(Write, h.OS().Name()), func() error { return h.Handle.Truncate(size) })
}

func (h faulty) Sync() error { return unless(h.fault.fail(Sync, h.OS().Name()), h.Handle.Sync) }

func (h faulty) Map(at int64, n int) (mmap.MMap, error) {
	if err := h.fault.fail(Read, h.OS().Name()); err != nil {
		return nil, err
	}
	return h.Handle.Map(at, n)
}

func (h faulty) Lock() error { return unless(h.fault.fail(Lock, h.OS().Name()), h.Handle.Lock) }

// Dir is a folder for one test, in memory where the machine has one there: what
// counts is which operations fail and what is synced, not how long that takes.
func Dir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "gonbext-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
