package gonbext

import (
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
)

func TestHelpfulLeavesOutRowsThatTellNothing(t *testing.T) {
	row := func(chunks int, budget int64, moved int64) record.WhatIf {
		return record.WhatIf{Chunks: []int{chunks}, Budget: budget, Need: 20, Fits: true, Passes: 1, Tasks: 5, Moved: moved, Peak: 10}
	}
	small := func(chunks int, budget, need int64) record.WhatIf {
		return record.WhatIf{Chunks: []int{chunks}, Budget: budget, Need: need}
	}
	for name, c := range map[string]struct {
		rows []record.WhatIf
		want []int // their indices
	}{
		"equal to the plan's own":  {[]record.WhatIf{row(8, 64, 5), row(8, 100, 5), row(4, 64, 7), row(4, 100, 7)}, []int{1, 2}},
		"a hair below the minimum": {[]record.WhatIf{small(8, 64, 70), row(8, 100, 5), row(4, 64, 7)}, []int{1, 2}},
		"several too small":        {[]record.WhatIf{small(8, 16, 90), small(8, 64, 90), row(8, 100, 5)}, []int{1, 2}},
		"absurd":                   {[]record.WhatIf{row(8, 100, 5), row(4, 100, 51), row(2, 100, 50)}, []int{0, 2}},
		"only the plan's own":      {[]record.WhatIf{row(8, 64, 5), row(8, 100, 5)}, nil},
	} {
		got := helpful(c.rows, 100)
		ok := len(got) == len(c.want)
		for i := range got {
			ok = ok && got[i].Budget == c.rows[c.want[i]].Budget && got[i].Chunks[0] == c.rows[c.want[i]].Chunks[0]
		}
		if !ok {
			t.Errorf("%s: kept %+v", name, got)
		}
	}
}

// Rows of a plan for a device have the bytes that its stages move there, as the verdict has.
func TestWhatIfCountsBytesOfDevice(t *testing.T) {
	a := oocore.Random(oocore.Float32, 1, 1000, 1000).Sqrt()
	w := whatIf{func(opts ...oocore.Option) (*oocore.Plan, error) {
		return a.Plan(filepath.Join(t.TempDir(), "y.npy"), append(opts, oocore.On(cuda.Model("8GiB")))...)
	}, nil}
	if row := w.row(oocore.Memory("256MiB")); !row.Fits || row.Moved != a.Bytes() {
		t.Errorf("%d bytes are moved, want %d: %+v", row.Moved, a.Bytes(), row)
	}
}
