//go:build !(cuda && cgo && linux && (amd64 || arm64))

package cuda_test

import (
	"errors"
	"testing"

	"github.com/gonbext/gonbext/cuda"
)

func TestABuildWithoutADriverHasNoDevices(t *testing.T) {
	if list, err := cuda.Devices(); list != nil || !errors.Is(err, cuda.ErrNoDriver) {
		t.Errorf("listed %v, %v", list, err)
	}
}
