package oocore

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/internal/output"
	"github.com/gonbext/gonbext/oocore/internal/run"
	"github.com/gonbext/gonbext/oocore/internal/simd"
	"github.com/gonbext/gonbext/oocore/types"
	"github.com/gonbext/gonbext/oocore/units"
)

// Option says how an array is to be computed or stored. Save, Collect or Plan returns an
// *OptionError for one that is malformed.
type Option interface{ apply(*settings) error }

type option func(*settings) error

func (o option) apply(s *settings) error { return o(s) }

// set returns an option that cannot be malformed.
func set(f func(s *settings)) Option {
	return option(func(s *settings) error { f(s); return nil })
}

// positive returns an option that is a number of one or more, and for others the sentence as an error.
func positive[N int | int64](n N, sentence string, f func(s *settings)) Option {
	if n < 1 {
		return option(func(*settings) error { return fmt.Errorf(sentence, n) })
	}
	return set(f)
}

// settings are the options of one run, and those of how its output is stored.
type settings struct {
	run.Options
	output.Settings

	receipt string // path of a file; "" for none

	target *string // of the whole expression; nil where nobody has told
}

// Memory sets the budget: "512MiB", "1.5GB". It covers all that the kernel would
// charge to the process and could not take back, outputs and spilled arrays in a tmpfs
// included: what Collect spills goes to the user's cache where the system's temporary files
// are in one. Without Memory a run takes 70 % of what the machine and its containers have free.
//
// The limit is the process's: it covers what the program holds itself, and runs that are active at
// the same time share it. Runs that do not fit together into the least of their budgets wait for one
// another. A Pool gives each its part instead.
func Memory(size string) Option {
	return option(func(s *settings) (err error) {
		s.Budget, err = units.ParseSize(size)
		return err
	})
}

// MemoryBytes is Memory as a number of bytes.
func MemoryBytes(n int64) Option {
	return positive(n, "a budget of %d bytes: give one or more", func(s *settings) { s.Budget = n })
}

// Chunks sets the lengths of the chunks that the result is computed and stored
// in. Without it they follow from the inputs' own.
func Chunks(lengths ...int) Option {
	return set(func(s *settings) { s.Chunks = slices.Clone(lengths) })
}

// Shards sets the lengths of the groups of chunks that are stored as one object,
// each a multiple of the chunks'. Only formats with chunks have them. Without it
// each chunk is stored by itself.
func Shards(lengths ...int) Option {
	return set(func(s *settings) { s.Shards = slices.Clone(lengths) })
}

// ShardSize sets the most bytes of arrays in a file of a checkpoint that Collection.Save writes with
// an index: "5GB", which is the default.
func ShardSize(size string) Option {
	return option(func(s *settings) (err error) {
		s.ShardSize, err = units.ParseSize(size)
		return err
	})
}

// Codec sets how chunks are compressed: "none", "zstd:3", "zstd:3:checksum", "gzip:5", or
// "blosc:lz4:5:shuffle", where shuffle is noshuffle, shuffle or bitshuffle. Without it the
// format's own default holds; of new Zarr arrays this is zstd:1. With Shards many chunks are
// one object, which one task writes, and which is read in parts. In HDF5 and NetCDF gzip is deflate with
// shuffle, and gzip:1 the default.
//
// Tensors of a GGUF file can be in blocks of few bits, by llama.cpp's recipes: "q4_k_m", "q8_0", "mxfp4" and others, which
// say by their names and shapes in what Collection.Save is given which has which type. Vectors become float32, and what
// has no whole blocks float16. The blocks are those of ggml without an importance matrix. What is NaN, infinite
// or over 1e9 is an error, but for q8_0, whose blocks with such become NaN.
func Codec(text string) Option {
	return set(func(s *settings) { s.Codec = text })
}

// DimNames sets the names of the output's dimensions, one for each; "" leaves one without
// a name. Without it the names are those of the inputs, as far as these agree. Of the
// formats only Zarr stores names.
func DimNames(names ...string) Option {
	return option(func(s *settings) error {
		for i, name := range names {
			if name != "" && slices.Contains(names[:i], name) {
				return fmt.Errorf("dimension names: %q names two dimensions", name)
			}
		}
		s.Dims = append([]string{}, names...)
		return nil
	})
}

// Attributes sets attributes of the output: values that JSON can hold, by their names. Zarr stores them, and safetensors
// stores them as texts. An output has those of its inputs in addition, as far as they hold for its elements:
//
//	copies, slices, transposes, takes, masks, Min, Max    all, and the fill value
//	AsType to a type that holds the numbers               all, with markers of missing values in the new type
//	Concatenate, stacks                                   those that all inputs share, if they are packed alike
//	Mean                                                  units and calendar, of numbers that are not packed
//	DecodeCF                                              all but those that it has applied
//	all else                                              none
//
// Formats without attributes of each array lose them. A plan warns where an output uses numbers as they are stored, though
// scale_factor, add_offset, _FillValue, missing_value or _Unsigned say that they stand for others, or loses what says so:
// DecodeCF decodes them. It does not apply valid_min, valid_max and valid_range.
func Attributes(values map[string]any) Option {
	return option(func(s *settings) error {
		for name, v := range values {
			if _, err := json.Marshal(v); err != nil {
				return fmt.Errorf("attribute %q: %w", name, err)
			}
		}
		s.Attributes = maps.Clone(values)
		return nil
	})
}

// FillValue sets the value that marks missing values in the output: chunks that are not stored have it, and
// xarray reads elements that have it as NaN. It is a number or bool that the output's
// type holds, or a text of it such as "NaN" or "-Infinity". A copy of a stored array has
// that of the array. Of the formats only Zarr stores it.
func FillValue(v any) Option {
	return option(func(s *settings) error {
		if _, err := output.FillText(v); err != nil {
			return err
		}
		s.Fill = v
		return nil
	})
}

// Region writes into a part of a stored array, and leaves the rest as it is: "1000:2000", or
// ":, 0:256", as between NumPy's brackets with steps of one. What is saved has the region's
// shape, or broadcasts to it, and the array's dtype.
func Region(spec string) Option {
	return set(func(s *settings) { s.Region = spec })
}

// On sets the device that computes, such as a GPU. Without it the CPU computes.
func On(d device.Device) Option {
	return option(func(s *settings) error {
		if d == nil {
			return errors.New("the device is nil")
		}
		if broken, ok := d.(interface{ Err() error }); ok && broken.Err() != nil {
			return broken.Err()
		}
		s.Device = d
		return nil
	})
}

// Workers sets the number of tasks that compute at once. Without it there is one for each core.
func Workers(n int) Option {
	return positive(n, "%d workers cannot compute: give one or more", func(s *settings) { s.Workers = n })
}

// Processes sets the number of worker processes of this machine that run the tasks. They share the
// budget and the workers with this process. The result has the same bytes. A worker that is killed
// is replaced, and only its unfinished tasks are done again; a run that was cut off resumes in one process or in several. They
// run the gonbext command: this program, where it is that command, else the one that PATH
// finds. Go functions, which exist in one process only, are an error, and so is a device.
func Processes(n int) Option {
	return positive(n, "%d processes cannot compute: give one or more", func(s *settings) { s.Processes = n })
}

// Fresh makes a run compute even where the same result has been saved before.
func Fresh() Option {
	return set(func(s *settings) { s.Fresh = true })
}

// Version names the version of the Go functions that were given to MapChunks and the like: change it when they
// change. Without it a run with such a function always computes anew, since
// nothing else tells whether its results have changed. Reads names files that belong to it.
func Version(v string) Option {
	return set(func(s *settings) { s.Version = v })
}

// Reads names files that the Go functions of a run read by themselves, such as a model's weights: what was
// saved with a Version is computed anew where one of them has changed since, and an error where one changes
// during the run.
func Reads(paths ...string) Option {
	return set(func(s *settings) { s.Reads = append(s.Reads, paths...) })
}

// ErrPlanned is returned by Collect in a cell or command that only plans, and by a run over
// an array that was only planned.
var ErrPlanned = errors.New("nothing was computed: this is a plan only")

// defaults are the options that a host has set for all runs: they come before those of a run.
var defaults struct {
	sync.Mutex
	opts []Option
}

func applyOptions(opts []Option) (*settings, error) {
	if err := simd.Err(); err != nil {
		return nil, err
	}
	defaults.Lock()
	all := slices.Concat(defaults.opts, opts)
	defaults.Unlock()
	return settingsOf(all)
}

// settingsOf returns the settings of options, without the process's defaults.
func settingsOf(opts []Option) (*settings, error) {
	s := &settings{}
	for _, o := range opts {
		if o == nil {
			return nil, &OptionError{Err: errors.New("it is nil")}
		}
		if err := o.apply(s); err != nil {
			return nil, &OptionError{Err: err}
		}
	}
	return s, nil
}

// OptionError is an option that is malformed, found before anything runs.
type OptionError = types.OptionError

// unstored takes back what options say of how a result is stored.
var unstored = option(func(s *settings) error {
	s.Chunks, s.Shards, s.Codec, s.Region = nil, nil, "", ""
	s.Dims, s.Attributes, s.Fill = nil, nil, nil
	s.receipt = ""
	return nil
})

// unusable returns an error of options that say how a result is stored, where none is.
func (s *settings) unusable() error {
	for _, o := range []struct {
		name string
		set  bool
	}{
		{"Shards", s.Shards != nil}, {"Codec", s.Codec != ""}, {"Region", s.Region != ""},
		{"DimNames", s.Dims != nil}, {"Attributes", s.Attributes != nil}, {"FillValue", s.Fill != nil}, {"Receipt", s.receipt != ""},
	} {
		if o.set {
			return &OptionError{Err: fmt.Errorf("%s says how a result is stored, and this call stores none: leave it out, or Save", o.name)}
		}
	}
	return nil
}

// Progress is how far a run has come. Bytes and chunks count from the beginning of the
// run; a run that resumes where an earlier one stopped has Skipped chunks from the start.
type Progress struct {
	Title             string // the expression
	Stage, Stages     int    // the stage that runs, from 1 on, of how many
	Chunks            int64  // of all stages
	Computed, Skipped int64  // of these
	Read, Written     int64  // bytes from and to files
	Memory            int64  // bytes of the run's buffers at this moment
	Elapsed           time.Duration
}

// OnProgress gives a function that is called while a run lasts, at most four times a second
// and only where something has changed but the time, and once at its end, from a goroutine of
// its own. A run does not wait for it: while a call continues, later progress replaces what has
// not been told yet. At the end of the run it waits for up to a second. A function that panics
// is not called again, and the panic is logged.
func OnProgress(f func(Progress)) Option {
	return option(func(s *settings) error {
		if f == nil {
			return errors.New("the progress function is nil")
		}
		s.Progress = run.NewWatcher(func(p run.Progress) {
			f(Progress{Title: p.Plan.Title, Stage: p.Stage + 1, Stages: len(p.Plan.Stages), Chunks: int64(p.Plan.Tasks()), Computed: p.Computed, Skipped: p.Skipped,
				Read: p.Read, Written: p.Written, Memory: p.Memory, Elapsed: p.Elapsed})
		})
		return nil
	})
}
