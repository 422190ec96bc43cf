package crash

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// saveVariable names the save that a copy of the test's binary runs, from inVariable to
// outVariable.
const (
	saveVariable = "GONBEXT_TEST_SAVE"
	inVariable   = "GONBEXT_TEST_IN"
	outVariable  = "GONBEXT_TEST_OUT"
	// killVariable is the file operation before which that copy kills itself, where it is set:
	// its kind and its number.
	killVariable = "GONBEXT_TEST_KILL"
)

// runSave is the process that is killed: it says when the run begins.
func runSave(name string) error {
	for _, s := range saves() {
		if s.name == name {
			fmt.Println("begins")
			killsItself(os.Getenv(killVariable))
			return s.run(os.Getenv(inVariable), os.Getenv(outVariable))
		}
	}
	return fmt.Errorf("there is no save %q", name)
}

// A killer runs a save in processes of its own, in folders that no other one uses.
type killer struct {
	*room
	t      *testing.T
	random *rand.Rand
	env    []string
	kills  int // that came while the run lasted
}

func newKiller(t *testing.T, in, dir string) *killer {
	r := &room{in: in, out: filepath.Join(dir, "out"), temp: filepath.Join(dir, "temp"), runs: filepath.Join(dir, "runs")}
	check(t, os.MkdirAll(r.temp, 0o777))
	env := append(os.Environ(), "TMPDIR="+r.temp, "GONBEXT_RUNS="+r.runs, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	return &killer{room: r, t: t, random: testcases.Rand(t), env: env}
}

// run begins a save and kills it after a while, where that is not 0. It says whether it
// has ended before, and how long it took.
func (k *killer) run(s *save, after time.Duration) (ended bool, spent time.Duration, err error) {
	c := exec.Command(os.Args[0])
	c.Env = append(k.env, saveVariable+"="+s.name, inVariable+"="+k.in, outVariable+"="+k.out)
	c.Stderr = os.Stderr
	says, err := c.StdoutPipe()
	if err != nil {
		return false, 0, err
	}
	if err := c.Start(); err != nil {
		return false, 0, err
	}
	out := bufio.NewReader(says)
	if _, err := out.ReadString('\n'); err != nil {
		return false, 0, fmt.Errorf("%s did not begin: %w", s.name, c.Wait())
	}
	begun := time.Now()
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = c.Process.Kill() })
		defer timer.Stop()
	}
	err = c.Wait()
	if c.ProcessState.ExitCode() < 0 { // by the signal
		k.kills++
		return false, time.Since(begun), nil
	}
	return true, time.Since(begun), err
}

// checkpointBytes are the most that a checkpoint of such a small run takes besides its results.
const checkpointBytes = 64 << 10

// bytesOf is what files have together.
func bytesOf(files map[string]string) (n int) {
	for _, text := range files {
		n += len(text)
	}
	return n
}

// kill kills runs of a save at random moments, n times, and lets the next one end each time.
func (k *killer) kill(s *save, n int) {
	k.begin(k.t, s)
	before := k.elements(k.t, s)
	_, whole, err := k.run(s, 0)
	check(k.t, err)
	after, want := k.elements(k.t, s), files(k.t, k.out)
	for range n {
		k.begin(k.t, s)
		for range 1 + k.random.IntN(3) { // some are killed twice, or three times
			at := 1 + time.Duration(k.random.Int64N(int64(whole)))
			ended, _, err := k.run(s, at)
			if err != nil {
				k.t.Fatalf("after a kill the run gave %v", err)
			}
			if wrong := k.whole(s, before, after); wrong != nil {
				k.t.Fatalf("killed after %v: %v", at, wrong)
			}
			if size, most := bytesOf(files(k.t, k.out)), bytesOf(want)+checkpointBytes; s.oneCopy && size > most {
				k.t.Fatalf("killed after %v: the folder has %d bytes, which are to be %d at the most", at, size, most)
			}
			if ended || s.appends && k.whole(s, after, after) == nil { // which the next would append to
				break
			}
		}
		ended := s.appends && k.whole(s, after, after) == nil
		if !ended {
			if _, _, err := k.run(s, 0); err != nil {
				k.t.Fatalf("after a kill the run gave %v", err)
			}
		}
		now := files(k.t, k.out)
		if ended {
			removeStaging(now)
		}
		if wrong := differ(want, now); wrong != "" {
			k.t.Fatalf("after a kill %s", wrong)
		}
	}
}

// Runs of every kind of save are killed at random moments: what is under the outputs' names
// is whole at any time, and the next run makes the same files as one that nobody kills.
func TestKilledSavesEndWhole(t *testing.T) {
	n := 1
	if testcases.All() {
		n = 6
	}
	if many, err := strconv.Atoi(os.Getenv("GONBEXT_KILLS")); err == nil {
		n = many
	}
	r := newRoom(t)
	var killers []*killer
	t.Run("of", func(t *testing.T) {
		all := saves()
		if !testcases.Full() {
			all = testcases.Sample(t, all, len(all)/3, func(save) []string { return []string{""} })
		}
		killers = make([]*killer, len(all))
		for i := range all {
			t.Run(all[i].name, func(t *testing.T) {
				t.Parallel()
				killers[i] = newKiller(t, r.in, filepath.Join(filepath.Dir(r.in), fmt.Sprint("killer-", i)))
				killers[i].kill(&all[i], n)
			})
		}
	})
	kills := 0
	for _, k := range killers {
		if k == nil { // another was asked for
			continue
		}
		kills += k.kills
		t.Setenv("TMPDIR", k.temp)
		swept, err := storage.TempStagingDir() // as every run that needs one
		check(t, err)
		check(t, swept.Remove())
		for name := range files(t, k.temp) {
			t.Errorf("%s is left", name)
		}
	}
	t.Logf("%d runs were killed", kills)
	if kills == 0 {
		t.Error("no run was killed")
	}
}
