//go:build unix

package ptx_test

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/libcuda"
	"github.com/gonbext/gonbext/cuda/internal/ptx"
)

// card is the machine's first GPU, with a stream.
var card = sync.OnceValues(func() (c struct {
	driver.Context
	stream driver.Stream
	done   driver.Event
}, err error) {
	d, err := libcuda.Open()
	if err != nil {
		return c, err
	}
	if c.Context, err = d.Open(0); err != nil {
		return c, err
	}
	if c.stream, err = c.NewStream(); err != nil {
		return c, err
	}
	c.done, err = c.NewEvent()
	return c, err
})

// launchOnCard runs a kernel on the machine's GPU, over copies of the memory that is given.
func launchOnCard(m ptx.Module, name string, grid, block [3]uint32, args ...any) (err error) {
	c, err := card()
	if err != nil {
		return err
	}
	f, err := c.Load(driver.Kernel{Name: name, PTX: m.Text})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	words, copies := make([]uint64, len(args)), map[*byte]driver.Address{}
	var out []func() error
	for i, a := range args {
		switch a := a.(type) {
		case int:
			words[i] = uint64(a)
		case []byte:
			if len(a) == 0 {
				continue
			}
			at, ok := copies[unsafe.SliceData(a)]
			if !ok {
				if at, err = c.Alloc(int64(len(a))); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, c.Free(at)) }()
				copies[unsafe.SliceData(a)] = at
				if err := c.stream.Upload(at, a); err != nil {
					return err
				}
				out = append(out, func() error { return c.stream.Download(a, at) })
			}
			words[i] = uint64(at)
		default:
			return fmt.Errorf("argument %d is a %T", i, a)
		}
	}
	err = c.stream.Launch(f, grid, block, words...)
	for _, download := range out {
		err = errors.Join(err, download())
	}
	return errors.Join(err, c.stream.Record(c.done), c.done.Wait())
}
