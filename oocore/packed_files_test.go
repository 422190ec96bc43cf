package oocore_test

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// Files that are packed as a whole are read as what is in them.
func TestPackedFilesInterchange(t *testing.T) {
	storetest.Foreign(t, "packed files of numpy, nibabel, astropy and netCDF4", "testdata/packed.py", 60)
}
