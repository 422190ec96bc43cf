//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/gorgonia"
)

func openDriver() (driver.Driver, error) { return gorgonia.Open() }
