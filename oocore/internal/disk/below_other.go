//go:build !linux

package disk

// openBelow returns nil: os.Root decides.
func openBelow(*Root, string, int) Handle { return nil }
