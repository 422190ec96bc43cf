package run

import (
	"context"
	"log/slog"

	"github.com/gonbext/gonbext/oocore/record"
)

// reported tells the log and the report of the end of a run.
func (o *Options) reported(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		var outputs, written []string // paths
		for i := range j.Plan.Outputs() {
			if path := j.Plan.Arrays[i].Path; path != "" {
				outputs = append(outputs, path)
			}
		}
		j.onCommitted(func(_ context.Context, output int, _ bool) { written = append(written, j.Plan.Arrays[output].Path) })
		r, err := next(ctx, j)
		if r.End == nil {
			if err != nil {
				o.Rejected(j.Plan.Title)
			}
			return r, err
		}
		h, end := j.Plan.Header(), r.End
		if r.Header != nil {
			h = *r.Header
		}
		h.Run = r.Run
		slog.DebugContext(ctx, "gonbext: run ended", "title", h.Title, "output", h.Output, "status", string(end.Status), "duration", end.Duration,
			"peak", end.Peak, "predicted", h.Predicted.Host(), "computed", end.Computed, "skipped", end.Skipped, "read", end.Read, "written", end.Written)
		if o.Report != nil {
			defer o.Group.report(o.Report)()
			if end.Status == record.Failed || end.Status == record.Cancelled {
				outputs = written
			}
			o.Report.Add(&h, end, outputs)
		}
		return r, err
	}
}

// Rejected says in the report that a run did not begin.
func (o *Options) Rejected(title string) {
	if o.Report != nil && o.Dry == nil {
		defer o.Group.report(o.Report)()
		o.Report.Rejected(title)
	}
}

// Report is told how runs end. Those of a group come one after the other.
type Report interface {
	Reset()                                                  // a run, or a group, is the first
	Add(h *record.Header, end *record.End, outputs []string) // of a run that has ended
	Rejected(title string)                                   // of a run that did not begin
	Group(status record.Status, title, run string)           // of a group that has ended
}
