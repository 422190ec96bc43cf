package relay

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The report takes the place of the progress; where the cell has put out something since, it
// stands below that, and nothing is left of the progress.
func TestReportStandsBelowTheOutputsOfItsCell(t *testing.T) {
	for after, want := range map[bool]string{
		false: "display_data d progress, update_display_data d report, exit status 0",
		true:  "display_data d progress, update_display_data d <nil>, display_data d-report report, exit status 0",
	} {
		var c counter
		var said []string
		w := startWatch(&c, "d", func(kind string, content any) {
			shown := content.(display)
			line := fmt.Sprintf("%s %s %v", kind, shown.Transient["display_id"], shown.Data["text/plain"])
			if len(said) == 0 || said[len(said)-1] != line && !strings.HasSuffix(line, " progress") {
				said = append(said, line)
			}
		})
		w.passed() // before there is anything to stand below
		for c.looks.Load() < 2 {
			time.Sleep(time.Millisecond)
		}
		if after {
			w.passed()
		}
		w.finish("exit status 0")
		if got := strings.Join(said, ", "); got != want {
			t.Errorf("other output %t: %s", after, got)
		}
	}
}
