//go:build !linux

package arena

func wantHugePages([]byte) {}
