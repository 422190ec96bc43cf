package exec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/exec/exectest"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// workerArgument makes a copy of the test's binary a worker process.
const workerArgument = "gonbext-test-worker"

// asWorker serves a coordinator, where the test's binary was started to do that.
func asWorker() bool {
	if len(os.Args) != 5 || os.Args[1] != workerArgument {
		return false
	}
	budget, _ := strconv.ParseInt(os.Args[3], 10, 64)
	workers, _ := strconv.Atoi(os.Args[4])
	if err := exec.Serve(context.Background(), os.Args[2], budget, workers, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func workers(n int) *exec.Processes {
	return &exec.Processes{N: n, Command: func(file string, budget int64, workers int) []string {
		return []string{os.Args[0], workerArgument, file, strconv.FormatInt(budget, 10), strconv.Itoa(workers)}
	}}
}

// inProcesses runs a plan in n worker processes, in the least budget that will do.
func inProcesses(n int) exectest.Run {
	return func(p *plan.Plan, env exec.Env) (record.End, error) {
		o := plan.Options{Budget: 1, Overhead: 16 << 20, Workers: 2, Processes: n}
		_, err := p.Size(o)
		short, ok := errors.AsType[*plan.MemoryError](err)
		if !ok {
			return record.End{}, fmt.Errorf("a budget of one byte: %w", err)
		}
		o.Budget = short.Need
		s, err := p.Size(o)
		if err != nil {
			return record.End{}, err
		}
		env.Processes = workers(n)
		end, err := exec.Run(context.Background(), s, env)
		if err == nil && end.Peak > s.Peak.Host() {
			err = fmt.Errorf("the processes together reserved %d bytes, predicted %d", end.Peak, s.Peak.Host())
		}
		return end, err
	}
}

func TestProcessesPassTheSuite(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(strconv.Itoa(n), func(t *testing.T) { exectest.Test(t, inProcesses(n)) })
	}
}
