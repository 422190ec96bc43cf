package zarr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// groupText is the metadata of a group.
const groupText = `{
  "zarr_format": 3,
  "node_type": "group",
  "attributes": {}
}
`

// place is the folder that a new array comes into being with: its own, or that of
// the outermost group which is missing.
func place(path string) string {
	at, _ := groups(path)
	return at
}

// groups is place, and the groups above it.
func groups(path string) (at string, above []string) {
	path = strings.TrimRight(path, "/")
	root, inner := split(path)
	if zipped(path) {
		return root, nil
	}
	if inner == "" || !blob.PlaceOf(path).Files {
		return path, nil
	}
	at = root
	for part := range strings.SplitSeq(inner, "/") {
		if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
			break
		}
		above = append(above, at)
		at += "/" + part
	}
	return at, above
}

// localTarget puts an array under its name on this machine.
type localTarget struct {
	newArrayTarget
	root   string   // the store's folder
	place  string   // what is moved to its name, links followed
	inner  string   // the array's path in it
	groups []string // folders above place, in the store
	old    fs.FileInfo
	temp   string

	syncing sync.Mutex
	durable bool // what a later writer resumes by
}

// Placed reports that an earlier writer has put the array in its place.
func (t *localTarget) Placed() bool { return t.inPlace }

func newLocalTarget(path string, n newArrayTarget) (*localTarget, error) {
	t := &localTarget{newArrayTarget: n}
	t.root, _ = split(path)
	t.place, t.groups = groups(path)
	if rest := strings.TrimRight(path, "/"); rest != t.place {
		t.inner = rest[len(t.place)+1:]
	}
	for _, group := range t.groups {
		if err := checkGroup(group); err != nil {
			return nil, err
		}
	}
	t.copies = localGroups(path, t.root, t.place)
	if followed, err := filepath.EvalSymlinks(t.place); err == nil {
		t.place = followed
	}
	old, err := os.Stat(t.place)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	t.old = old
	return t, replaceable(context.Background(), t.place, old)
}

// checkGroup rejects a folder in which there cannot be an array.
func checkGroup(folder string) error {
	_, _, err := loadMeta(context.Background(), blob.Dir(folder))
	switch {
	case err == nil:
		return fmt.Errorf("%s is an array: there can be none in it", folder)
	case err != errGroup && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", folder, err)
	}
	for _, name := range []string{v2Group, v2Consolidated} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return errV2Group(folder)
		}
	}
	return nil
}

// errV2Group rejects putting an array of version 3 into a group of version 2, whose
// readers would not see it.
func errV2Group(name string) error {
	return fmt.Errorf("%s is a group of version 2: arrays of version 3 cannot be in it: save to another store, or convert the group's arrays first", name)
}

// replaceable rejects replacing what is not an array, and an array whose folder has other
// files, which would be gone with it.
func replaceable(ctx context.Context, folder string, st fs.FileInfo) error {
	if !st.IsDir() {
		return errors.New("a file of this name is there: remove it, or choose another name")
	}
	b := blob.Dir(folder)
	old, _, err := loadMeta(ctx, b)
	switch {
	case err == nil:
		index := make([]int, len(old.shape))
		for e, err := range b.List(ctx, "") {
			if err != nil {
				return err
			}
			if !slices.Contains([]string{v3File, v2File, v2Attributes}, e.Key) && !old.parseIndex(e.Key, index) {
				return fmt.Errorf("%s is no part of the array that is there, and would be deleted with it: move it elsewhere, or choose another name", filepath.Join(folder, filepath.FromSlash(e.Key)))
			}
		}
		return ctx.Err()
	case err == errGroup:
		return errors.New("it is a group: name an array in it, as in " + filepath.Base(folder) + "/NAME, or remove it first")
	}
	if !errors.Is(err, fs.ErrNotExist) { // it may be an array all the same
		return fmt.Errorf("what is there cannot be recognised as an array: remove it first: %w", storage.Plain(err))
	}
	empty := true
	if err := disk.List(folder, func(fs.DirEntry) bool { empty = false; return false }); err != nil {
		return err
	}
	if !empty {
		return errors.New("a folder with other things is there: remove it, or choose another name")
	}
	return nil
}

// array is the folder in which the array is made.
func (t *localTarget) array() string { return filepath.Join(t.temp, filepath.FromSlash(t.inner)) }

// note is the file that says what is being made.
func (t *localTarget) note() string { return t.temp + ".id" }

func (t *localTarget) noteText() []byte {
	return fmt.Appendf(nil, "%s\n%s", t.inner, t.made.encodeV3())
}

func (t *localTarget) chunks() blob.Bucket { return blob.Dir(t.array()) }

// begin makes the folder, or resumes the one that is there.
func (t *localTarget) begin(_ context.Context, _ string, resume bool) (err error) {
	t.temp = t.ws.Join("out.zarr")
	if t.temporary() {
		t.temp = t.place + ".unfinished"
	}
	if t.ws.Attached() {
		note, _ := os.ReadFile(t.note())
		if t.resumes = t.begun(note); !t.resumes { // by the process which holds the staging folder
			return storage.ErrNotStaged
		}
		return nil
	}
	if resume {
		if t.resumes, err = t.resume(); t.resumes || err != nil {
			return err
		}
	}
	defer func() {
		if err != nil && !resume { // what an earlier run has left may still serve another
			err = errors.Join(err, t.clear())
		}
	}()
	if err := t.clear(); err != nil {
		return err
	}
	if err := disk.Fits(filepath.Dir(t.place), t.made.plainBytes()); err != nil {
		return err
	}
	if err := disk.MkdirAll(t.array(), 0o777); err != nil {
		return err
	}
	if t.old != nil {
		if err := disk.Chmod(t.temp, t.old.Mode().Perm()); err != nil {
			return err
		}
	}
	return disk.WriteNote(t.note(), t.noteText())
}

// sync makes durable by what a later writer resumes the chunks that are.
func (t *localTarget) sync() error {
	t.syncing.Lock()
	defer t.syncing.Unlock()
	if t.durable || t.inPlace {
		return nil
	}
	err := disk.WriteFile(t.note(), t.noteText())
	if err == nil {
		err = disk.SyncDir(filepath.Dir(t.ws.Path))
	}
	t.durable = err == nil
	return err
}

// begun reports that a note is of this array, and its folder there.
func (t *localTarget) begun(note []byte) bool {
	st, err := os.Stat(t.temp)
	return err == nil && st.IsDir() && bytes.Equal(note, t.noteText())
}

// clear removes what there is of the array that is being made.
func (t *localTarget) clear() error {
	return errors.Join(disk.Remove(t.note()), t.ws.RemoveMove(t.temp), disk.RemoveAll(t.temp))
}

// plainBytes are those of chunks that are stored as they are; 0 where they are compressed.
func (m *meta) plainBytes() int64 {
	if !m.pipeline.Plain() {
		return 0
	}
	return int64((grid.Grid{Shape: m.shape, Chunks: m.chunks}).Len()) * m.chunkBytes()
}

// resume resumes a folder that an earlier writer of the same array left, or finds that
// that one has put it in its place.
func (t *localTarget) resume() (bool, error) {
	note, err := disk.ReadFile(t.note())
	if err != nil || !bytes.HasSuffix(note, append([]byte{'\n'}, t.made.encodeV3()...)) {
		return false, nil
	}
	now, err := versionIn(context.Background(), t.place, blob.Dir(filepath.Join(t.place, filepath.FromSlash(t.inner))))
	if err == nil {
		if t.inPlace = t.ws.Moved(t.temp, now); t.inPlace {
			return true, nil
		}
	}
	if !t.begun(note) || t.ws.Exchanged(t.temp) { // or more than the groups are there, which come with what is in its place
		return false, nil
	}
	return true, t.ws.RemoveMove(t.temp)
}

// versionIn is the version of the array in a bucket that nobody else writes to now; path is
// what it is called.
func versionIn(ctx context.Context, path string, b blob.Bucket) (v storage.Version, err error) {
	a, err := openIn(ctx, path, b)
	if err != nil {
		return v, err
	}
	v.File = a.Info().ID
	v.Objects, err = a.Digest(ctx)
	return v, errors.Join(err, a.Close())
}

// put moves a folder to a name. What is there is exchanged for it.
func (t *localTarget) put(from, to string) error {
	if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
		err = disk.Rename(from, to)
		if err != nil {
			return err
		}
	} else if err := disk.Exchange(from, to); err != nil {
		return err
	}
	return t.syncFolders(to, from)
}

// syncFolders makes durable that a name has what another had: the new name first.
func (t *localTarget) syncFolders(to, from string) error {
	return errors.Join(disk.SyncDir(filepath.Dir(to)), disk.SyncDir(filepath.Dir(from)))
}

func (t *localTarget) Commit(ctx context.Context) error { return t.publishIn(ctx, t) }

func (t *localTarget) clean(context.Context) error {
	if !t.temporary() { // a region that was begun of what was there is gone with it
		if err := t.ws.ClearDirty(); err != nil {
			return err
		}
	}
	// What cannot be cleaned away does not make the array any less whole. In a staging folder
	// of another's the notes stay until he has noted that the array is in its place.
	if t.temporary() {
		_ = t.clear()
	} else {
		_ = disk.RemoveAll(t.temp)
	}
	return nil
}

// temporary reports an array that stays in the staging folder.
func (t *localTarget) temporary() bool { return filepath.Dir(t.place) == t.ws.Path }

func (t *localTarget) prepare(ctx context.Context, text []byte) error {
	if err := putMetadata(ctx, t.array(), text); err != nil {
		return err
	}
	for at := t.array(); at != t.temp; { // the groups that come with the array
		at = filepath.Dir(at)
		if err := putMetadata(ctx, at, []byte(groupText)); err != nil {
			return err
		}
	}
	for _, group := range t.groups {
		if _, err := os.Stat(filepath.Join(group, v3File)); errors.Is(err, fs.ErrNotExist) {
			if err := putMetadata(ctx, group, []byte(groupText)); err != nil {
				return err
			}
		}
	}
	if !t.temporary() {
		if err := t.ws.Fence(ctx, t.temp); err != nil {
			return err
		}
		v, err := versionIn(ctx, t.place, blob.Dir(t.array()))
		if err == nil {
			err = t.ws.NoteMove(t.temp, t.place, v)
		}
		if err != nil {
			return err
		}
	}
	if t.old != nil { // files may have been put there since the run began
		return replaceable(ctx, t.place, t.old)
	}
	return nil
}

// publish moves the array to its name.
func (t *localTarget) publish(context.Context, []byte) error {
	if t.inPlace {
		return t.syncFolders(t.place, t.temp)
	}
	return t.put(t.temp, t.place)
}

func (t *localTarget) Suspend() error { return nil }

func (t *localTarget) Abort() error { return t.clear() }

// putMetadata makes metadata durable in a folder. What a run that is killed leaves of the file the next one replaces.
func putMetadata(ctx context.Context, folder string, text []byte) error {
	b := blob.Dir(folder)
	_, err := blob.Put(ctx, b, v3File, text)
	if err == nil {
		err = b.Sync(ctx)
	}
	return err
}
