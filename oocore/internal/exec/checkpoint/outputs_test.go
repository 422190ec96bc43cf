package checkpoint

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// name writes which outputs a staging folder is followed by.
func name(t *testing.T, first *storage.StagingDir, others ...string) {
	t.Helper()
	text, err := json.Marshal(others)
	check(t, err)
	check(t, disk.WriteFile(first.Join(othersFile), text))
}

// The folder of an earlier run's second output was removed since: that is no error of a run
// that begins the first one anew.
func TestFolderOfAnotherOutputThatIsGoneIsNoError(t *testing.T) {
	c, p, print := begin(t)
	name(t, c.staging, filepath.Join(t.TempDir(), "gone", "b.npy"))
	check(t, c.Close(true))
	c, err := New(p, print, true)
	check(t, err)
	check(t, c.Close(false))
}

// A run that takes the first output of another, unfinished one removes what that has left of
// its others: nobody can resume from there.
func TestClaimOfAnotherRunsFirstOutputRemovesItsOthers(t *testing.T) {
	c, _, _ := begin(t)
	dir := t.TempDir()
	b, last := filepath.Join(dir, "b.npy"), filepath.Join(dir, "c.npy")
	first, err := storage.NewStagingDir(b)
	check(t, err)
	name(t, first, last)
	second, err := storage.NewStagingDir(last)
	check(t, err)
	check(t, disk.WriteFile(second.Join(ownerFile), []byte(first.Path)))
	check(t, second.Close())
	check(t, c.Claim(first))
	if left, err := storage.ExistingStagingDir(last); left != nil || err != nil {
		t.Errorf("its other folder is left: %v, %v", left, err)
	}
	check(t, first.Remove())
	check(t, c.Close(false))
}
