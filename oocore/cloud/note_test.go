package cloud

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// staged makes the staging folder that an output in an object store has in a folder.
func staged(t *testing.T, folder, output string) *storage.StagingDir {
	t.Helper()
	w, err := storage.NewStagingDir(storage.StagingIn(folder, output))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The folder of a run is noted beside its output, found from there, and forgotten by that run alone.
func TestFolderIsNotedBesideTheOutput(t *testing.T) {
	fakeS3(t)
	for _, out := range []string{"s3://data/a/b/x.zarr", "s3://data/x.zarr", "s3://data"} {
		above := "s3://data"
		if strings.Contains(out, "/a/b/") {
			above = "s3://data/a/b/"
		}
		one, other := t.TempDir(), t.TempDir()
		if folder, err := storage.NotedFolder(t.Context(), out); folder != "" || err != nil {
			t.Errorf("%s: before a run there is %q: %v", out, folder, err)
		}
		if err := storage.NoteFolder(t.Context(), out, one); err != nil {
			t.Fatal(err)
		}
		w := staged(t, one, out)
		if err := storage.NoteFolder(t.Context(), out, one); err != nil {
			t.Errorf("%s: the same folder again: %v", out, err)
		}
		if err := storage.NoteFolder(t.Context(), out, other); err == nil || !strings.Contains(err.Error(), "another run on a cluster computes it") {
			t.Errorf("%s: another folder: %v", out, err)
		}
		if folder, err := storage.NotedFolder(t.Context(), out); folder != one || err != nil {
			t.Errorf("%s: there is %q, want %q: %v", out, folder, one, err)
		}
		for _, at := range []string{out, above} {
			if all, err := storage.StagingDirs(t.Context(), at); err != nil || !slices.Equal(all, []string{w.Path}) {
				t.Errorf("%s: %s has %q, want %q: %v", out, at, all, w.Path, err)
			}
		}
		if err := storage.ForgetFolder(t.Context(), out, other); err != nil {
			t.Error(err)
		}
		if folder, _ := storage.NotedFolder(t.Context(), out); folder != one {
			t.Errorf("%s: another run has forgotten %s", out, one)
		}
		if err := w.Remove(); err != nil {
			t.Fatal(err)
		}
		if folder, err := storage.NotedFolder(t.Context(), out); folder != "" || err != nil {
			t.Errorf("%s: without a staging folder there is %q: %v", out, folder, err)
		}
		if err := storage.NoteFolder(t.Context(), out, other); err != nil {
			t.Errorf("%s: in place of a run that is gone: %v", out, err)
		}
		if err := storage.ForgetFolder(t.Context(), out, other); err != nil {
			t.Error(err)
		}
		for e, err := range at(t, "s3://data").List(t.Context(), "") {
			t.Errorf("%s: %s is left: %v", out, e.Key, err)
		}
	}
}

// Of two runs that note their folders at the same moment one is rejected.
func TestTwoRunsNoteFoldersAtOnce(t *testing.T) {
	f := fakeS3(t)
	const out = "s3://data/a/x.zarr"
	one, other := t.TempDir(), t.TempDir()
	defer staged(t, one, out).Remove()
	var first atomic.Bool
	f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPut && first.CompareAndSwap(false, true) {
			if err := storage.NoteFolder(t.Context(), out, one); err != nil {
				t.Error(err)
			}
		}
		next.ServeHTTP(w, r)
	})
	if err := storage.NoteFolder(t.Context(), out, other); err == nil || !strings.Contains(err.Error(), "another run on a cluster computes it") {
		t.Errorf("the second: %v", err)
	}
	if folder, err := storage.NotedFolder(t.Context(), out); folder != one || err != nil {
		t.Errorf("there is %q, want %q: %v", folder, one, err)
	}
}

// A note that leads to a folder that is not seen here, or that cannot be read, is one sentence.
func TestNoteThatLeadsNowhere(t *testing.T) {
	fakeS3(t)
	const out = "s3://data/a/x.zarr"
	far := filepath.Join(t.TempDir(), "far")
	if err := os.Mkdir(far, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := storage.NoteFolder(t.Context(), out, far); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(far); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, want string }{
		{"far", "does not see: go to one that does, or delete s3://data/a/.gonbext/x.zarr.json"}, {"damaged", "does not say where a run on a cluster has its files"},
	} {
		if c.name == "damaged" {
			put(t, at(t, "s3://data"), "a/.gonbext/x.zarr.json", []byte("{"))
		}
		_, noted := storage.NotedFolder(t.Context(), out)
		_, listed := storage.StagingDirs(t.Context(), "s3://data/a")
		for _, err := range []error{noted, listed, storage.NoteFolder(t.Context(), out, t.TempDir())} {
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}
