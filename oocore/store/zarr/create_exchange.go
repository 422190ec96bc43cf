package zarr

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// exchangeSlowly swaps two folders in three steps, for systems that cannot in one.
// In between there is none under the name b.
func exchangeSlowly(a, b string) error {
	aside := a + ".aside"
	if err := disk.Rename(b, aside); err != nil {
		return err
	}
	if err := disk.Rename(a, b); err != nil {
		return errors.Join(err, disk.Rename(aside, b))
	}
	return disk.Rename(aside, a)
}
