package storage

import (
	"errors"
	"io"
	"sync"
	"time"
)

// Pool has the open files of one array that lies in many, by their names, so that not every read opens its own.
type Pool[T io.Closer] struct {
	mu     sync.Mutex
	held   map[string]*Pooled[T]
	closed bool // what is released is closed
}

// Pooled is an open file of a Pool.
type Pooled[T io.Closer] struct {
	Value T
	Name  string
	ready sync.Once
	err   error
	users int
	last  time.Time // when it was released
}

// Open returns a file, which open opens where it is not open. Release ends its use.
func (f *Pool[T]) Open(name string, open func() (T, error)) (*Pooled[T], error) {
	f.mu.Lock()
	o := f.held[name]
	if o == nil {
		o = &Pooled[T]{Name: name}
		if f.held == nil {
			f.held = map[string]*Pooled[T]{}
		}
		f.held[name] = o
	}
	o.users++
	f.mu.Unlock()
	if o.ready.Do(func() { o.Value, o.err = open() }); o.err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.held[name] == o {
			delete(f.held, name)
		}
		return nil, o.err
	}
	return o, nil
}

// Release ends a use of a file. Files without users stay open while no more than idle files are open in all.
func (f *Pool[T]) Release(o *Pooled[T], idle int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	o.users--
	o.last = time.Now()
	if f.closed {
		return f.closeIdle(0)
	}
	return f.closeIdle(idle)
}

// Held is how many files are open.
func (f *Pool[T]) Held() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.held)
}

// closeIdle closes files that nobody uses, until so many are open.
func (f *Pool[T]) closeIdle(most int) error {
	var errs []error
	for len(f.held) > most {
		var oldest *Pooled[T]
		for _, o := range f.held {
			if o.users == 0 && (oldest == nil || o.last.Before(oldest.last)) {
				oldest = o
			}
		}
		if oldest == nil {
			break
		}
		delete(f.held, oldest.Name)
		errs = append(errs, oldest.Value.Close())
	}
	return errors.Join(errs...)
}

// Close closes all files that nobody uses, and the others when they are released.
func (f *Pool[T]) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return f.closeIdle(0)
}
