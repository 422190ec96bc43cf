package disktest

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// Crash is the machine's file system, which remembers what of a folder was made
// durable: the bytes of files by their Sync, the entries of folders by SyncDir.
// It keeps all in memory, and a descriptor for every file.
type Crash struct {
	// Each is called after every operation that changes something, one at a time.
	Each func()

	root  string
	t     testing.TB
	turn  sync.Mutex // of Each
	mu    sync.Mutex
	nodes map[uint64]*node
}

// node is a file or folder. The descriptor keeps its number from being given to
// another.
type node struct {
	held    *os.File
	folder  bool
	bytes   []byte            // of a file, when it was synced last
	entries map[string]uint64 // of a folder
}

// NewCrash begins with what is in a folder, all of it durable.
func NewCrash(t testing.TB, root string) *Crash {
	c := &Crash{root: root, t: t, nodes: map[uint64]*node{}, Each: func() {}}
	t.Cleanup(func() {
		for _, n := range c.nodes {
			n.held.Close()
		}
	})
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		n := c.see(name)
		if e.IsDir() {
			n.entries = c.list(name)
		} else {
			n.bytes = read(t, n.held)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// see finds the node of a name, also where it is new.
func (c *Crash) see(name string) *node {
	f, err := os.Open(name)
	if err != nil {
		c.t.Fatal(err)
	}
	st, err := f.Stat()
	if err != nil {
		c.t.Fatal(err)
	}
	ino := disk.Inode(st)
	if n := c.nodes[ino]; n != nil {
		f.Close()
		return n
	}
	n := &node{held: f, folder: st.IsDir()}
	c.nodes[ino] = n
	return n
}

func (c *Crash) list(folder string) map[string]uint64 {
	entries, err := os.ReadDir(folder)
	if err != nil {
		c.t.Fatal(err)
	}
	all := map[string]uint64{}
	for _, e := range entries {
		name := filepath.Join(folder, e.Name())
		c.see(name)
		st, err := os.Lstat(name)
		if err != nil {
			c.t.Fatal(err)
		}
		all[e.Name()] = disk.Inode(st)
	}
	return all
}

func read(t testing.TB, f *os.File) []byte {
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, st.Size())
	if n, err := f.ReadAt(b, 0); n < len(b) && err != io.EOF {
		t.Fatal(err)
	}
	return b
}

// Lost writes to another folder what a crash now would leave if the disk had kept
// nothing that it was not told to.
func (c *Crash) Lost(to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restore(to, c.see(c.root), func(n *node) map[string]uint64 { return n.entries }, func(n *node) []byte { return n.bytes })
}

// Torn is as Lost, if the disk had kept all names, and of what was written since
// each file's last Sync half.
func (c *Crash) Torn(to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[*node]map[string]uint64{}
	err := filepath.WalkDir(c.root, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			names[c.see(name)] = c.list(name)
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.restore(to, c.see(c.root), func(n *node) map[string]uint64 { return names[n] }, func(n *node) []byte {
		now := read(c.t, n.held)
		torn := make([]byte, len(now))
		copy(torn, n.bytes)
		copy(torn, now[:len(now)/2])
		return torn
	})
}

func (c *Crash) restore(to string, n *node, entries func(*node) map[string]uint64, bytes func(*node) []byte) {
	var err error
	if !n.folder {
		err = os.WriteFile(to, bytes(n), 0o666)
	} else if err = os.Mkdir(to, 0o777); err == nil || os.IsExist(err) {
		err = nil
		for name, ino := range entries(n) {
			c.restore(filepath.Join(to, name), c.nodes[ino], entries, bytes)
		}
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// done ends an operation.
func (c *Crash) done(err error) error {
	if err == nil {
		c.turn.Lock()
		defer c.turn.Unlock()
		c.Each()
	}
	return err
}

// FS returns the file system that is watched, in open folders too.
func (c *Crash) FS() disk.FS { return seen{c, disk.System(), ""} }

// seen is a file system that a Crash watches.
type seen struct {
	crash *Crash
	fs    disk.FS
	root  string // of an open folder
}

func (s seen) OpenFile(name string, flag int, perm fs.FileMode) (disk.Handle, error) {
	h, err := s.fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if flag&os.O_CREATE != 0 {
		s.crash.mu.Lock()
		s.crash.see(filepath.Join(s.root, name))
		s.crash.mu.Unlock()
		_ = s.crash.done(nil)
	}
	return watched{h, s.crash}, nil
}

func (s seen) Mkdir(name string, perm fs.FileMode) error { return s.crash.done(s.fs.Mkdir(name, perm)) }
func (s seen) Rename(from, to string) error              { return s.crash.done(s.fs.Rename(from, to)) }
func (s seen) Link(from, to string) error                { return s.crash.done(s.fs.Link(from, to)) }
func (s seen) Exchange(a, b string) error                { return s.crash.done(s.fs.Exchange(a, b)) }
func (s seen) Remove(name string) error                  { return s.crash.done(s.fs.Remove(name)) }

func (s seen) List(name string, yield func(fs.DirEntry) bool) error { return s.fs.List(name, yield) }

func (s seen) SyncDir(name string) error {
	if err := s.fs.SyncDir(name); err != nil {
		return err
	}
	name = filepath.Join(s.root, name)
	s.crash.mu.Lock()
	s.crash.see(name).entries = s.crash.list(name)
	s.crash.mu.Unlock()
	return s.crash.done(nil)
}

func (s seen) Below(root *disk.Root) disk.FS { return seen{s.crash, s.fs.Below(root), root.Name()} }

type watched struct {
	disk.Handle
	crash *Crash
}

func (h watched) WriteAt(p []byte, at int64) (int, error) {
	n, err := h.Handle.WriteAt(p, at)
	return n, h.crash.done(err)
}

func (h watched) Truncate(size int64) error { return h.crash.done(h.Handle.Truncate(size)) }

func (h watched) Sync() error {
	if err := h.Handle.Sync(); err != nil {
		return err
	}
	st, err := h.Stat()
	if err != nil {
		return err
	}
	h.crash.mu.Lock()
	if n := h.crash.nodes[disk.Inode(st)]; n != nil { // of the folder
		n.bytes = read(h.crash.t, n.held)
	}
	h.crash.mu.Unlock()
	return h.crash.done(nil)
}
