package nifti

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "files that nibabel writes", "testdata/make.py", 60)
}

func TestDamagedFilesAreErrors(t *testing.T) {
	storetest.Damaged(t, "testdata/small.nii", testcases.Rand(t), 3000, "")
}

func FuzzDamaged(f *testing.F) {
	storetest.Fuzz(f, []string{"testdata/small.nii"}, "")
}
