//go:build !linux

package disk

// cached has nobody to ask here.
func cached(string) (seen, present int64) { return 0, 0 }
