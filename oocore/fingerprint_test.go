package oocore_test

import (
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// A run that starts over says what is not as it was.
func TestDifferenceNamesItsCause(t *testing.T) {
	x := oocore.Random(oocore.Float32, 1, 40, 30)
	path := filepath.Join(t.TempDir(), "x.zarr")
	one, other := []oocore.Option{oocore.Chunks(10, 30)}, []oocore.Option{oocore.Chunks(20, 30)}
	for _, c := range []struct {
		name string
		a    *oocore.Array
		path string
		opts []oocore.Option
		want string
	}{
		{"the same", x.Sqrt(), path, one, ""},
		{"another budget", x.Sqrt(), path, append(one, oocore.Memory("64MiB")), ""},
		{"another expression", x.Exp(), path, one, "the expression is another"},
		{"another layout", x.Sqrt(), path, other, "it is to be stored in another way"},
		{"another place", x.Sqrt(), path + "2.zarr", one, "it is to be stored in another way"},
	} {
		before, err := x.Sqrt().Plan(path, one...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.a.Plan(c.path, c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Fingerprint("", nil).Difference(before.Fingerprint("", nil)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
