package gonbext

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// ReportCommand is the hidden subcommand of the gonbext command that shows what a cell has
// to show: in the notebook whose GoNB it runs below, else as text. It draws the records
// whose paths it reads, answering each with ShownLine or with another line, and then the
// report of the cell's runs. GoNB takes displays from one process of a cell, so a cell has
// one such child.
const (
	ReportCommand = "_report"
	ShownLine     = "shown"
)

// displayer is the command as a child of the cell.
type displayer struct {
	command *exec.Cmd
	paths   io.WriteCloser
	answers *bufio.Reader
}

// showLimit is how long a figure may take to be drawn before the cell continues without it.
const showLimit = time.Minute

// display starts the command, once, and returns nil where there is none.
func (c *cell) display() *displayer {
	if c.displayer != nil || c.noCommand {
		return c.displayer
	}
	c.noCommand = true
	path, err := exec.LookPath("gonbext")
	if err != nil {
		return nil
	}
	id := ""
	if c.report { // otherwise the kernel does, or there is nothing to report
		id = c.id
	}
	d := &displayer{command: exec.Command(path, ReportCommand, id, "--chart", c.chart)}
	d.command.Stderr = os.Stderr
	if d.paths, err = d.command.StdinPipe(); err != nil {
		return nil
	}
	out, err := d.command.StdoutPipe()
	if err != nil || d.command.Start() != nil {
		return nil
	}
	d.answers = bufio.NewReader(out)
	c.noCommand, c.displayer = false, d
	return d
}

// show has a record drawn, and reports whether it was.
func (c *cell) show(path string) bool {
	d := c.display()
	if d == nil {
		return false
	}
	limit := time.AfterFunc(showLimit, func() { _ = d.command.Process.Kill() })
	defer limit.Stop()
	if _, err := fmt.Fprintln(d.paths, path); err != nil {
		return false
	}
	answer, err := d.answers.ReadString('\n')
	return err == nil && answer == ShownLine+"\n"
}

// showReport has the runs of a cell drawn, or says their verdicts where there is no
// command.
func (c *cell) showReport() {
	if d := c.display(); d != nil {
		d.paths.Close()
		_, err := io.Copy(os.Stdout, d.answers)
		if d.command.Wait() == nil && err == nil {
			return
		}
	}
	all := slices.DeleteFunc(runs(c.id), func(r *record.Run) bool { return r.Header.Shown != "" })
	for i, r := range all {
		over := r.End == nil || r.End.ProcessPeak > r.Header.Budget
		if !r.Header.Process || over || i == 0 && len(all) == 1 {
			fmt.Println(units.Line(verdict(r)))
		}
	}
}

// runs returns the readable records of a cell, in the order in which they began.
func runs(cell string) []*record.Run {
	dir, err := record.Dir()
	if err != nil {
		return nil
	}
	all, _ := record.OfCell(dir, cell, time.Time{})
	return all
}

// verdict describes a run in one line, for places where no report can be drawn.
func verdict(r *record.Run) string {
	h := r.Header
	budget := units.Bytes(h.Budget)
	if h.Process {
		if r.End == nil {
			return "The cell's process ended without a word"
		}
		return fmt.Sprintf("The cell took %s of %s · %s", units.Bytes(r.End.ProcessPeak), budget, units.Duration(r.End.Duration))
	}
	predicted := "predicted " + units.Bytes(h.Predicted.Host())
	switch r.Status() {
	case record.Planned:
		return fmt.Sprintf("Planned: %s of %s · nothing was run", predicted, budget)
	case record.Skipped:
		if h.Output == "" { // an algorithm's, which is kept in the run log
			return h.Title + " was done already: nothing was run"
		}
		return h.Output + " is there already: nothing was run"
	case record.Done:
	default:
		return fmt.Sprintf("%s: %s of %s", r.Status(), predicted, budget)
	}
	e := r.End
	parts := []string{fmt.Sprintf("Peak %s of %s", units.Bytes(e.Peak), budget), predicted, units.Traffic(e.Read) + " read"}
	if e.Written > 0 {
		parts = append(parts, units.Traffic(e.Written)+" written")
	}
	return strings.Join(append(parts, units.Duration(e.Duration)), " · ")
}
