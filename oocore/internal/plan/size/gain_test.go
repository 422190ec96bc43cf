package size

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/record"
)

func TestGainSaysWhatLimits(t *testing.T) {
	for want, x := range map[string]record.Transfers{
		"":                                {CPU: 1, Disk: 1},
		"about 8 times as fast":           {Seconds: 1, Limit: "the link", CPU: 8, Disk: 0.5},
		"nothing here: the disk is":       {Seconds: 1, Limit: "the link", CPU: 1, Disk: 3},
		"nothing here: the link is":       {Seconds: 3, Limit: "the link", CPU: 1, Disk: 2},
		"nothing here: its memory is":     {Seconds: 3, Limit: "its memory", CPU: 3, Disk: 2},
		"about 2 times as fast as on the": {Seconds: 1, Limit: "the link", CPU: 8, Disk: 4},
	} {
		if got := x.Gain(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%+v: got %q, want %q", x, got, want)
		}
	}
}

// A product of many operations an element gains, and one that only looks at each element
// does not, on the same card.
func TestProductGainsAndReductionDoesNot(t *testing.T) {
	d := card(1 << 30)
	d.Rates = device.Rates{Upload: 10e9, Download: 10e9, Memory: 1e12, Arithmetic: 50e12}
	for name, gains := range map[string]bool{"matmul": true, "reduce": false} {
		p, err := New(deviceStages(t)[name], Options{Budget: 256 << 20, Workers: 2, Device: d})
		if err != nil {
			t.Fatal(err)
		}
		x := &p.OnDevice[0].Transfers
		if got := !strings.HasPrefix(x.Gain(), record.NoGain); got != gains || x.CPU <= 0 {
			t.Errorf("%s: %q of %+v", name, x.Gain(), x)
		}
		seconds, limit := p.Estimate(0)
		if seconds < x.Seconds || seconds < x.Disk || limit == "" {
			t.Errorf("%s takes %g s by %s, of %+v", name, seconds, limit, x)
		}
	}
}
