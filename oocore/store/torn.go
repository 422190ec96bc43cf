package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store/internal/strided"
)

// Tear says, durably, that a box of the output is about to be written in place:
// until Mend the output is torn, and Open refuses it. again reports that an earlier
// writer has left it so; then the box has to hold that writer's.
func (w *Workspace) Tear(b grid.Box) (again bool, err error) {
	unfinished, err := tornBox(w.Path)
	if err != nil {
		return true, err
	}
	if again = unfinished != nil; again && !strided.Inside(*unfinished, b) {
		return true, tornError(*unfinished)
	}
	if w.attached {
		if !again {
			return true, ErrNotStaged
		}
		return true, nil
	}
	text, err := json.Marshal(b)
	if err != nil {
		return again, err
	}
	return again, errors.Join(disk.WriteFile(w.Join(tornName), text), w.sync())
}

// Mend says that the output is whole.
func (w *Workspace) Mend() error {
	if w.attached {
		return nil
	}
	if _, err := os.Stat(w.Join(tornName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(disk.Remove(w.Join(tornName)), disk.SyncDir(w.Path))
}

// CheckWhole refuses a file or folder of this machine that is torn.
func CheckWhole(place string) error {
	target, err := followed(place)
	if err != nil {
		return nil // opening it says why
	}
	b, err := tornBox(besides(target))
	if err == nil && b != nil {
		err = tornError(*b)
	}
	return err
}

// tornBox is the box of an unfinished region, as its workspace tells; nil where
// there is none.
func tornBox(workspace string) (*grid.Box, error) {
	text, err := os.ReadFile(filepath.Join(workspace, tornName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var b grid.Box
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("%s says in a way that cannot be read which region is unfinished: save the whole array", workspace)
	}
	return &b, nil
}

func tornError(b grid.Box) error {
	return fmt.Errorf("the writing of its region %s was not finished: save that region again, or the whole array", b)
}
