package remote

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
)

// Serve runs what a coordinator asks for on in, and reports on out, until in ends. It is
// what a worker process does, which begins with the plan in a file. An error that was
// reported is not returned again.
func Serve(ctx context.Context, file string, budget int64, workers int, in io.Reader, out io.Writer) (err error) {
	s := &server{lines: newLines(in, out)}
	defer func() { err = errors.Join(err, s.leave()) }()
	if err := s.do(ctx, request{Open: &assignment{file, budget, workers}}); err != nil || s.worker == nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	requests := make(chan request, 1)
	go func() { // ends with in: the process's, which ends soon after
		defer close(requests)
		for {
			var q request
			if err := s.lines.Decode(&q); err != nil {
				cancel(exec.ErrCoordinatorGone)
				return
			}
			select {
			case requests <- q:
			case <-ctx.Done():
				return
			}
		}
	}()
	for q := range requests {
		if err := s.do(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// server is a worker process's side of the conversation.
type server struct {
	lines
	worker *exec.Worker // nil without a plan
}

// do does what is asked for, and reports. Meanwhile it gives signs of life. It returns what
// could not be reported.
func (s *server) do(ctx context.Context, q request) error {
	done, signs := make(chan struct{}), sync.WaitGroup{}
	signs.Go(func() {
		tick := time.NewTicker(sign)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_ = s.Encode(exec.Report{Busy: true}) // the report fails too, then
			}
		}
	})
	tasks, err := s.work(ctx, q)
	close(done)
	signs.Wait()
	a := exec.Failure(err)
	if s.worker != nil {
		a = s.worker.Report(tasks, err)
	}
	return s.Encode(a)
}

// work does what is asked for.
func (s *server) work(ctx context.Context, q request) (done exec.Tasks, err error) {
	switch {
	case q.Open != nil:
		if err := s.leave(); err != nil {
			return nil, err
		}
		s.worker, err = exec.NewWorker(q.Open.Plan, q.Open.Budget, q.Open.Workers)
		return nil, err
	case q.Leave:
		return nil, s.leave()
	case s.worker == nil:
		return nil, errors.New("the worker has no plan")
	}
	return s.worker.Run(ctx, q.Stage, q.Tasks)
}

// leave closes the plan that the worker serves.
func (s *server) leave() error {
	if s.worker == nil {
		return nil
	}
	w := s.worker
	s.worker = nil
	return w.Close()
}
