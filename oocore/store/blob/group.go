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

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// group is the uploads of one folder that wait to be made durable together.
type group struct {
	root    string
	syncing sync.Mutex // a Sync does not return before one that it relies on
	failed  error      // of a Sync, after which no other can be believed

	mu      sync.Mutex
	busy    map[string]bool    // temporary names in use
	pending map[string]*upload // closed, by their name
	folders map[string]bool    // whose entries have changed
}

const suffix = ".gonbext"

// temporary reports the name of an upload.
func temporary(base string) bool {
	return strings.HasPrefix(base, ".") && strings.Contains(base, suffix)
}

// hidden is a temporary name, the same for every process that writes a file.
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

// reserve takes a temporary name.
func (g *group) reserve(name string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy == nil {
		g.busy, g.pending, g.folders = map[string]bool{}, map[string]*upload{}, map[string]bool{}
	}
	for n := 0; ; n++ {
		if temp := hidden(name, n); !g.busy[temp] {
			g.busy[temp] = true
			return temp
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
	name, err := d.path(key)
	if err != nil {
		return nil, err
	}
	temp := d.reserve(name)
	f, err := d.create(temp)
	if err != nil {
		d.release(temp)
		return nil, err
	}
	return &upload{group: d.group, name: name, temp: temp, file: f}, nil
}

// create makes a file and the folders above it, in place of one that was left.
func (g *group) create(temp string) (*disk.File, error) {
	f, err := disk.CreatePart(temp)
	if errors.Is(err, fs.ErrExist) {
		if err := disk.Remove(temp); err != nil {
			return nil, err
		}
		f, err = disk.CreatePart(temp)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err := g.makeFolder(filepath.Dir(temp)); err != nil {
			return nil, err
		}
		f, err = disk.CreatePart(temp)
	}
	return f, err
}

func (g *group) makeFolder(name string) error {
	err := disk.Mkdir(name, 0o777)
	if above := filepath.Dir(name); errors.Is(err, fs.ErrNotExist) && above != name {
		if err := g.makeFolder(above); err != nil {
			return err
		}
		err = disk.Mkdir(name, 0o777)
	}
	if errors.Is(err, fs.ErrExist) { // another upload was faster
		return nil
	}
	if err == nil {
		g.changed(filepath.Dir(name))
	}
	return err
}

func (g *group) changed(folder string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.folders[folder] = true
}

func (g *group) delete(name string) error {
	g.mu.Lock()
	u := g.pending[name]
	delete(g.pending, name)
	if g.folders == nil {
		g.folders = map[string]bool{}
	}
	g.folders[filepath.Dir(name)] = true
	g.mu.Unlock()
	var err error
	if u != nil {
		err = u.discard()
	}
	return errors.Join(err, disk.Remove(name))
}

// upload is one file being written.
type upload struct {
	*group
	name, temp string
	file       *disk.File
	at         int64 // behind the last Write
	closed     bool
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
		return &fs.PathError{Op: "write", Path: u.name, Err: fs.ErrClosed}
	}
	for len(p) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(p), pieceBytes-int(at%disk.Page))
		cached, err := u.file.Write(p[:n], at)
		if err == nil {
			err = u.file.Settle(at, at+int64(n), cached)
		}
		if err != nil {
			return u.named("write", err)
		}
		p, at = p[n:], at+int64(n)
	}
	return nil
}

// named gives an error the name that the object will have.
func (u *upload) named(op string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	} else if inner, ok := errors.AsType[*os.LinkError](err); ok {
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: u.name, Err: err}
}

func (u *upload) Close(ctx context.Context) error {
	if u.closed {
		return &fs.PathError{Op: "close", Path: u.name, Err: fs.ErrClosed}
	}
	if err := u.file.Flush(); err != nil {
		return u.named("close", err)
	}
	u.closed = true
	u.mu.Lock()
	earlier := u.pending[u.name]
	u.pending[u.name] = u
	u.mu.Unlock()
	if earlier != nil {
		return earlier.discard()
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
	return errors.Join(u.file.Close(), disk.Remove(u.temp))
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
	g.pending, g.folders = map[string]*upload{}, map[string]bool{}
	g.mu.Unlock()

	err := g.failed
	if err == nil {
		err = syncAll(ctx, uploads)
	}
	for _, u := range uploads {
		if err != nil {
			_ = u.discard() // the first error is the one that tells
			continue
		}
		folders[filepath.Dir(u.name)] = true
		if err = u.publish(); err != nil {
			_ = u.discard()
		}
	}
	for f := range folders {
		if err != nil {
			break
		}
		if err = disk.SyncDir(f); errors.Is(err, fs.ErrNotExist) { // of what was deleted
			err = nil
		}
	}
	return err
}

// publish puts an upload under its name.
func (u *upload) publish() error {
	if err := u.file.Close(); err != nil {
		return u.named("close", err)
	}
	if err := disk.Rename(u.temp, u.name); err != nil {
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
	next := make(chan *upload)
	errs := make(chan error, syncWorkers)
	for range min(syncWorkers, len(uploads)) {
		go func() {
			var first error
			for u := range next {
				if first == nil {
					first = ctx.Err()
				}
				if first != nil {
					continue
				}
				if err := u.file.Sync(); err != nil {
					first = u.named("sync", err)
				}
			}
			errs <- first
		}()
	}
	for _, u := range uploads {
		next <- u
	}
	close(next)
	var first error
	for range min(syncWorkers, len(uploads)) {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}
