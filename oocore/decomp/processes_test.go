package decomp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/exec/remote"
	"github.com/gonbext/gonbext/oocore/internal/testkit/exectest"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// deathsVariable names the file that counts the kills of worker processes.
const deathsVariable = "GONBEXT_TEST_DEATHS"

// asWorker serves a coordinator, where the test's binary was started as the command
// gonbext task.
func asWorker() bool {
	if len(os.Args) < 2 || os.Args[1] != "task" {
		return false
	}
	arguments := map[string]string{}
	for i := 2; i+1 < len(os.Args); i += 2 {
		arguments[os.Args[i]] = os.Args[i+1]
	}
	budget, _ := strconv.ParseInt(arguments["--memory"], 10, 64)
	workers, _ := strconv.Atoi(arguments["--workers"])
	if err := remote.Serve(context.Background(), arguments["--plan"], budget, workers, exectest.Mortal(os.Stdin, os.Getenv(deathsVariable)), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// The runs of a decomposition share their worker processes. These are killed at any moment:
// the bits are those of one process, and no task that was done is done again.
func TestTuckerReplacesKilledWorkers(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "one"))
	x := tensorIn(t, dir, 3)
	want, err := run("tucker", x)
	if err != nil {
		t.Fatal(err)
	}
	deaths := filepath.Join(dir, "deaths")
	testcases.WriteFile(t, deaths, nil, 0o600)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "gonbext")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv(deathsVariable, deaths)
	kills := int64(3)
	if testcases.Full() {
		kills = 40
	}
	for i := 0; ; i++ {
		runs := filepath.Join(dir, fmt.Sprint("runs", i))
		t.Setenv("GONBEXT_RUNS", runs)
		got, err := run("tucker", x, oocore.Processes(3), oocore.Memory("512MiB"))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatal("the decomposition has other bits than in this process")
		}
		eachOnce(t, runs)
		st, err := os.Stat(deaths)
		if err != nil {
			t.Fatal(err)
		}
		if st.Size() >= kills {
			break
		}
	}
}

// eachOnce checks that a decomposition's record has one row for each task.
func eachOnce(t *testing.T, runs string) {
	t.Helper()
	all, err := record.List(runs)
	if err != nil || len(all) == 0 {
		t.Fatal("no record: ", err)
	}
	r, err := record.Read(all[len(all)-1].Path)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][2]int64
	for row := range r.Tasks() {
		rows = append(rows, [2]int64{int64(row.Stage), row.Chunk})
	}
	slices.SortFunc(rows, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
	if n := len(slices.Compact(slices.Clone(rows))); n != len(rows) || r.End == nil || int64(n) != r.End.Computed {
		t.Errorf("%d rows of %d tasks, of %+v", len(rows), n, r.End)
	}
}
