package zarr

import "sync"

// flights are the puts of a writer that continue after the Write that began them: in an
// object store a session reads and computes its next chunk meanwhile. A failure is
// that of every later Sync, since no one can tell which Write it was of.
type flights struct {
	mu     sync.Mutex
	under  map[*asyncPut]struct{}
	failed error // the first
}

// asyncPut is one put.
type asyncPut struct {
	done chan struct{}
	err  error // when done
}

// begin runs a put.
func (f *flights) begin(put func() error) *asyncPut {
	one := &asyncPut{done: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.under == nil {
		f.under = map[*asyncPut]struct{}{}
	}
	f.under[one] = struct{}{}
	go func() {
		one.err = put()
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.failed == nil {
			f.failed = one.err
		}
		delete(f.under, one)
		close(one.done)
	}()
	return one
}

// wait waits for those that were begun before, and returns the first failure of any.
func (f *flights) wait() error {
	f.mu.Lock()
	var under []*asyncPut
	for one := range f.under {
		under = append(under, one)
	}
	f.mu.Unlock()
	for _, one := range under {
		<-one.done
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// wait waits for a flight, of which there may be none.
func (one *asyncPut) wait() error {
	if one == nil {
		return nil
	}
	<-one.done
	return one.err
}
