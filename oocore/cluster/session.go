package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// session is a process that takes requests as lines of JSON on its standard input, several a line, and answers each line with
// one. It is started by the first request, and ends with this process, or when it was asked for nothing for some time.
type session struct {
	of *batch

	mu    sync.Mutex // of the conversation
	p     *osexec.Cmd
	in    io.WriteCloser
	out   *json.Decoder
	words *bytes.Buffer // on its standard error
	idle  *time.Timer
}

// request is the words of a command, and its standard input.
type request struct {
	Words []string `json:"words"`
	In    string   `json:"in"`
}

// idleTime is how long a session stays that is asked for nothing.
const idleTime = time.Minute

var (
	sessionsMu sync.Mutex
	sessions   = map[string]*session{} // by their commands
)

// session returns that of the batch system.
func (b *batch) session() *session {
	sessionsMu.Lock()
	defer sessionsMu.Unlock()
	key := strings.Join(b.Session, "\x00")
	if sessions[key] == nil {
		sessions[key] = &session{of: b}
	}
	return sessions[key]
}

// ask returns what each of some requests prints.
func (s *session) ask(ctx context.Context, q ...request) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.p == nil {
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	s.idle.Stop()
	p := s.p.Process
	stop := context.AfterFunc(ctx, func() { _ = p.Kill() })
	var a struct {
		Out         []string
		Error, Lost string // of a request, and of all
	}
	err := json.NewEncoder(s.in).Encode(append([]request{}, q...))
	if failed := s.out.Decode(&a); err == nil || failed == nil { // what it says when it ends tells more than that it cannot be written to
		err = failed
	}
	stop()
	switch {
	case ctx.Err() != nil:
		_ = s.end()
		return nil, context.Cause(ctx)
	case err != nil:
		if how := s.end(); how != nil {
			err = how
		}
		said := strings.Join(append([]string{err.Error()}, strings.Fields(s.words.String())...), " ")
		return nil, &unreachableError{fmt.Errorf("%s cannot be asked: %s: %s", s.of.Name, s.of.Session[0], said)}
	case a.Lost != "":
		_ = s.end()
		return nil, &unreachableError{fmt.Errorf("%s cannot be reached: %s", s.of.Name, a.Lost)}
	}
	s.idle.Reset(idleTime)
	if a.Error != "" {
		return nil, fmt.Errorf("%s rejects the request: %s", s.of.Name, a.Error)
	}
	if len(a.Out) != len(q) {
		return nil, fmt.Errorf("%s answers %d of %d requests: this version of it is not known", s.of.Name, len(a.Out), len(q))
	}
	return a.Out, nil
}

// begin starts the process in the background, so that the first request finds it running. That request starts it again where this fails.
func (s *session) begin() {
	s.mu.Lock()
	go func() {
		defer s.mu.Unlock()
		if s.p == nil {
			_ = s.start()
		}
	}()
}

// start starts the process.
func (s *session) start() (err error) {
	c := osexec.Command(s.of.Session[0], s.of.Session[1:]...)
	if c.Path, err = filepath.Abs(c.Path); err != nil {
		return err
	}
	c.Dir = filepath.VolumeName(c.Path) + string(filepath.Separator) // not the present folder, whose modules Python would import
	s.words = &bytes.Buffer{}
	c.Stderr, c.WaitDelay = s.words, time.Second
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		if errors.Is(err, osexec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			err = errors.New("there is no such program")
		}
		return &unreachableError{fmt.Errorf("%s cannot be asked: %s: %w: name a Python that has the package distributed in GONBEXT_PYTHON", s.of.Name, s.of.Session[0], err)}
	}
	s.p, s.in, s.out = c, in, json.NewDecoder(out)
	s.idle = time.AfterFunc(idleTime, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.p == c {
			_ = s.end()
		}
	})
	return nil
}

// end ends the process, and returns how it ended.
func (s *session) end() error {
	s.idle.Stop()
	_ = s.in.Close()
	timer := time.AfterFunc(endTime, func(p *osexec.Cmd) func() { return func() { _ = p.Process.Kill() } }(s.p))
	err := s.p.Wait()
	timer.Stop()
	s.p = nil
	return err
}

// endTime is how long a session may take to end by itself.
const endTime = 5 * time.Second
