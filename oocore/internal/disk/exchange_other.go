//go:build unix && !linux && !darwin

package disk

import (
	"errors"
	"os"
)

func exchange(_ *os.File, _ string, _ *os.File, _ string) error { return errors.ErrUnsupported }
