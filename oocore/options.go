package oocore

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Option is how an array is to be computed. What is wrong with one comes out of
// the Save, Collect or Plan that it was given to.
type Option func(*settings) error

// settings are the options of one run.
type settings struct {
	budget         int64 // 0: the machine's default
	chunks         []int
	shards         []int
	codec          string
	region         string
	grow           *int           // the axis to append along; nil where nothing is appended
	dims           []string       // names of the output's dimensions
	attributes     map[string]any // of the output
	fill           any            // that marks missing values; nil where none is given
	device         exec.Device    // nil: the CPU
	workers        int            // 0: the cores that Go uses
	processes      int            // worker processes; 0: this process
	fresh          bool
	version        string
	planned        bool
	nominal        bool    // the plan is that of any machine
	target         *string // of the whole expression; nil where nobody has told
	cell           string
	parent         *runGroup     // nil for a run by itself
	dry            *dryRun       // nil where runs are made
	foreseen       int64         // overhead that the algorithm of the run was planned with; 0: it was not
	held           int64         // by the algorithm, beside that
	sideReductions *beside       // nil where a run gives nothing but its array
	progress       *progressFunc // nil where nobody asks
	report         *RunReport

	alternatives []record.WhatIf // to a plan, for its record
}

// Memory is the budget: "512MiB", "1.5GB". It covers all that the kernel would
// charge to the process and could not take back. Without it a run takes 70 % of
// what the machine and its containers have free.
func Memory(size string) Option {
	return func(s *settings) (err error) {
		s.budget, err = units.ParseSize(size)
		return err
	}
}

// Chunks are the lengths of the chunks that the result is computed and stored
// in. Without them they follow from the inputs' own.
func Chunks(lengths ...int) Option {
	return func(s *settings) error {
		s.chunks = slices.Clone(lengths)
		return nil
	}
}

// Shards are the lengths of the groups of chunks that are stored as one object,
// each a multiple of the chunks'. Only formats with chunks have them. Without them
// each chunk is stored by itself.
func Shards(lengths ...int) Option {
	return func(s *settings) error {
		s.shards = slices.Clone(lengths)
		return nil
	}
}

// Codec is how chunks are compressed: "none", "zstd", "zstd:3", "gzip:5",
// "blosc:lz4:5:shuffle". Without it the format's own default holds.
func Codec(text string) Option {
	return func(s *settings) error {
		s.codec = text
		return nil
	}
}

// DimNames are the names of the output's dimensions, one for each; "" leaves one without
// a name. Without them the names are those of the inputs, as far as these agree. Of the
// formats only Zarr keeps names.
func DimNames(names ...string) Option {
	return func(s *settings) error {
		for i, name := range names {
			if name != "" && slices.Contains(names[:i], name) {
				return fmt.Errorf("dimension names: %q names two dimensions", name)
			}
		}
		s.dims = append([]string{}, names...)
		return nil
	}
}

// Attributes are kept with the output: values that JSON has, by their names. A copy of
// a stored array has those of the array besides. Zarr keeps them, and safetensors as
// texts.
func Attributes(values map[string]any) Option {
	return func(s *settings) error {
		for name, v := range values {
			if _, err := json.Marshal(v); err != nil {
				return fmt.Errorf("attribute %q: %w", name, err)
			}
		}
		s.attributes = maps.Clone(values)
		return nil
	}
}

// FillValue marks missing values in the output: chunks that are not stored have it, and
// xarray reads elements that have it as NaN. It is a number or bool that the output's
// type holds, or a text of it such as "NaN" or "-Infinity". A copy of a stored array has
// that of the array. Of the formats only Zarr keeps it.
func FillValue(v any) Option {
	return func(s *settings) error {
		if _, err := fillText(v); err != nil {
			return err
		}
		s.fill = v
		return nil
	}
}

// Region writes into a part of an array that is there already, and leaves the rest
// as it is: "1000:2000", or ":, 0:256", as between NumPy's brackets with steps of
// one. What is saved has the region's shape, or broadcasts to it, and the array's
// dtype.
func Region(spec string) Option {
	return func(s *settings) error {
		s.region = spec
		return nil
	}
}

// On is the device that computes, such as a GPU. Without it the CPU does.
func On(d exec.Device) Option {
	return func(s *settings) error {
		if d == nil {
			return errors.New("there is no device: it is nil")
		}
		if broken, ok := d.(interface{ Err() error }); ok && broken.Err() != nil {
			return broken.Err()
		}
		s.device = d
		return nil
	}
}

// Workers is the number of tasks that compute at once. Without it, one a core.
func Workers(n int) Option {
	return func(s *settings) error {
		if n < 1 {
			return fmt.Errorf("%d workers cannot compute: give one or more", n)
		}
		s.workers = n
		return nil
	}
}

// Processes is the number of worker processes of this machine that run the tasks. The
// budget is of all of them together and of this process, and so are the workers. The
// result has the same bytes; a worker that is killed is replaced, and only its unfinished
// tasks are done again; a run that was cut off goes on in one process or in several. They
// run the gonbext command: this program, where it is that command, else the one that PATH
// finds. Go functions, which exist in one process only, are an error, and so is a device.
func Processes(n int) Option {
	return func(s *settings) error {
		if n < 1 {
			return fmt.Errorf("%d processes cannot compute: give one or more", n)
		}
		s.processes = n
		return nil
	}
}

// Fresh computes anew where the same result is there already.
func Fresh() Option {
	return func(s *settings) error {
		s.fresh = true
		return nil
	}
}

// Version stands for the Go functions that were given to MapChunks: change it when
// they change. Without it a run with such a function always computes anew, since
// nothing else tells whether its results are those that are there already.
func Version(v string) Option {
	return func(s *settings) error {
		s.version = v
		return nil
	}
}

// PlanOnly makes Save plan and record the plan, and compute nothing. It returns
// the array that the file would hold. Collect, which has no values to return,
// returns ErrPlanned. The record names the alternatives beside the plan.
func PlanOnly(alternatives ...record.WhatIf) Option {
	return func(s *settings) error {
		s.planned, s.alternatives = true, alternatives
		return nil
	}
}

// Nominal makes a plan only, as PlanOnly does, and the same one on every machine: for a
// program that holds nothing else, within a budget that this machine need not have. It is
// for plans that are compared. Budget and workers are to be given, since their defaults
// are the machine's; and what a matrix product packs into follows its processor.
func Nominal() Option {
	return func(s *settings) error {
		s.planned, s.nominal = true, true
		return nil
	}
}

// ErrPlanned is returned by Collect under PlanOnly, and by a run over an array
// that was only planned.
var ErrPlanned = errors.New("nothing was computed: this is a plan only")

// Target tells EvalContext where the expression will be saved, "" where it will be
// collected. A run that it makes at once is then refused where the budget is too small for
// that, too.
func Target(path string) Option {
	return func(s *settings) error {
		s.target = &path
		return nil
	}
}

// Cell names the notebook cell that runs begin in, for their records.
func Cell(id string) Option {
	return func(s *settings) error {
		s.cell = id
		return nil
	}
}

// defaults stand before every run's own options. They exist for notebooks: a
// magic over a cell sets budget and device for whatever the cell's body calls,
// and has no other way in.
var defaults struct {
	sync.Mutex
	opts []Option
}

// SetDefaults gives options to all later runs of the process, before those of
// their own, in place of earlier defaults. Programs pass options instead.
func SetDefaults(opts ...Option) {
	defaults.Lock()
	defer defaults.Unlock()
	defaults.opts = slices.Clone(opts)
}

func applyOptions(opts []Option) (*settings, error) {
	defaults.Lock()
	all := slices.Concat(defaults.opts, opts)
	defaults.Unlock()
	return only(all)
}

// only are the settings of options, without the process's defaults.
func only(opts []Option) (*settings, error) {
	s := &settings{}
	for _, o := range opts {
		if o == nil {
			return nil, &OptionError{errors.New("there is none: it is nil")}
		}
		if err := o(s); err != nil {
			return nil, &OptionError{err}
		}
	}
	return s, nil
}

// OptionError is an option that is malformed, found before anything runs.
type OptionError struct{ Err error }

func (e *OptionError) Error() string { return "option: " + e.Err.Error() }

func (e *OptionError) Unwrap() error { return e.Err }
