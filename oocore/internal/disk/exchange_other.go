//go:build !linux

package disk

import "errors"

func (system) Exchange(a, b string) error { return errors.ErrUnsupported }
