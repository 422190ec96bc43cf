package magic

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/gonbext/internal/setup"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
)

// What %disk clean removes.
const (
	cleanRuns       = "runs"
	cleanUnfinished = "unfinished"
)

// disk shows what gonbext keeps, after it has removed what the operands say.
func (r *rewriting) disk(operands []string) error {
	cleaned := ""
	switch {
	case len(operands) == 0:
	case operands[0] == "clean" && len(operands) == 2 && slices.Contains([]string{cleanRuns, cleanUnfinished}, operands[1]):
		cleaned = operands[1]
	default:
		return fmt.Errorf("it takes clean %s, for the records of earlier runs, or clean %s, for what runs that did not end have left below this folder", cleanRuns, cleanUnfinished)
	}
	r.later("%disk", func(_ context.Context, now relay.Now) (chart.Output, error) {
		here, err := filepath.Abs(cmp.Or(now.Dir, "."))
		if err != nil {
			return chart.Output{}, err
		}
		removed := int64(0)
		unfinished, err := host.Leftovers(here)
		if err != nil {
			return chart.Output{}, err
		}
		if cleaned == cleanUnfinished {
			unfinished = slices.DeleteFunc(unfinished, func(l host.Leftover) bool {
				n, _ := setup.BytesBelow(l.Path)
				if l.Remove() != nil { // of a run that goes on
					return false
				}
				removed += n
				return true
			})
		}
		left := chart.Kept{What: "unfinished outputs below this folder", Path: here, Clean: "%disk clean " + cleanUnfinished, Count: len(unfinished)}
		for _, l := range unfinished {
			n, _ := setup.BytesBelow(l.Path)
			left.Bytes += n
		}
		kept := []chart.Kept{left}
		if dir, err := record.Dir(); err == nil {
			before, _ := setup.BytesBelow(dir)
			if cleaned == cleanRuns {
				record.Clear(dir)
			}
			bytes, _ := setup.BytesBelow(dir)
			removed += before - bytes
			all, err := record.Latest(dir, 1<<20)
			if err != nil {
				return chart.Output{}, err
			}
			kept = append(kept, chart.Kept{What: "records of runs, for %report and %compare", Path: dir, Bytes: bytes, Count: len(all), Clean: "%disk clean " + cleanRuns})
		}
		installed, err := setup.Installed()
		for _, i := range installed {
			if runs, _ := record.Dir(); i.Path != runs && i.Bytes > 0 { // locks have none
				kept = append(kept, chart.Kept{What: i.What, Path: i.Path, Bytes: i.Bytes, Clean: "!gonbext uninstall"})
			}
		}
		if err != nil {
			return chart.Output{}, err
		}
		return chart.Disk(kept, cleaned, removed)
	})
	return nil
}
