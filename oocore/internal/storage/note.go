package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// A run on a cluster whose output is in an object store has its staging folder in the folder of the command that began
// it. A note in the store, the object .gonbext/NAME.json beside the output, names that folder, so that the run is found
// from any machine and any folder. It is stored by a conditional request before anything else of the run, and deleted
// before the staging folder is removed.

const (
	notesPrefix = ".gonbext/"
	// noteMax is the largest size of a note.
	noteMax = 64 << 10
)

// note is the content of the object.
type note struct {
	Output string `json:"output"` // what has the staging folder
	Folder string `json:"folder"` // as StagingIn takes it
}

// staging returns the staging folder that a note leads to. The error is fs.ErrNotExist where there is none.
func (n note) staging() (string, error) {
	if _, err := os.Stat(n.Folder); err != nil {
		bucket, key := keyOf(n.Output)
		return "", fmt.Errorf("the files of the run that computes it are in %s, which this machine does not see: go to one that does, or delete %s/%s where the folder is gone", n.Folder, blob.Shown(bucket), key)
	}
	dir, err := StagingPath(StagingIn(n.Folder, n.Output))
	if err == nil {
		_, err = disk.Lstat(dir)
	}
	return dir, err
}

// keyOf returns the bucket and the key of an output's note.
func keyOf(output string) (bucket, key string) {
	place := strings.TrimRight(formatOf(output).Place(output), "/")
	bucket, name := path.Split(place)
	if bucket = strings.TrimSuffix(bucket, "/"); strings.HasSuffix(bucket, "/") { // what is named is the bucket
		bucket = place
	}
	return bucket, notesPrefix + name + ".json"
}

// noteOf reads the note of an output, which has a key of a bucket. The error is fs.ErrNotExist where there is none,
// as of a file or folder of this machine, for which b is nil.
func noteOf(ctx context.Context, output string) (b blob.Bucket, key string, n note, version string, err error) {
	if placeOf(output).Files {
		return nil, "", n, "", fs.ErrNotExist
	}
	bucket, key := keyOf(output)
	if b, err = blob.At(bucket); err == nil {
		n, version, err = readNote(ctx, b, key)
	}
	return b, key, n, version, err
}

// readNote reads a note of a bucket. The error is fs.ErrNotExist where there is none.
func readNote(ctx context.Context, b blob.Bucket, key string) (n note, version string, err error) {
	text := make([]byte, noteMax)
	e, err := blob.Get(ctx, b, key, text)
	if err == nil && (json.Unmarshal(text[:e.Size], &n) != nil || n.Folder == "") {
		err = fmt.Errorf("%s/%s does not say where a run on a cluster has its files: delete it where there is none", b, key)
	}
	return n, e.Version, err
}

// NotedFolder returns the folder that a run on a cluster has noted for an output in an object store: "" where there is no such run.
func NotedFolder(ctx context.Context, output string) (string, error) {
	_, _, n, _, err := noteOf(ctx, output)
	if err == nil {
		_, err = n.staging()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return n.Folder, err
}

// NoteFolder notes which folder has the staging folder of an output in an object store, and rejects a run where another folder has one.
func NoteFolder(ctx context.Context, output, folder string) error {
	b, key, was, version, err := noteOf(ctx, output)
	if b == nil && errors.Is(err, fs.ErrNotExist) || err == nil && was.Folder == folder {
		return nil
	}
	if err == nil {
		if _, err = was.staging(); err == nil {
			err = blob.ErrReplaced
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		var text []byte
		if text, err = json.Marshal(note{output, folder}); err == nil {
			_, err = blob.PutIf(ctx, b, key, text, version)
		}
	}
	if errors.Is(err, blob.ErrReplaced) {
		err = errors.New("another run on a cluster computes it: gonbext jobs has it")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", blob.Shown(output), err)
	}
	return nil
}

// ForgetFolder deletes the note of an output, where it names a folder.
func ForgetFolder(ctx context.Context, output, folder string) error {
	b, key, n, _, err := noteOf(ctx, output)
	if err == nil && n.Folder == folder {
		err = b.Delete(ctx, key)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// StagingDirs returns the staging folders of the outputs that lie in a folder, or below an object store's address as notes have
// them, and that of an output.
func StagingDirs(ctx context.Context, at string) (all []string, err error) {
	if place := placeOf(at); place.Files {
		entries, _ := os.ReadDir(at) // none where it is no folder
		for _, e := range entries {
			if e.IsDir() && strings.HasSuffix(e.Name(), stagingSuffix) {
				all = append(all, filepath.Join(at, e.Name()))
			}
		}
		own, _, err := stagingPath(place)
		if err != nil {
			return nil, PathError("open", at, err)
		}
		return append(all, own), nil
	}
	bucket, key := keyOf(at)
	for _, in := range []struct{ bucket, prefix string }{{bucket, key}, {strings.TrimRight(at, "/"), notesPrefix}} {
		b, err := blob.At(in.bucket)
		if err != nil {
			return nil, err
		}
		for e, err := range b.List(ctx, in.prefix) {
			if err != nil {
				return nil, err
			}
			n, _, err := readNote(ctx, b, e.Key)
			if errors.Is(err, fs.ErrNotExist) { // its run has ended meanwhile
				continue
			}
			var dir string
			if err == nil {
				dir, err = n.staging()
			}
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", blob.Shown(n.Output), err)
			}
			if !slices.Contains(all, dir) {
				all = append(all, dir)
			}
		}
	}
	return all, nil
}
