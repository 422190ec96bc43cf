//go:build !(cuda && cgo && linux && (amd64 || arm64))

package cuda

import (
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/libcuda"
)

func openDriver() (driver.Driver, error) { return libcuda.Open() }
