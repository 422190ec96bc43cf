package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"syscall"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Report is what a process has done of a range of tasks. Everything that Done names is in
// files and durable.
type Report struct {
	Busy   bool          `json:"busy,omitempty"` // the report is still to come
	Done   Tasks         `json:"done,omitempty"`
	Rows   record.Rows   `json:"rows,omitempty"` // of the record; times count from the request
	Memory record.Sample `json:"memory"`
	Peak   record.Bytes  `json:"peak"` // of the process's buffers, when the most was reserved
	Error  *remoteError  `json:"error,omitempty"`
	// Retries is how often these tasks were begun before, by processes that ended.
	Retries int `json:"retries,omitempty"`
}

// Failure is the report of a process that has done nothing, for a reason.
func Failure(err error) Report { return Report{Error: remote(err)} }

// Err returns the error that is reported, if there is one.
func (r Report) Err() error {
	if r.Error == nil {
		return nil
	}
	return r.Error.err
}

// remoteError is an error on its way from one process to another. errors.As and errors.Is find
// there what they would here, of the types and values below.
type remoteError struct{ err error }

// remoteTypes are structs, whose fields of type error are what they wrap, and numbers, by the names under which
// they are sent.
var remoteTypes = map[string]error{"*exec.TaskError": &slots.TaskError{}, "*exec.PanicError": &slots.PanicError{}, "*types.MemoryError": &types.MemoryError{}, "*arena.FullError": &arena.FullError{},
	"*store.LockedError": &store.LockedError{}, "*fs.PathError": &fs.PathError{}, "syscall.Errno": syscall.Errno(0)}

var remoteValues = []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, fs.ErrNotExist, fs.ErrExist,
	fs.ErrPermission, fs.ErrClosed, store.ErrCutShort, store.ErrChanged, storage.ErrNotStaged, slots.ErrGoexit, ErrCoordinatorGone}

// encodedError is an error of a type or value that both sides know, or else its text.
type encodedError struct {
	Text   string          `json:"text,omitempty"`
	Type   string          `json:"type,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Causes []*remoteError  `json:"causes,omitempty"`
}

// MarshalJSON encodes the error with its causes.
func (r *remoteError) MarshalJSON() ([]byte, error) {
	e := encodedError{Text: r.err.Error()}
	switch wrapped := r.err.(type) {
	case interface{ Unwrap() error }:
		if cause := wrapped.Unwrap(); cause != nil {
			e.Causes = []*remoteError{{cause}}
		}
	case interface{ Unwrap() []error }:
		for _, cause := range wrapped.Unwrap() {
			e.Causes = append(e.Causes, &remoteError{cause})
		}
	}
	for name, t := range remoteTypes {
		if reflect.TypeOf(t) != reflect.TypeOf(r.err) {
			continue
		}
		v := reflect.New(reflect.Indirect(reflect.ValueOf(r.err)).Type()).Elem()
		v.Set(reflect.Indirect(reflect.ValueOf(r.err)))
		for f := range interfaces(v) {
			if _, cause := f.Interface().(error); cause {
				f.SetZero()
			} else {
				f.Set(reflect.ValueOf(fmt.Sprint(f.Interface())))
			}
		}
		value, err := json.Marshal(v.Interface())
		if err != nil {
			return nil, err
		}
		e.Text, e.Type, e.Value = "", name, value
	}
	return json.Marshal(e)
}

// UnmarshalJSON makes the error again. One of a type that only the other side knows has its
// text and its causes.
func (r *remoteError) UnmarshalJSON(b []byte) error {
	var e encodedError
	if err := json.Unmarshal(b, &e); err != nil {
		return err
	}
	foreign := &foreignError{text: e.Text}
	for _, cause := range e.Causes {
		foreign.causes = append(foreign.causes, cause.err)
	}
	r.err = foreign
	for _, value := range remoteValues {
		if len(e.Causes) == 0 && value.Error() == e.Text {
			r.err = value
		}
	}
	if t, ok := remoteTypes[e.Type]; ok {
		p := reflect.New(reflect.Indirect(reflect.ValueOf(t)).Type())
		if err := json.Unmarshal(e.Value, p.Interface()); err != nil {
			return err
		}
		for f := range interfaces(p.Elem()) {
			if f.IsNil() && len(foreign.causes) > 0 {
				f.Set(reflect.ValueOf(foreign.causes[0]))
			}
		}
		if reflect.TypeOf(t).Kind() != reflect.Pointer {
			p = p.Elem()
		}
		r.err = p.Interface().(error)
	}
	return nil
}

// interfaces iterates over the fields of a struct that are interfaces; a number has none.
func interfaces(v reflect.Value) func(func(reflect.Value) bool) {
	return func(yield func(reflect.Value) bool) {
		for i := 0; v.Kind() == reflect.Struct && i < v.NumField(); i++ {
			if f := v.Field(i); f.Kind() == reflect.Interface && !yield(f) {
				return
			}
		}
	}
}

// foreignError is an error of a type that this process does not know.
type foreignError struct {
	text   string
	causes []error
}

func (e *foreignError) Error() string { return e.text }

// Unwrap returns what the error wraps.
func (e *foreignError) Unwrap() []error { return e.causes }

// remote returns the error to be sent; nil for none.
func remote(err error) *remoteError {
	if err == nil {
		return nil
	}
	return &remoteError{err}
}

// ErrCoordinatorGone ends a worker's tasks when its coordinator has ended.
var ErrCoordinatorGone = errors.New("the run was ended")
