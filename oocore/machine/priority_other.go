//go:build !linux

package machine

// GiveWay does nothing here: only Linux has priorities of threads that every user may lower.
func GiveWay() {}
