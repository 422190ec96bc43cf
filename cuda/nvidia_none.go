//go:build !(cuda && cgo && linux && (amd64 || arm64))

package cuda

func devices() ([]Info, error) { return nil, ErrNoDriver }
