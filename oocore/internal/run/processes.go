package run

import (
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/exec/remote"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// commandPackage is that of the command which worker processes run.
const commandPackage = "github.com/gonbext/gonbext/gonbext/cmd/gonbext"

// workerProcesses are n processes that run tasks of a plan. It returns an error where the
// plan cannot leave this process, or there is no command to run.
func workerProcesses(p *plan.Plan, n int) (*remote.Processes, error) {
	if _, err := p.Encode(); errors.Is(err, plan.ErrNotPortable) {
		return nil, fmt.Errorf("worker processes have no functions and arrays of this program: leave out Processes: %w", err)
	}
	command, err := Command()
	if err != nil {
		return nil, err
	}
	return &remote.Processes{N: n, Command: func(file string, budget int64, workers int) []string {
		return []string{command, "task", "--plan", file, "--memory", strconv.FormatInt(budget, 10), "--workers", strconv.Itoa(workers)}
	}}, nil
}

// Command returns the path of the gonbext command, which worker processes run: this program, or
// the one that PATH finds.
func Command() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok && strings.TrimSuffix(info.Path, ".test") == commandPackage {
		return os.Executable()
	}
	path, err := osexec.LookPath("gonbext")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", errors.New("worker processes run the gonbext command, and PATH does not find it: go install " + commandPackage)
	}
	return path, nil
}
