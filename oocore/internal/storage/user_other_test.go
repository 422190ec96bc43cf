//go:build !linux

package storage_test

import (
	"os"
	"testing"
)

// asUser runs f as someone whom permissions stop.
func asUser(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("left out: permissions, which do not stop root")
	}
	f()
}
