//go:build !(cuda && cgo && linux && (amd64 || arm64))

package cuda

const lacks = "has no CUDA driver"

func devices() ([]Info, error) { return nil, ErrNoDriver }
