package machine

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// cgroup is where a process's memory is accounted.
type cgroup struct {
	mount string // of the hierarchy, below the root of the tree; "" where there is none
	dir   string // the process's own, at or below mount
	names files
}

// files are the names that a version of cgroups gives to the same things.
type files struct {
	max, used    string
	prefix, file string // in memory.stat: of the counts that include children, and of page cache
}

var (
	version1 = files{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_", "cache"}
	version2 = files{"memory.max", "memory.current", "", "file"}
)

// findCgroup finds the process's memory cgroup. Where both versions are
// mounted, memory is accounted in the one that /proc/self/cgroup names for it.
func findCgroup(root fs.FS) cgroup {
	var own1, own2 string // the process's paths
	for line := range strings.Lines(text(root, "proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(parts) != 3 {
			continue
		}
		if slices.Contains(strings.Split(parts[1], ","), "memory") {
			own1 = parts[2]
		} else if parts[0] == "0" {
			own2 = parts[2]
		}
	}
	if own1 != "" {
		return locate(root, own1, version1)
	}
	if own2 != "" {
		return locate(root, own2, version2)
	}
	return cgroup{}
}

// locate finds the folder of a cgroup whose path is own. A container may see
// only part of the hierarchy: then own begins with the part's root, or lies
// outside of it, and the mount itself is the nearest that can be seen.
func locate(root fs.FS, own string, names files) cgroup {
	for line := range strings.Lines(text(root, "proc/self/mountinfo")) {
		before, after, _ := strings.Cut(strings.TrimSpace(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after) // … root point options … - type source options
		if len(left) < 5 || len(right) < 3 {
			continue
		}
		if names == version2 && right[0] != "cgroup2" {
			continue
		}
		if names == version1 && (right[0] != "cgroup" || !slices.Contains(strings.Split(right[2], ","), "memory")) {
			continue
		}
		below := path.Clean("/" + own)
		if part := left[3]; part != "/" {
			rest, inside := strings.CutPrefix(below, part)
			if inside && (rest == "" || rest[0] == '/') {
				below = rest
			}
		}
		mount := strings.TrimPrefix(unescape(left[4]), "/")
		return cgroup{mount: mount, dir: path.Join(mount, below), names: names}
	}
	return cgroup{}
}

// limit is the tightest bound from the process's cgroup up to the mount: the
// one that leaves the least free.
func (c cgroup) limit(root fs.FS) Limit {
	var tightest Limit
	if c.mount == "" {
		return tightest
	}
	for dir := c.dir; ; dir = path.Dir(dir) {
		if most := bound(text(root, path.Join(dir, c.names.max))); most > 0 {
			l := Limit{Max: most, Used: c.used(root, dir)}
			if tightest.Max == 0 || l.free() < tightest.free() {
				tightest = l
			}
		}
		if len(dir) <= len(c.mount) {
			return tightest
		}
	}
}

// used is what the kernel could not take back of a cgroup's bytes: all but the
// pages of files, which it reclaims before it runs out.
func (c cgroup) used(root fs.FS, dir string) int64 {
	stat := text(root, path.Join(dir, "memory.stat"))
	files := field(stat, c.names.prefix+"active_file ") + field(stat, c.names.prefix+"inactive_file ")
	return max(bound(text(root, path.Join(dir, c.names.used)))-files, 0)
}

// cached is the page cache charged to the process's own cgroup, or -1.
func (c cgroup) cached(root fs.FS) int64 {
	if c.mount != "" {
		if stat := text(root, path.Join(c.dir, "memory.stat")); stat != "" {
			return field(stat, c.names.prefix+c.names.file+" ")
		}
	}
	return -1
}

// unescape undoes mountinfo's octal escapes of blanks and backslashes.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
