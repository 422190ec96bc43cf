package machine

import (
	"io/fs"
	"strconv"
	"strings"
)

// unlimited is more than any machine has. Systems write "no limit" as various
// numbers above it.
const unlimited = 1 << 60

// readLimits reads a Linux system's limits from the tree that / is, for a process of a cgroup, but for those
// that ulimit sets.
func readLimits(root fs.FS, own cgroup) Limits {
	meminfo := text(root, "proc/meminfo")
	return Limits{
		Total:     field(meminfo, "MemTotal:"),
		Available: field(meminfo, "MemAvailable:"),
		Container: own.limit(root),
	}
}

// readUsed reads what is taken of limits that ulimit sets, which few processes have.
func (l *Limits) readUsed(root fs.FS) {
	if l.AddressSpace.Max == 0 && l.Data.Max == 0 {
		return
	}
	status := text(root, "proc/self/status")
	l.AddressSpace.Used, l.Data.Used = field(status, "VmSize:"), field(status, "VmData:")
}

// text is a file's, or nothing where it cannot be read.
func text(root fs.FS, name string) string {
	b, _ := fs.ReadFile(root, name)
	return string(b)
}

// field finds a line "name 12" or "name: 12 kB" in a file's text and returns
// its value in bytes. A name that is not there has the value 0.
func field(text, name string) int64 {
	at := strings.Index(text, "\n"+name)
	switch {
	case strings.HasPrefix(text, name):
		at = 0
	case at < 0:
		return 0
	default:
		at++
	}
	line, _, _ := strings.Cut(text[at+len(name):], "\n")
	number, kB := strings.CutSuffix(line, " kB")
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil {
		return 0
	}
	if kB {
		n *= 1024
	}
	return n
}

// bound reads a limit; 0 stands for none, however it is written.
func bound(number string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n >= unlimited {
		return 0
	}
	return n
}
