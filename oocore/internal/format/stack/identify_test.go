package stack

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/store"
)

// Results are kept by the versions of their inputs, so these stay as they are.
func TestIdentityOfAFileStays(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	text, sum := identify("a.npy", &store.FileVersion{Size: 9, ModTime: at, ChangeTime: at, Device: 1, Inode: 2})
	const want = `{"Size":9,"ModTime":"2026-03-04T05:06:07.000000008Z","ChangeTime":"2026-03-04T05:06:07.000000008Z","Device":1,"Inode":2}`
	if string(text) != want || sum != sha256.Sum256([]byte(want+"a.npy")) {
		t.Errorf("%s %x", text, sum)
	}
}
