package decomp_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
)

// The first rejection of an algorithm of several runs comes before the first of them, and the
// budget that it names is the smallest that is enough for all.
func TestAlgorithmsNameABudgetForAllTheirRuns(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "other"))
	x, err := oocore.Random(oocore.Float64, 1, 120, 100, 64).Save(t.Context(), filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	evaluated := func(e string) func(opts ...oocore.Option) error {
		return func(opts ...oocore.Option) error {
			y := oocore.EvalContext(t.Context(), e, oocore.Names{"x": x}, opts...)
			if y.Err() != nil {
				return y.Err()
			}
			_, err := y.Save(t.Context(), filepath.Join(dir, "y.npy"), append(opts, oocore.Fresh())...)
			return err
		}
	}
	algorithms := map[string]func(opts ...oocore.Option) error{
		"quantize": func(opts ...oocore.Option) error {
			_, err := x.Quantize(oocore.QuantizeOptions{Affine: true}).Save(t.Context(), filepath.Join(dir, "q.zarr"), append(opts, oocore.Fresh())...)
			return err
		},
		"unique of Go": func(opts ...oocore.Option) error {
			y := x.Unique(t.Context(), opts...)
			if y.Err() != nil {
				return y.Err()
			}
			_, err := y.Save(t.Context(), filepath.Join(dir, "y.npy"), append(opts, oocore.Fresh())...)
			return err
		},
	}
	for _, e := range []string{`cp(x, 3, "iterations=2")`, `cp(x + 0, 3, "iterations=2", "svd")`, `tucker(x, 3, 4, 5, "iterations=2")`,
		`hosvd(x, 3, 4, 5)`, "mask(x, x > 0.5)", "flatnonzero(x > 0.9)", "unique(x)"} {
		algorithms[e] = evaluated(e)
	}
	for name, run := range algorithms {
		t.Run(name, func(t *testing.T) {
			log := t.TempDir()
			t.Setenv("GONBEXT_RUNS", log)
			rejected := func(size string, more ...oocore.Option) int64 {
				t.Helper()
				err := run(append(more, oocore.Memory(size), oocore.Workers(2))...)
				short, ok := errors.AsType[*oocore.MemoryError](err)
				if !ok {
					t.Fatalf("with %s: %v, want a *MemoryError", size, err)
				}
				if all, err := record.List(log); err != nil || len(all) > 0 {
					t.Fatalf("with %s: %d records of runs (%v), the first of %q", size, len(all), err, all[0].Header.Title)
				}
				return short.Need
			}
			need := rejected("1MiB")
			if planned := rejected("1MiB", host.PlanOnly()); planned != need {
				t.Errorf("needs %d bytes, and planned %d", need, planned)
			}
			if again := rejected(fmt.Sprint(need - 1<<20)); again != need {
				t.Errorf("needs %d bytes, and %d with a MiB less", need, again)
			}
			if err := run(oocore.Memory(fmt.Sprint(need)), oocore.Workers(2)); err != nil {
				t.Errorf("with the %d bytes that it needs: %v", need, err)
			}
		})
	}
}
