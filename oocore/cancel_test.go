package oocore_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// TestCancelCauseStandsBesideCanceled ends runs for a cause: their errors say it, and are
// context.Canceled too.
func TestCancelCauseStandsBesideCanceled(t *testing.T) {
	cause := errors.New("the server closes")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	x := oocore.Ones(oocore.Float32, 1000, 1000)
	_, saved := x.Save(ctx, filepath.Join(t.TempDir(), "x.npy"))
	_, collected := oocore.Collect[float32](ctx, x)
	_, all := oocore.SaveAll(ctx, []oocore.Output{{Array: x, Path: filepath.Join(t.TempDir(), "y.npy")}})
	for name, err := range map[string]error{"Save": saved, "Collect": collected, "SaveAll": all} {
		if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) || !strings.Contains(err.Error(), cause.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
