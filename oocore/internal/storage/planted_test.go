package storage_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// victim is a folder with files under the names that workspaces use.
type victim struct {
	t   *testing.T
	dir string
}

var victimFiles = []string{"lock", "out.npy", "out.npy.id", "precious", "sub/file"}

func newVictim(t *testing.T) victim {
	t.Helper()
	v := victim{t, t.TempDir()}
	if err := os.Chmod(v.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range victimFiles {
		name = filepath.Join(v.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("precious"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func (v victim) check() {
	v.t.Helper()
	var got []string
	err := filepath.WalkDir(v.dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if string(text) != "precious" {
			v.t.Errorf("%s holds %q", name, text)
		}
		rel, _ := filepath.Rel(v.dir, name)
		got = append(got, filepath.ToSlash(rel))
		return err
	})
	if err != nil || !slices.Equal(got, victimFiles) {
		v.t.Errorf("of the victim's files there are %v, want %v: %v", got, victimFiles, err)
	}
}

func try(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// saveSmall saves an array, and gives up after an error.
func saveSmall(t *testing.T, path string) error {
	w, err := storage.Create(path, small)
	if err != nil {
		return err
	}
	if err := w.Commit(t.Context()); err != nil {
		return errors.Join(err, w.Abort())
	}
	return nil
}

// Nothing that others put under a workspace's name is taken for one.
func TestWorkspaceRejectsWhatOthersPlanted(t *testing.T) {
	for name, plant := range map[string]func(t *testing.T, ws string, v victim){
		"a link to a folder": func(t *testing.T, ws string, v victim) { try(t, os.Symlink(v.dir, ws)) },
		"a link to a file":   func(t *testing.T, ws string, v victim) { try(t, os.Symlink(filepath.Join(v.dir, "precious"), ws)) },
		"a file":             func(t *testing.T, ws string, v victim) { try(t, os.WriteFile(ws, nil, 0o600)) },
		"a folder that others write to": func(t *testing.T, ws string, v victim) {
			try(t, errors.Join(os.Mkdir(ws, 0o777), os.Chmod(ws, 0o777), os.Symlink(filepath.Join(v.dir, "sub"), filepath.Join(ws, "out.npy"))))
		},
		"another user's folder": func(t *testing.T, ws string, v victim) {
			try(t, os.Mkdir(ws, 0o700))
			if err := os.Chown(ws, 12345, 12345); err != nil {
				t.Skip("only root can make another user's folder")
			}
		},
		"a folder without a lock": func(t *testing.T, ws string, v victim) {
			try(t, errors.Join(os.Mkdir(ws, 0o700), os.WriteFile(filepath.Join(ws, "thesis.tex"), nil, 0o600)))
		},
		"a link for the lock": func(t *testing.T, ws string, v victim) {
			try(t, errors.Join(os.Mkdir(ws, 0o700), os.Symlink(filepath.Join(v.dir, "precious"), filepath.Join(ws, "lock"))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.NoLeaks(t)
			v := newVictim(t)
			dir := t.TempDir()
			output, ws := filepath.Join(dir, "o.npy"), filepath.Join(dir, ".o.npy.gonbext")
			plant(t, ws, v)
			before, err := os.Lstat(ws)
			try(t, err)
			err = saveSmall(t, output)
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("saving gives %v", err)
			}
			v.check()
			if after, err := os.Lstat(ws); err != nil || !os.SameFile(before, after) {
				t.Errorf("what was planted is gone: %v", err)
			}
			if left := storetest.List(t, dir); len(left) != 1 {
				t.Errorf("there is %v", left)
			}
			try(t, os.RemoveAll(ws))
			try(t, saveSmall(t, output))
		})
	}
}

// While a workspace is in use its folder may be exchanged for a link, or for a folder
// with links: what the run does continues in its own.
func TestWorkspaceIsHeldOpen(t *testing.T) {
	for name, plant := range map[string]func(t *testing.T, ws string, v victim){
		"for a link": func(t *testing.T, ws string, v victim) { try(t, os.Symlink(v.dir, ws)) },
		"for a folder of links": func(t *testing.T, ws string, v victim) {
			try(t, os.Mkdir(ws, 0o700))
			for _, name := range []string{"lock", "out.npy", "out.npy.id", "journal"} {
				try(t, os.Symlink(filepath.Join(v.dir, "precious"), filepath.Join(ws, name)))
			}
		},
	} {
		for _, end := range []string{"commit", "abort", "suspend"} {
			t.Run(name+" "+end, func(t *testing.T) {
				storetest.NoLeaks(t)
				v := newVictim(t)
				dir := t.TempDir()
				output, ws := filepath.Join(dir, "o.npy"), filepath.Join(dir, ".o.npy.gonbext")
				w, err := storage.Create(output, small)
				try(t, err)
				try(t, os.Rename(ws, filepath.Join(dir, "away")))
				plant(t, ws, v)
				try(t, w.Sync(t.Context()))
				switch end {
				case "commit":
					try(t, w.Commit(t.Context()))
					a, err := storage.Open(output)
					try(t, err)
					try(t, a.Close())
				case "abort":
					try(t, w.Abort())
				case "suspend":
					try(t, w.Suspend())
				}
				v.check()
			})
		}
	}
}

// A file that is made durable under a name follows no link in its place, nor one
// under a name that could be foreseen.
func TestWriteFileFollowsNoLinks(t *testing.T) {
	v := newVictim(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "zarr.json")
	for _, link := range []string{name, name + ".new"} {
		try(t, os.Symlink(filepath.Join(v.dir, "precious"), link))
	}
	try(t, disk.WriteFile(name, []byte("text")))
	v.check()
	if text, err := os.ReadFile(name); string(text) != "text" {
		t.Errorf("it holds %q, %v", text, err)
	}
}

// Of what lies in the system's temporary folder a sweep removes only what is a
// workspace of this user's.
func TestSweepLeavesWhatOthersPlanted(t *testing.T) {
	storetest.NoLeaks(t)
	v := newVictim(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	try(t, os.Symlink(v.dir, at(".gonbext-link")))
	for _, name := range []string{".gonbext-lock", ".gonbext-open", ".gonbext-bare", ".gonbext-left"} {
		try(t, os.Mkdir(at(name), 0o700))
	}
	try(t, os.Symlink(filepath.Join(v.dir, "precious"), at(".gonbext-lock/lock")))
	try(t, errors.Join(os.WriteFile(at(".gonbext-open/lock"), nil, 0o600), os.Chmod(at(".gonbext-open"), 0o777)))
	try(t, os.WriteFile(at(".gonbext-bare/file"), nil, 0o600))
	try(t, errors.Join(os.WriteFile(at(".gonbext-left/lock"), nil, 0o600), os.Symlink(v.dir, at(".gonbext-left/link"))))
	try(t, os.WriteFile(at("file"), nil, 0o600))
	want := []string{".gonbext-bare", ".gonbext-link", ".gonbext-lock", ".gonbext-open", "file"}
	if os.Getuid() == 0 {
		try(t, errors.Join(os.Mkdir(at(".gonbext-root"), 0o700), os.WriteFile(at(".gonbext-root/lock"), nil, 0o600), os.Chown(at(".gonbext-root"), 12345, 12345)))
		want = []string{".gonbext-bare", ".gonbext-link", ".gonbext-lock", ".gonbext-open", ".gonbext-root", "file"}
	}
	ws, err := storage.TempStagingDir()
	try(t, err)
	try(t, ws.Remove())
	v.check()
	if left := storetest.List(t, dir); !slices.Equal(left, want) {
		t.Errorf("there is %v, want %v", left, want)
	}
}

// Without a home the notes on runs to object stores lie in a folder of this user, not
// in one that anybody could have made.
func TestWorkspaceWithoutHome(t *testing.T) {
	v := newVictim(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	ws, err := storage.NewStagingDir("s3://bucket/x.npy")
	try(t, err)
	if _, err := storage.NewStagingDir("s3://bucket/x.npy"); err == nil {
		t.Error("two of them at once")
	}
	try(t, ws.Remove())
	left := storetest.List(t, dir)
	if len(left) != 1 || left[0] == "gonbext" {
		t.Fatalf("there is %v", left)
	}
	own := filepath.Join(dir, left[0])
	try(t, os.RemoveAll(own))
	try(t, os.Symlink(v.dir, own))
	if _, err := storage.NewStagingDir("s3://bucket/x.npy"); err == nil {
		t.Error("the folder of the runs is a link, and was taken")
	}
	v.check()
}

// An exchange in steps that is ended between them has taken the array away for a
// moment: the next workspace puts it back, and nothing removes it.
func TestWorkspacePutsBackWhatAnExchangeLeft(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	output, ws := filepath.Join(dir, "x.zarr"), filepath.Join(dir, ".x.zarr.gonbext")
	aside := filepath.Join(ws, "out.zarr"+disk.Aside)
	try(t, errors.Join(os.MkdirAll(aside, 0o700), os.Chmod(ws, 0o700), os.WriteFile(filepath.Join(aside, "chunk"), []byte("old"), 0o600), os.WriteFile(filepath.Join(ws, "lock"), nil, 0o600)))
	w, err := storage.NewStagingDir(output)
	try(t, err)
	if text, err := os.ReadFile(filepath.Join(output, "chunk")); string(text) != "old" {
		t.Errorf("the array is not put back: %v", err)
	}
	// Within the process that the exchange failed in, too.
	try(t, errors.Join(os.Rename(output, aside), w.Remove()))
	if text, err := os.ReadFile(filepath.Join(output, "chunk")); string(text) != "old" {
		t.Errorf("the array was removed: %v", err)
	}
	// What was replaced is nobody's any more.
	try(t, os.MkdirAll(aside, 0o700))
	try(t, os.Chmod(ws, 0o700))
	try(t, os.WriteFile(filepath.Join(ws, "lock"), nil, 0o600))
	w, err = storage.NewStagingDir(output)
	try(t, err)
	try(t, w.Remove())
	if left := storetest.List(t, dir); !slices.Equal(left, []string{"x.zarr"}) {
		t.Errorf("there is %v", left)
	}
}
