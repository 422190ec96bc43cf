//go:build !linux

package storage

// processIdentity is "": without it a process of another host, or one that has ended,
// cannot be told from one that runs.
func processIdentity(int) string { return "" }
