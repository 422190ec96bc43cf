package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/gonbext/gonbext/oocore/units"
)

// Progress tells a person, in one line, what is being set up.
type Progress func(format string, args ...any)

// cacheDir is gonbext's folder in the user's cache.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for what gonbext sets up: set HOME or XDG_CACHE_HOME (%w)", err)
	}
	dir = filepath.Join(dir, "gonbext")
	if Shared(dir) { // as XDG_CACHE_HOME may be
		return "", fmt.Errorf("%s belongs to another user, or others can write to it: programs that they put there would run. Remove it, or set XDG_CACHE_HOME to a folder of your own", dir)
	}
	return dir, nil
}

// Shared reports a folder that another user has made, or can write to.
func Shared(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && !ownedAlone(st)
}

// stamp is the file that says that a folder is whole: it is written last.
const stamp = ".complete"

func complete(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, stamp))
	return err == nil
}

// once fills dir by build, unless it is complete. What a build that was broken
// off left is removed; a second process waits for the first.
func once(ctx context.Context, dir string, build func() error) error {
	if complete(dir) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	lock := flock.New(dir + ".lock")
	if ok, err := lock.TryLockContext(ctx, 100*time.Millisecond); !ok {
		return fmt.Errorf("set up %s: another gonbext is at it: %w", dir, err)
	}
	defer lock.Unlock()
	if complete(dir) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	if err := build(); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return os.WriteFile(filepath.Join(dir, stamp), nil, 0o600)
}

// stepEvery is how often a long step says that it still runs.
const stepEvery = 10 * time.Second

// step does what may take long: it is said at once, again while it lasts, and at its end
// unless that came at once.
func step(say Progress, what string, do func() error) error {
	say("%s …", what)
	begun := time.Now()
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(stepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			say("%s … %s so far", what, units.Duration(time.Since(begun).Round(time.Second)))
		case err := <-done:
			if took := time.Since(begun); err == nil && took > time.Second {
				say("%s: done in %s", what, units.Duration(took))
			}
			return err
		}
	}
}
