package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/flock"
	"github.com/gonbext/gonbext/oocore/store"
)

// Who holds a staging folder. The lock's file names its process, for people. Where the
// file system has no locks (NFS without its lock service, some file systems in user
// space) a second file, which only one process can make, stands for the lock. It
// stays after a kill, and goes where its process is known to have ended: one of this
// boot of this machine. Who has the lock looks for the other file too, and the other
// way round: some processes may get a lock where others do not.

const (
	// ownerName is the file that stands for a lock.
	ownerName = "owner"
	// staleName is the link of the one process that may remove a file of that kind.
	staleName = "owner.ended"
)

// owner is a process that holds a staging folder.
type owner struct {
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	Since   string `json:"since,omitempty"`
	Process string `json:"process,omitempty"` // boot, name space and start; "" where the system does not tell
}

// thisIdentity is this process's own, which stays.
var thisIdentity = sync.OnceValue(func() string { return processIdentity(os.Getpid()) })

func thisProcess() owner {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	return owner{host, os.Getpid(), time.Now().UTC().Format(time.RFC3339), thisIdentity()}
}

// ended reports whether a process is known to have ended.
func (o owner) ended() bool {
	where, _, ok := strings.Cut(thisIdentity(), " ")
	its, _, known := strings.Cut(o.Process, " ")
	return ok && known && where == its && processIdentity(o.PID) != o.Process
}

// locking makes taking a lock and writing its owner one step for this process.
var locking sync.Mutex

// exclude keeps all other processes out of the staging folder whose lock is open, or
// returns a *LockedError.
func (w *StagingDir) exclude(output string) error {
	locking.Lock()
	defer locking.Unlock()
	err := w.lock.Lock()
	if errors.Is(err, flock.ErrLocked) {
		return &store.LockedError{Path: output, PID: readOwner(w.lock).PID}
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return w.claim(output)
	}
	if err != nil {
		return err
	}
	// On a full disk the owner is missing, and with it only a word of a message.
	_ = w.writeLock()
	return w.alone(output)
}

// claim makes this process the owner of a staging folder that cannot be locked.
func (w *StagingDir) claim(output string) error {
	if o := readOwner(w.lock); o.PID != 0 && !o.ended() {
		return w.lockedBy(o, output, lockName)
	}
	for range 10 {
		f, err := disk.OpenFile(w.Join(ownerName), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if err := w.alone(output); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		w.owned = true
		text, err := json.Marshal(thisProcess())
		if err == nil {
			_, err = f.WriteAt(text, 0)
		}
		// Whoever has got a lock meanwhile has said so before it looked for this file.
		if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
			if o := readOwner(w.lock); o.PID != 0 && !o.ended() {
				err = w.lockedBy(o, output, lockName)
			} else {
				err = w.writeLock()
			}
		}
		if err != nil {
			return errors.Join(err, w.disown())
		}
		return nil
	}
	return fmt.Errorf("%s keeps coming back: other processes write %s", w.Join(ownerName), output)
}

// alone removes the file of an owner that has ended, and rejects any other.
func (w *StagingDir) alone(output string) error {
	text, err := disk.ReadFile(w.Join(ownerName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var o owner
	if json.Unmarshal(text, &o) != nil || !o.ended() {
		return w.lockedBy(o, output, ownerName)
	}
	// Of those who see that it has ended one removes it: who made this link, and made
	// it to the very file that was read.
	err = disk.Link(w.Join(ownerName), w.Join(staleName))
	if errors.Is(err, fs.ErrNotExist) { // another has removed it
		return nil
	}
	if err != nil {
		return w.lockedBy(o, output, ownerName)
	}
	linked, err := disk.ReadFile(w.Join(staleName))
	if err == nil && string(linked) == string(text) {
		err = disk.Remove(w.Join(ownerName))
	} else if err == nil {
		err = w.lockedBy(o, output, ownerName)
	}
	return errors.Join(err, disk.Remove(w.Join(staleName)))
}

// lockedBy returns the error for an owner that is not known to have ended.
func (w *StagingDir) lockedBy(o owner, output, file string) error {
	if o.PID == os.Getpid() && o.Process == thisIdentity() {
		return &store.LockedError{Path: output, PID: o.PID}
	}
	if o.Host == "" {
		o.Host = "another host"
	}
	return &store.LockedError{Path: output, PID: o.PID, Host: o.Host, File: w.Join(file)}
}

// disown removes the file that stands for a lock, if this process made it.
func (w *StagingDir) disown() error {
	if !w.owned {
		return nil
	}
	w.owned = false
	return disk.Remove(w.Join(ownerName))
}

// writeLock names this process in the lock's file.
func (w *StagingDir) writeLock() error {
	text, err := json.Marshal(thisProcess())
	if err != nil {
		return err
	}
	if err := w.lock.Truncate(0); err != nil {
		return err
	}
	_, err = w.lock.WriteAt(text, 0)
	return err
}

// readOwner reads the process that a lock's file names; the zero owner where it names none.
func readOwner(f disk.Handle) (o owner) {
	text := make([]byte, 4096)
	n, _ := f.ReadAt(text, 0)
	_ = json.Unmarshal(text[:n], &o)
	return o
}
