package carry

import (
	"os"
	"reflect"
	"time"
	"unsafe"
)

// form is how a type whose memory has no meaning in another process travels: as a value of another type.
type form struct {
	wire reflect.Type
	out  func(at unsafe.Pointer) (unsafe.Pointer, error) // of a value at an address
	in   func(wire, at unsafe.Pointer) error
}

var forms = map[reflect.Type]*form{}

// Register says how values of a type travel: as out makes them and in reads them back.
func Register[T, W any](out func(*T) (*W, error), in func(*W, *T) error) {
	forms[reflect.TypeFor[T]()] = &form{
		wire: reflect.TypeFor[W](),
		out: func(at unsafe.Pointer) (unsafe.Pointer, error) {
			w, err := out((*T)(at))
			return unsafe.Pointer(w), err
		},
		in: func(wire, at unsafe.Pointer) error { return in((*W)(wire), (*T)(at)) },
	}
}

// moment is a time.Time without its reading of this process's clock.
type moment struct {
	Seconds, Nanoseconds int64
	In                   *time.Location
}

func init() {
	Register(func(t *time.Time) (*moment, error) {
		m := &moment{Seconds: t.Unix(), Nanoseconds: int64(t.Nanosecond())}
		if t.Location() != time.UTC {
			m.In = t.Location()
		}
		return m, nil
	}, func(m *moment, t *time.Time) error {
		*t = time.Unix(m.Seconds, m.Nanoseconds).UTC()
		if m.In != nil {
			*t = t.In(m.In)
		}
		return nil
	})
}

// fixed are places of which each process has one.
var fixed = []unsafe.Pointer{unsafe.Pointer(time.Local), unsafe.Pointer(time.UTC), unsafe.Pointer(os.Stdin), unsafe.Pointer(os.Stdout), unsafe.Pointer(os.Stderr)}
