package oocore

// Importing these registers the formats other than npy and raw files with Open and Save.
import (
	_ "github.com/gonbext/gonbext/oocore/store/fits"
	_ "github.com/gonbext/gonbext/oocore/store/hdf5"
	_ "github.com/gonbext/gonbext/oocore/store/nifti"
	_ "github.com/gonbext/gonbext/oocore/store/npz"
	_ "github.com/gonbext/gonbext/oocore/store/safetensors"
	_ "github.com/gonbext/gonbext/oocore/store/zarr"
)
