package exec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// planMark begins a file with an encoded plan, before the plan's checksum.
const planMark = "gonbext plan, sha256 "

// maxPlanFile bounds what is read of a file that may be no plan.
const maxPlanFile = 1 << 30

// writePlan writes an encoded plan for workers into the staging folder.
func writePlan(path string, encoded []byte) error {
	return disk.WriteFile(path, append(append([]byte(planMark+checksum(encoded)), '\n'), encoded...))
}

// ReadPlan reads a file with an encoded plan. A file that is damaged, is none, or is of
// another version of the program is an error that says so.
func ReadPlan(path string) (*plan.Plan, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxPlanFile {
		return nil, fmt.Errorf("%s: this is not a file with a plan", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	mark, encoded, ok := bytes.Cut(b, []byte("\n"))
	sum, marked := bytes.CutPrefix(mark, []byte(planMark))
	switch {
	case !ok || !marked:
		return nil, fmt.Errorf("%s: this is not a file with a plan", path)
	case string(sum) != checksum(encoded):
		return nil, fmt.Errorf("%s: the plan is damaged: its checksum differs", path)
	}
	p, err := plan.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// planSum returns the first line of a file with a plan, which has the plan's checksum.
func planSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line := make([]byte, len(planMark)+len(checksum(nil)))
	_, err = io.ReadFull(f, line)
	return string(line), err
}

func checksum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// planFile is in the staging folder.
const planFile = "plan"
