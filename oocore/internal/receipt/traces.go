package receipt

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
)

// EachTrace gives the traces of a receipt, until each returns false.
func EachTrace(e *resultcache.Entry, each func(checkpoint.Trace) bool) error {
	rest, err := restOf(e)
	if err != nil {
		return err
	}
	return errors.Join(checkpoint.EachTrace(rest, each), rest.Close())
}
