package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/flock"
)

// group is the uploads of one folder that wait to be made durable together.
type group struct {
	root    string
	made    atomic.Bool // the folder is there
	syncing sync.Mutex  // a Sync does not return before one that it relies on
	failed  error       // of a Sync, after which no other can be believed

	mu      sync.Mutex
	busy    map[string]bool    // temporary names in use
	pending map[string]*upload // closed, by their name
	open    int                // of pending, those with an open file
	taken   int                // by a Sync that is not over, likewise
	folders map[string]bool    // whose entries have changed
}

const suffix = ".gonbext"

// temporary reports the name of an upload.
func temporary(base string) bool {
	return strings.HasPrefix(base, ".") && strings.Contains(base, suffix)
}

// hidden is a temporary name in the folder of a file.
func hidden(name string, n int) string {
	folder, base := filepath.Split(name)
	if len(base) > 200 {
		sum := sha256.Sum256([]byte(base))
		base = hex.EncodeToString(sum[:8])
	}
	temp := "." + base + suffix
	if n > 0 {
		temp += "-" + strconv.Itoa(n)
	}
	return folder + temp
}

// reserve takes a temporary name that no other upload of this process has, from a
// number on.
func (g *group) reserve(name string, from int) (temp string, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy == nil {
		g.busy, g.pending, g.folders = map[string]bool{}, map[string]*upload{}, map[string]bool{}
	}
	for n := from; ; n++ {
		if temp := hidden(name, n); !g.busy[temp] {
			g.busy[temp] = true
			return temp, n
		}
	}
}

func (g *group) release(temp string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.busy, temp)
}

func (d dir) Create(ctx context.Context, key string) (Upload, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name, err := d.name(key)
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		var temp string
		temp, n = d.reserve(name, n)
		f, err := d.create(temp)
		if err == nil {
			return &upload{group: d.group, name: name, temp: temp, file: f}, nil
		}
		d.release(temp)
		if err != errInUse {
			return nil, err
		}
	}
}

// in opens the folder, for operations on names in it.
func (g *group) in(do func(root *disk.Root) error) error {
	root, err := disk.OpenRoot(g.root)
	if err != nil {
		return err
	}
	defer root.Close()
	return escapes(g.root, do(root))
}

// errInUse is of a temporary name that another process has.
var errInUse = errors.New("the temporary name is in use")

// create makes a file and the folders above it, in place of one that a killed
// process has left. Until it is closed a lock says that it is in use.
func (g *group) create(temp string) (f *disk.File, err error) {
	if err := g.makeRoot(); err != nil {
		return nil, err
	}
	err = g.in(func(root *disk.Root) (err error) {
		fsys := root.FS()
		f, err = disk.CreatePartIn(fsys, temp)
		if errors.Is(err, fs.ErrNotExist) {
			if err := disk.MakeFolders(fsys, filepath.Dir(temp), 0o777, func(name string) { g.changed(g.path(filepath.Dir(name))) }); err != nil {
				return err
			}
			f, err = disk.CreatePartIn(fsys, temp)
		}
		if errors.Is(err, fs.ErrExist) {
			f, err = replace(root, temp)
		}
		if err != nil {
			return err
		}
		switch err = f.Lock(); {
		case errors.Is(err, errors.ErrUnsupported), err == nil && disk.Linked(f):
			return nil
		case err == nil, errors.Is(err, flock.ErrLocked): // another took it for one that was left
			return errors.Join(errInUse, f.Close())
		}
		return errors.Join(err, f.Close(), fsys.Remove(temp))
	})
	return f, unjoined(err)
}

// unjoined is errInUse where nothing was joined to it.
func unjoined(err error) error {
	if errors.Is(err, errInUse) {
		return errInUse
	}
	return err
}

// replace makes a file in place of one whose writer has ended.
func replace(root *disk.Root, temp string) (*disk.File, error) {
	fsys := root.FS()
	st, err := root.Lstat(temp)
	if err == nil && st.Mode().IsRegular() {
		left, err := fsys.OpenFile(temp, os.O_RDWR, 0)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return nil, errInUse
			}
			return nil, err
		}
		defer left.Close()
		switch err := left.Lock(); {
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, flock.ErrLocked):
			return nil, errInUse
		case err != nil:
			return nil, err
		}
		if opened, err := left.Stat(); err != nil || !os.SameFile(opened, st) || !disk.Linked(left) {
			return nil, errInUse
		}
	}
	if err := fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := disk.CreatePartIn(fsys, temp)
	if errors.Is(err, fs.ErrExist) {
		err = errInUse
	}
	return f, err
}

// makeRoot makes the folder itself, and those above it.
func (g *group) makeRoot() error {
	if g.made.Load() {
		return nil
	}
	if st, err := os.Stat(g.root); err != nil || !st.IsDir() {
		if err := disk.MakeFolders(disk.Current(), g.root, 0o777, func(name string) { g.changed(filepath.Dir(name)) }); err != nil {
			return err
		}
	}
	g.made.Store(true)
	return nil
}

// changed notes the path of a folder.
func (g *group) changed(folder string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.folders[folder] = true
}

func (g *group) delete(name string) error {
	g.syncing.Lock() // which takes uploads out of pending for a while
	defer g.syncing.Unlock()
	g.mu.Lock()
	u := g.pending[name]
	delete(g.pending, name)
	if u != nil && !u.synced {
		g.open--
	}
	if g.folders == nil {
		g.folders = map[string]bool{}
	}
	g.folders[g.path(filepath.Dir(name))] = true
	g.mu.Unlock()
	var err error
	if u != nil {
		err = u.discard()
	}
	return errors.Join(err, g.remove(name))
}

// remove removes a file. That it is not there is no error.
func (g *group) remove(name string) error {
	err := g.in(func(root *disk.Root) error { return root.FS().Remove(name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// upload is one file being written.
type upload struct {
	*group
	name, temp string
	file       *disk.File
	at         int64 // behind the last Write
	closed     bool
	synced     bool        // and its file is closed
	is         fs.FileInfo // which file that is
}

func (u *upload) Write(ctx context.Context, p []byte) error {
	if err := u.WriteAt(ctx, p, u.at); err != nil {
		return err
	}
	u.at += int64(len(p))
	return nil
}

func (u *upload) WriteAt(ctx context.Context, p []byte, at int64) error {
	if u.closed {
		return &fs.PathError{Op: "write", Path: u.path(u.name), Err: fs.ErrClosed}
	}
	err := u.file.WriteAll(ctx, p, at)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return u.named("write", err)
}

// named gives an error the name that the object will have.
func (u *upload) named(op string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	} else if inner, ok := errors.AsType[*os.LinkError](err); ok {
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: u.path(u.name), Err: err}
}

// Entry is empty: what a file's version is shows when it has its name.
func (u *upload) Entry() Entry { return Entry{} }

func (u *upload) Close(ctx context.Context) error {
	if u.closed {
		return &fs.PathError{Op: "close", Path: u.path(u.name), Err: fs.ErrClosed}
	}
	if err := u.file.Flush(); err != nil {
		return u.named("close", err)
	}
	u.closed = true
	u.mu.Lock()
	earlier := u.pending[u.name]
	u.pending[u.name] = u
	u.open++
	if earlier != nil && !earlier.synced {
		u.open--
	}
	many := u.open > disk.OpenFiles(openUploads) || u.open+u.taken > disk.OpenFiles(2*openUploads)
	u.mu.Unlock()
	if earlier != nil {
		if err := earlier.discard(); err != nil {
			return err
		}
	}
	if many {
		return u.group.shrink(ctx)
	}
	return nil
}

// openUploads is how many uploads wait for a Sync with their files open, besides those of a
// Sync that is not over.
const openUploads = 512

// shrink makes the uploads that wait durable and closes their files. A Sync puts them
// under their names.
func (g *group) shrink(ctx context.Context) error {
	g.syncing.Lock()
	defer g.syncing.Unlock()
	if g.failed != nil {
		return g.failed
	}
	g.mu.Lock()
	uploads := map[string]*upload{}
	for name, u := range g.pending {
		if !u.synced {
			uploads[name] = u
			delete(g.pending, name)
		}
	}
	g.open -= len(uploads)
	g.taken = len(uploads)
	g.mu.Unlock()
	defer g.endSync()
	err := syncAll(ctx, uploads)
	for name, u := range uploads {
		if err == nil {
			err = u.settle()
		}
		g.mu.Lock()
		if _, newer := g.pending[name]; err == nil && !newer {
			g.pending[name] = u
			u = nil
		}
		g.mu.Unlock()
		if u != nil {
			_ = u.discard()
		}
	}
	if g.failed == nil {
		g.failed = err
	}
	return err
}

// endSync notes that the files of a Sync are closed.
func (g *group) endSync() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.taken = 0
}

// settle closes the file of an upload that is durable.
func (u *upload) settle() (err error) {
	if u.is, err = u.file.Stat(); err == nil {
		err = u.file.Close()
	}
	u.synced = true
	if err != nil {
		return u.named("close", err)
	}
	return nil
}

func (u *upload) Abort() {
	if !u.closed {
		u.closed = true
		_ = u.discard() // it is left for the next to replace
	}
}

// discard removes an upload.
func (u *upload) discard() error {
	defer u.release(u.temp)
	if u.synced {
		return u.remove(u.temp)
	}
	return errors.Join(u.file.Close(), u.remove(u.temp))
}

// Sync makes the closed uploads durable. After an error none of them is there that
// was not renamed yet, also of those that others have closed: each later Sync, which
// may be theirs, fails too.
func (g *group) Sync(ctx context.Context) error {
	g.syncing.Lock()
	defer g.syncing.Unlock()
	err := g.sync(ctx)
	if g.failed == nil {
		g.failed = err
	}
	return g.failed
}

func (g *group) sync(ctx context.Context) error {
	g.mu.Lock()
	uploads, folders := g.pending, g.folders
	g.taken = g.open
	g.pending, g.folders, g.open = map[string]*upload{}, map[string]bool{}, 0
	g.mu.Unlock()
	defer g.endSync()

	err := g.failed
	if err == nil {
		err = syncAll(ctx, uploads)
	}
	for _, u := range uploads {
		if err != nil {
			_ = u.discard() // the first error is the one that tells
			continue
		}
		folders[u.path(filepath.Dir(u.name))] = true
		if err = u.publish(); err != nil {
			_ = u.discard()
		}
	}
	for f := range folders {
		if err != nil {
			break
		}
		if err = g.syncDir(f); errors.Is(err, fs.ErrNotExist) { // of what was deleted
			err = nil
		}
	}
	return err
}

// syncDir makes the entries of a folder durable, which is in the root or above it.
func (g *group) syncDir(folder string) error {
	name, err := filepath.Rel(g.root, folder)
	if err != nil || !filepath.IsLocal(name) {
		return disk.SyncDir(folder)
	}
	return g.in(func(root *disk.Root) error { return root.FS().SyncDir(name) })
}

// path is where a file of the folder lies.
func (g *group) path(name string) string { return filepath.Join(g.root, name) }

// publish puts an upload under its name. It is closed after that, and with it
// unlocked, where the system renames open files.
func (u *upload) publish() error {
	if u.synced {
		return u.publishSynced()
	}
	if !disk.RenamesOpen {
		if err := u.file.Close(); err != nil {
			return u.named("close", err)
		}
	}
	if err := u.in(func(root *disk.Root) error { return root.FS().Rename(u.temp, u.name) }); err != nil {
		return u.named("rename", err)
	}
	u.release(u.temp)
	if !disk.RenamesOpen {
		return nil
	}
	if err := u.file.Close(); err != nil {
		return u.named("close", err)
	}
	return nil
}

// publishSynced is publish of a file that is closed: nothing has kept another process
// from taking it for one that was left.
func (u *upload) publishSynced() error {
	err := u.in(func(root *disk.Root) error {
		now, err := root.Lstat(u.temp)
		if err != nil {
			return err
		}
		if !os.SameFile(now, u.is) {
			return errors.New("another process writes it too")
		}
		return root.FS().Rename(u.temp, u.name)
	})
	if err != nil {
		return u.named("rename", err)
	}
	u.release(u.temp)
	return nil
}

// syncWorkers is how many files are synced at once: a disk's journal takes what
// comes together in one go. Measured in milliseconds, until all of a group are
// renamed and their folder is synced, two goroutines writing:
//
//	                              150 of 4 MiB, direct   cached   500 of 50 KB
//	synced one by one, at the end                  228      375            210
//	eight at once, at the end                      252      301            154
//	begun at Close, eight at the end               221      249            144
//	syncfs of the whole disk                       237      276            136
//	synced at Close                                273      422            192
//
// syncfs is no better, and waits for what others write to the same disk.
const syncWorkers = 8

// syncAll syncs uploads, and returns the first error.
func syncAll(ctx context.Context, uploads map[string]*upload) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(syncWorkers)
	for _, u := range uploads {
		if u.synced {
			continue
		}
		group.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := u.file.Sync(); err != nil {
				return u.named("sync", err)
			}
			return nil
		})
	}
	return group.Wait()
}
