package oocore

// Importing these registers the formats with Open and Save.
import (
	_ "github.com/gonbext/gonbext/oocore/internal/format/fits"
	_ "github.com/gonbext/gonbext/oocore/internal/format/gguf"
	_ "github.com/gonbext/gonbext/oocore/internal/format/hdf5"
	_ "github.com/gonbext/gonbext/oocore/internal/format/icechunk"
	_ "github.com/gonbext/gonbext/oocore/internal/format/kerchunk"
	_ "github.com/gonbext/gonbext/oocore/internal/format/n5"
	_ "github.com/gonbext/gonbext/oocore/internal/format/netcdf"
	_ "github.com/gonbext/gonbext/oocore/internal/format/nifti"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npy"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npz"
	_ "github.com/gonbext/gonbext/oocore/internal/format/pytorch"
	_ "github.com/gonbext/gonbext/oocore/internal/format/raw"
	_ "github.com/gonbext/gonbext/oocore/internal/format/safetensors"
	_ "github.com/gonbext/gonbext/oocore/internal/format/stack"
	_ "github.com/gonbext/gonbext/oocore/internal/format/tiff"
	_ "github.com/gonbext/gonbext/oocore/internal/format/zarr"
)
