package exec_test

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// planVariable names the plan that a copy of the test's binary runs instead of
// the tests.
const planVariable = "GONBEXT_TEST_PLAN"

func TestMain(m *testing.M) {
	if asWorker() {
		return
	}
	file := os.Getenv(planVariable)
	if file == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := runEncoded(file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runEncoded(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	p, err := plan.Decode(b)
	if err != nil {
		return err
	}
	sized, err := size.New(p, size.Options{Budget: 64 * mebi, Overhead: 20 * mebi, Workers: 2})
	if err != nil {
		return err
	}
	_, err = exec.Run(context.Background(), sized, exec.Env{})
	return err
}

// elsewhere runs an encoded plan in a process of its own.
func elsewhere(t *testing.T, file string) {
	t.Helper()
	c := osexec.Command(os.Args[0])
	c.Env = append(os.Environ(), planVariable+"="+file)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
