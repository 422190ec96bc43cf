package nifti

import (
	"os"
	"testing"

	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestReadInterchange(t *testing.T) {
	python := os.Getenv("GONBEXT_PYTHON")
	if !testcases.Full() || python == "" {
		t.Skip("without GONBEXT_TEST=full and GONBEXT_PYTHON: files that nibabel writes were not read")
	}
	storetest.Foreign(t, python, "testdata/make.py", testcases.Seed(t), 60)
}

func TestDamagedFilesAreErrors(t *testing.T) {
	storetest.Damaged(t, "testdata/small.nii", testcases.Rand(t), 3000, "")
}

func FuzzDamaged(f *testing.F) {
	storetest.Fuzz(f, []string{"testdata/small.nii"}, "")
}
