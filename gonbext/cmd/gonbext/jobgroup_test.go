package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// jobGroups has, in the environment, a folder. Each job of a cluster then runs in a memory cgroup of
// exactly what its engine was asked for, and notes in the folder what it took of that.
const jobGroups = "GONBEXT_TEST_GROUPS"

// heldBy names, in the environment, a file: elements of clusters wait while it is there.
const heldBy = "GONBEXT_TEST_HOLD"

// waitHeld is called by each command.
func waitHeld() {
	for file := os.Getenv(heldBy); file != "" && slices.Contains(os.Args, "--element"); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(file); err != nil {
			return
		}
	}
}

// groupNote is the note of a job.
type groupNote struct {
	Element bool
	Limit   int64
	Peak    int64
	Used    int64 // the most private memory that was seen: the page cache fills what a group leaves
	Status  int
}

// anonymous is the private memory of a process now.
func anonymous(pid int) (n int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "RssAnon:")
	_, _ = fmt.Sscan(rest, &n)
	return n << 10
}

// inGroup runs a job of a cluster in its cgroup, and ends the process. It returns for any other command.
func inGroup(notes string) {
	i := slices.Index(os.Args, "--plan")
	if i < 0 || i+1 == len(os.Args) {
		return
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(os.Args[i+1]), "jobs", "run.json"))
	if err != nil { // the run has ended, or is none
		return
	}
	var run struct{ Memory, Merging int64 }
	if err := json.Unmarshal(text, &run); err != nil {
		panic(err)
	}
	n := groupNote{Element: slices.Contains(os.Args, "--element"), Limit: run.Merging}
	if n.Element {
		n.Limit = run.Memory
	}
	n.Limit = (n.Limit + 1<<20 - 1) >> 20 << 20
	g, err := testcases.NewCgroup(fmt.Sprintf("%s-%d", filepath.Base(notes), os.Getpid()), n.Limit)
	if err != nil {
		panic(err)
	}
	c := g.Command(os.Args[0], os.Args[1:]...)
	c.Env = append(os.Environ(), jobGroups+"=")
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		panic(err)
	}
	ended := make(chan struct{})
	go func() {
		for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
			n.Used = max(n.Used, anonymous(c.Process.Pid))
			select {
			case ended <- struct{}{}:
				return
			default:
			}
		}
	}()
	err = c.Wait()
	<-ended
	if n.Status = 137; err == nil || c.ProcessState.Exited() {
		n.Status = c.ProcessState.ExitCode()
	}
	n.Peak, _ = g.Peak()
	text, _ = json.Marshal(n)
	// A job may be killed while it writes: a note has its name when it is whole.
	name := fmt.Sprint(os.Getpid())
	part := filepath.Join(notes, "part-"+name)
	if err := errors.Join(os.WriteFile(part, text, 0o600), os.Rename(part, filepath.Join(notes, name)), g.Close()); err != nil {
		panic(err)
	}
	os.Exit(n.Status)
}
