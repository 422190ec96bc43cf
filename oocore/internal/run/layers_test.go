package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/record"
)

// newJob is that of saving four numbers to a path.
func newJob(t *testing.T, path string) *Job {
	t.Helper()
	n, err := graph.FromBytes(graph.Site{}, dtype.Bytes([]float64{1, 2, 3, 4}), dtype.Float64, 4)
	if err != nil {
		t.Fatal(err)
	}
	none := func([]compile.Output) ([]string, error) { return nil, nil }
	j, err := (&Options{Budget: 256 << 20}).Prepare(graph.Site{}, "save", none, compile.Output{Root: n, Target: compile.Target{Path: path}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

var errInner = errors.New("the inner runner failed")

// fails is a runner that puts outputs in their places, where told so, and then fails.
func fails(commits bool, r Result) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		if commits {
			j.env.Committed(ctx, j.Plan.Output, false)
		}
		return r, errInner
	}
}

func TestLayersThatMakeNothingRunNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	for name, layer := range map[string]Layer{"planned": planned(nil), "dry": dry} {
		r, err := layer(fails(false, Result{}))(t.Context(), newJob(t, path))
		if err != nil || len(r.Foreseen) != 1 || r.Foreseen[0].Path != path || !slices.Equal(r.Foreseen[0].Shape, []int{4}) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if said := r.End != nil; said != (name == "planned") {
			t.Errorf("%s: a record is kept: %t", name, said)
		}
	}
}

func TestExclusiveChecksBeforeTheRunAndBeforeTheCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	j := newJob(t, path)
	_, err := exclusive(func(ctx context.Context, j *Job) (Result, error) {
		if err := j.env.Check(ctx); err != nil {
			t.Errorf("of an output that does not exist: %v", err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return Result{}, j.env.Check(ctx)
	})(t.Context(), j)
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("what another put there meanwhile: %v", err)
	}
	if _, err := exclusive(fails(false, Result{}))(t.Context(), newJob(t, path)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("what is there: %v", err)
	}
}

func TestChecksRunFromTheInnermostOutwards(t *testing.T) {
	var order []string
	j := &Job{}
	for _, name := range []string{"outer", "inner"} {
		j.onCheck(func(context.Context) error { order = append(order, name); return nil })
		j.onCommitted(func(context.Context, int, bool) { order = append(order, name) })
	}
	if err := j.env.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	j.env.Committed(t.Context(), 0, false)
	if want := []string{"inner", "outer", "outer", "inner"}; !slices.Equal(order, want) {
		t.Errorf("called %q, want %q", order, want)
	}
}

// A run that could not begin leaves no staging folder, and one that could has closed it itself.
func TestResumableLeavesNothingOfARunThatDidNotBegin(t *testing.T) {
	dir := t.TempDir()
	j := newJob(t, filepath.Join(dir, "x.npy"))
	if _, err := versioned("", nil)(resumable(false)(fails(false, Result{})))(t.Context(), j); !errors.Is(err, errInner) {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestAppendedSaysThatTheArrayHasGrown(t *testing.T) {
	for _, commits := range []bool{false, true} {
		_, err := appended(fails(commits, Result{}))(t.Context(), newJob(t, filepath.Join(t.TempDir(), "x.npy")))
		if !errors.Is(err, errInner) || strings.Contains(err.Error(), "has grown") != commits {
			t.Errorf("where it is in its place, %t: %v", commits, err)
		}
	}
}

// told is a report that notes what it is told.
type told struct {
	outputs  []string
	status   record.Status
	rejected string
}

func (t *told) Reset()                              { *t = told{} }
func (t *told) Rejected(title string)               { t.rejected = title }
func (t *told) Group(record.Status, string, string) {}
func (t *told) Add(_ *record.Header, e *record.End, outputs []string) {
	t.outputs, t.status = outputs, e.Status
}

func TestReportHasTheOutputsThatAreWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	for _, c := range []struct {
		end     *record.End
		commits bool
		want    told
	}{
		{&record.End{Status: record.Failed}, false, told{status: record.Failed}},
		{&record.End{Status: record.Failed}, true, told{status: record.Failed, outputs: []string{path}}},
		{&record.End{Status: record.Done}, false, told{status: record.Done, outputs: []string{path}}},
		{nil, false, told{rejected: "array"}},
	} {
		report := &told{}
		o := &Options{Report: report}
		if _, err := o.reported(fails(c.commits, Result{End: c.end}))(t.Context(), newJob(t, path)); !errors.Is(err, errInner) {
			t.Error(err)
		}
		if report.rejected != "" {
			report.rejected = "array"
		}
		if report.status != c.want.status || report.rejected != c.want.rejected || !slices.Equal(report.outputs, c.want.outputs) {
			t.Errorf("of %+v the report is told %+v", c, report)
		}
	}
}
