package relay

import (
	"context"
	"sync"
	"time"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
)

// Late makes an output that depends on what earlier cells have left. An error is the
// user's, as Rewrite's.
type Late func(ctx context.Context, now Now) (chart.Output, error)

// Now is what there is when a cell's turn has come.
type Now struct {
	Library bool   // the output may carry the chart library
	Dir     string // the folder that cells run in, which %cd changes; "" where it is not known
}

// lateLimit is how long a late output may take: GoNB's own outputs wait for it.
const lateLimit = time.Minute

// late are the outputs of a cell that are made when its turn has come. The first
// call makes them; it is GoNB's turn that calls, or its answer, whichever is first.
func (r *relay) late(j *job) ([]Bundle, error) {
	j.lateOnce.Do(func() {
		if len(j.cell.Late) == 0 {
			return
		}
		ctx, cancel := r.interrupts.during(lateLimit)
		defer cancel()
		for _, show := range j.cell.Late {
			out, err := show(ctx, Now{r.library.carries(j.origin), r.gonb.dir()})
			if err != nil {
				j.lateErr = err
				return
			}
			if out.Library {
				r.library.carried(j.origin)
			}
			j.lateOutputs = append(j.lateOutputs, BundleOf(out))
		}
	})
	return j.lateOutputs, j.lateErr
}

// interrupts ends what the relay does for a cell when the user interrupts it.
type interrupts struct {
	mu    sync.Mutex
	until context.Context // the next interrupt
	now   context.CancelFunc
}

// during is a context that ends with an interrupt, or after a limit.
func (i *interrupts) during(limit time.Duration) (context.Context, context.CancelFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now == nil {
		i.until, i.now = context.WithCancel(context.Background())
	}
	return context.WithTimeout(i.until, limit)
}

// interrupt ends all contexts that are in use.
func (i *interrupts) interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now != nil {
		i.now()
		i.now = nil
	}
}
