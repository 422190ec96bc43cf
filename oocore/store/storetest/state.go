package storetest

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/store"
)

// State says what a path shows after a fault: the elements of before, old; those
// that were written, new; torn, none, or in words what is wrong.
func State(t testing.TB, path string, shape []int, before, written []byte) string {
	t.Helper()
	a, err := store.Open(path)
	switch {
	case err != nil && strings.Contains(err.Error(), "was not finished"):
		return "torn"
	case errors.Is(err, fs.ErrNotExist):
		return "none"
	case err != nil:
		return err.Error()
	}
	defer a.Close()
	got := make([]byte, len(before))
	switch err := a.Read(t.Context(), got, All(shape)); {
	case err != nil:
		return err.Error()
	case bytes.Equal(got, before):
		return "old"
	case bytes.Equal(got, written):
		return "new"
	}
	return "neither old nor new"
}
