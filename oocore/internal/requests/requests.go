// Package requests counts what object stores and web servers are asked for, as it is asked.
package requests

import (
	"context"
	"sync"

	"github.com/gonbext/gonbext/oocore/record"
)

// The kinds of requests of a record.Traffic.
const (
	Get       = "GET"
	RangedGet = "ranged GET"
	Put       = "PUT"
	Part      = "part"
	Post      = "POST"
	List      = "LIST"
	Head      = "HEAD"
	Delete    = "DELETE"
)

// Tally adds up requests. It is safe for concurrent use.
type Tally struct {
	above *Tally // counts them too

	mu  sync.Mutex
	all []record.Traffic
}

type key struct{}

// Counting returns a context whose requests are counted, also by those who count those of ctx.
func Counting(ctx context.Context) (context.Context, *Tally) {
	if ctx == nil {
		ctx = context.Background()
	}
	above, _ := ctx.Value(key{}).(*Tally)
	t := &Tally{above: above}
	return context.WithValue(ctx, key{}, t), t
}

// Count adds a request of a kind to a place, with the bytes of objects that it reads and writes.
func Count(ctx context.Context, place, kind string, read, written int64) {
	t, _ := ctx.Value(key{}).(*Tally)
	one := record.Traffic{Place: place, Requests: map[string]int64{kind: 1}, Read: read, Written: written}
	for ; t != nil; t = t.above {
		t.mu.Lock()
		t.all = record.AddTraffic(t.all, []record.Traffic{one})
		t.mu.Unlock()
	}
}

// Sum returns what was counted so far, by place.
func (t *Tally) Sum() []record.Traffic {
	t.mu.Lock()
	defer t.mu.Unlock()
	return record.AddTraffic(t.all, nil)
}
