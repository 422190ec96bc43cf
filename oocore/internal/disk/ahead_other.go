//go:build !linux

package disk

// ahead leaves reading ahead to the system.
func ahead(h Handle) Handle { return h }

// WillRead does nothing: the system has no hint for it.
func WillRead(Handle, int64, int) {}

// WindowBytes bounds how much of a file Window maps at once.
func WindowBytes() int64 { return windowBytes }

func arrive(Handle, []byte, int64) (release func()) { return func() {} }
