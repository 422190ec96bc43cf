package oocore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSaveRejectsOutputsThatReplaceInputs(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := map[string][]float32{"d/a.npy": {1, 2}, "d/b.npy": {3, 4}, "g.zarr/a": {1, 2}, "g.zarr/b": {3, 4},
		"s.zarr/sub/a": {1, 2}, "s.zarr/sub/b": {3, 4}, "x.npz#a": {1, 2}, "x.npz#b": {3, 4}}
	os.Mkdir(at("d"), 0o777)
	for name, v := range write {
		if _, err := FromSlice(v, len(v)).Save(t.Context(), at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(at("d/a.npy"), at("hard.npy")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("g.zarr"), at("link.zarr")); err != nil {
		t.Fatal(err)
	}
	all := func(from, to string, member func(c *Collection, name string) *Array) func() error {
		c := OpenAll(at(from))
		return func() error {
			_, err := c.Map(func(name string, _ *Array) *Array { return member(c, name) }).Save(t.Context(), at(to))
			return err
		}
	}
	same := (*Collection).Get
	swapped := func(c *Collection, name string) *Array {
		return c.Get(map[string]string{"a": "b", "b": "a", "sub/a": "sub/b", "sub/b": "sub/a"}[name])
	}
	one := func(from, to string) func() error {
		return func() error {
			_, err := Open(at(from)).Mul(2).Save(t.Context(), at(to))
			return err
		}
	}
	each := func(outputs ...Output) func() error {
		return func() error {
			_, err := SaveAll(t.Context(), outputs)
			return err
		}
	}
	for _, of := range []struct {
		name string
		save func() error
	}{
		{"a group that the inputs lie in", all("s.zarr/sub", "s.zarr", same)},
		{"a group, others of its arrays", all("g.zarr", "g.zarr", swapped)},
		{"a group through a link", all("g.zarr", "link.zarr", swapped)},
		{"a group of which the inputs are a part", all("s.zarr", "s.zarr", swapped)},
		{"a folder, others of its arrays", all("d", "d", swapped)},
		{"a file, others of its arrays", all("x.npz", "x.npz", swapped)},
		{"an array", one("d/a.npy", "d/a.npy")},
		{"another name of its file", one("d/a.npy", "hard.npy")},
		{"its file as raw bytes", one("d/a.npy", "d/a.npy?shape=2&dtype=float32")},
		{"several, others of them", each(Output{Array: Open(at("d/a.npy")), Path: at("d/b.npy")}, Output{Array: Open(at("d/b.npy")), Path: at("d/a.npy")})},
	} {
		if err := of.save(); err == nil || !strings.Contains(err.Error(), "is also an input") {
			t.Errorf("%s: %v", of.name, err)
		}
	}
	for name, want := range write {
		if v, err := Collect[float32](t.Context(), Open(at(name))); err != nil || !slices.Equal(v, want) {
			t.Errorf("%s is %v, %v", name, v, err)
		}
	}
	double := func(c *Collection, name string) *Array { return c.Get(name).Mul(2) }
	for _, save := range []func() error{
		one("d/a.npy", "d/c.npy"),
		one("g.zarr/a", "g.zarr/c"),
		all("g.zarr", "d", double), // whose a.npy and b.npy it replaces
		all("d", "g.zarr", double),
		each(Output{Array: Open(at("s.zarr/sub/a")), Path: at("s.zarr/sub/c")}, Output{Array: Open(at("s.zarr/sub/b")), Path: at("s.zarr/sub/d")}),
	} {
		if err := save(); err != nil {
			t.Error(err)
		}
	}
}
