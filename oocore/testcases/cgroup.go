package testcases

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Cgroup is a memory cgroup that nothing but the commands of a test is in. It holds a budget to the kernel's
// count, page cache and page tables and all: what does not fit is killed. Making one needs root.
type Cgroup struct{ dir string }

// NewCgroup makes a cgroup of limit bytes, without swap, below the root of either
// version's hierarchy.
func NewCgroup(name string, limit int64) (*Cgroup, error) {
	root, file := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
	if _, err := os.Stat(root); err != nil {
		root, file = "/sys/fs/cgroup", "memory.max"
		// The root hands the controller down only when asked. Where it does
		// already, or may not, the limit below tells.
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+memory"), 0)
	}
	g := &Cgroup{filepath.Join(root, name)}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("a memory cgroup cannot be made: %w", err)
	}
	if err := g.write(file, strconv.FormatInt(limit, 10)); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	_ = g.write("memory.swap.max", "0") // version 2; there may be no swap to limit
	return g, nil
}

func (g *Cgroup) write(file, text string) error {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(text), 0)
}

// Command is a command that joins the group before it begins.
func (g *Cgroup) Command(name string, args ...string) *exec.Cmd {
	join := []string{"-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs"), name}
	return exec.Command("/bin/sh", append(join, args...)...)
}

// Peak is the most bytes that the kernel has charged to the group.
func (g *Cgroup) Peak() (int64, error) {
	text, err := os.ReadFile(filepath.Join(g.dir, "memory.max_usage_in_bytes"))
	if err != nil {
		text, err = os.ReadFile(filepath.Join(g.dir, "memory.peak"))
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// Close removes the group, whose processes must have ended.
func (g *Cgroup) Close() error {
	var err error
	for range 50 { // the kernel lets go of ended processes a little later
		if err = os.Remove(g.dir); !errors.Is(err, syscall.EBUSY) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
