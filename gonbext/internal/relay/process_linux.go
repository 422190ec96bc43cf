package relay

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent lets the kernel end GoNB when the relay is killed. SIGTERM, not
// SIGKILL: GoNB then ends its cell and removes its folder.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

// dir is the folder that the process works in.
func (p *process) dir() string {
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.cmd.Process.Pid))
	if err != nil {
		return ""
	}
	return dir
}

// environs are the living processes of this user with the variables that they
// were started with.
func environs() iter.Seq2[int, [][]byte] {
	return func(yield func(int, [][]byte) bool) {
		paths, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range paths {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				continue
			}
			environ, err := os.ReadFile(path)
			if err != nil {
				continue // ended, or another user's
			}
			if !yield(pid, bytes.Split(environ, []byte{0})) {
				return
			}
		}
	}
}

// descendants are the processes below GoNB, known by the marker, that are in
// this process group. One that moved to a group of its own (setsid, a daemon
// that the user started) is meant to stay.
func (p *process) descendants() (all []int) {
	mark := []byte(marker + "=" + p.id)
	for pid, environ := range environs() {
		marked := slices.ContainsFunc(environ, func(v []byte) bool { return bytes.Equal(v, mark) })
		if group, err := syscall.Getpgid(pid); marked && err == nil && group == syscall.Getpgrp() {
			all = append(all, pid)
		}
	}
	return all
}

// orphans are those of the descendants that have started since, or hold the output of what runs, but for GoNB and what
// it has started itself, whose end GoNB sees to. When a cell has begun is known a little late, so that what it has
// started at once may seem to be of an earlier cell.
func (p *process) orphans(since time.Time) []int {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return nil
	}
	begun := time.Duration(now.Nano()) - time.Since(since)
	outputs := pipes(p.cmd.Process.Pid)
	return slices.DeleteFunc(p.descendants(), func(pid int) bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return true // it has ended
		}
		at := bytes.LastIndexByte(stat, ')') // of a name that can have any bytes
		after := strings.Fields(string(stat[at+1:]))
		parent, started := after[1], after[19]
		ticks, err := strconv.ParseInt(started, 10, 64)
		if err != nil || pid == p.cmd.Process.Pid || parent == strconv.Itoa(p.cmd.Process.Pid) {
			return true
		}
		holds := slices.ContainsFunc(pipes(pid), func(pipe string) bool { return slices.Contains(outputs, pipe) })
		return !holds && time.Duration(ticks)*tick < begun-tick
	})
}

// pipes are those that a process has open, by the names that the kernel gives them.
func pipes(pid int) (all []string) {
	open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, file := range open {
		if name, err := os.Readlink(file); err == nil && strings.HasPrefix(name, "pipe:") {
			all = append(all, name)
		}
	}
	return all
}

// tick is the unit of times in /proc.
const tick = 10 * time.Millisecond

// sweepPipes removes the named pipes in dir that a GoNB has made since and that
// no living process was given: GoNB leaves them when it is killed, and now and
// then when a cell is quick.
func sweepPipes(dir string, since time.Time) {
	stale := unusedPipes(dir, since)
	if len(stale) == 0 {
		return
	}
	// One that another kernel has just made has no process yet. Look again.
	time.Sleep(100 * time.Millisecond)
	still := unusedPipes(dir, since)
	for _, pipe := range stale {
		if slices.Contains(still, pipe) {
			_ = os.Remove(pipe) // fails where its GoNB has done so
		}
	}
}

func unusedPipes(dir string, since time.Time) []string {
	pipes, _ := filepath.Glob(filepath.Join(dir, "gonb_pipe_*"))
	pipes = slices.DeleteFunc(pipes, func(path string) bool {
		st, err := os.Lstat(path)
		return err != nil || st.Mode().Type() != os.ModeNamedPipe || st.ModTime().Before(since.Truncate(time.Second))
	})
	if len(pipes) == 0 {
		return nil
	}
	for _, environ := range environs() {
		for _, v := range environ {
			name, value, _ := bytes.Cut(v, []byte{'='})
			if string(name) == "GONB_PIPE" || string(name) == "GONB_PIPE_BACK" {
				pipes = slices.DeleteFunc(pipes, func(path string) bool { return path == string(value) })
			}
		}
	}
	return pipes
}
