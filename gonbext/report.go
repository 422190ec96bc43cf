package gonbext

import (
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/gonbext/gonbext/oocore/record"
)

// ReportCommand is the hidden subcommand of the gonbext command that shows the
// report of a cell: in the notebook whose GoNB it runs below, else as text.
const ReportCommand = "_report"

// report has the gonbext command draw the runs of a cell, or says their verdicts
// where there is no command.
func report(cell, chart string) {
	if command, err := exec.LookPath("gonbext"); err == nil {
		c := exec.Command(command, ReportCommand, cell, "--chart", chart)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if c.Run() == nil {
			return
		}
	}
	all := runs(cell)
	for i, r := range all {
		over := r.End == nil || r.End.ProcessPeak > r.Header.Budget
		if !r.Header.Process || over || i == 0 && len(all) == 1 {
			fmt.Println(verdict(r))
		}
	}
}

// runs are the readable records of a cell, in the order in which they began.
func runs(cell string) []*record.Run {
	dir, err := record.Dir()
	if err != nil {
		return nil
	}
	all, err := record.List(dir)
	if err != nil {
		return nil
	}
	var runs []*record.Run
	for _, s := range slices.Backward(all) { // List has the newest first
		if s.Header.Cell != cell || s.Header.Card != nil {
			continue
		}
		if r, err := record.Read(s.Path); err == nil {
			runs = append(runs, r)
		}
	}
	return runs
}
