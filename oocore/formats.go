package oocore

// The formats that Open and Save know besides npy and raw files.
import (
	_ "github.com/gonbext/gonbext/oocore/store/npz"
	_ "github.com/gonbext/gonbext/oocore/store/safetensors"
	_ "github.com/gonbext/gonbext/oocore/store/zarr"
)
