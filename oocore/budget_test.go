package oocore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// No machine that this runs on has a pebibyte.
func TestBudgetBeyondTheMachine(t *testing.T) {
	_, err := oocore.Collect[float64](context.Background(), oocore.Full(1.0, 3), oocore.Memory("1024TiB"))
	if err == nil || !strings.Contains(err.Error(), "a budget of 1 PiB is more than the") {
		t.Errorf("got %v, want a rejection that names what there is", err)
	}
}
