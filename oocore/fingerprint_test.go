package oocore_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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

// An address means the same in every folder.
func TestAddressesAreTheSameEverywhere(t *testing.T) {
	p, err := oocore.Random(oocore.Float32, 1, 40, 30).Plan("x.zarr")
	if err != nil {
		t.Fatal(err)
	}
	for path, same := range map[string]bool{"s3://bucket/x.zarr": true, "x.zarr": false} {
		p.Arrays[p.Output].Path = path
		t.Chdir(t.TempDir())
		before := p.Fingerprint("", nil)
		t.Chdir(t.TempDir())
		if got := p.Fingerprint("", nil) == before; got != same {
			t.Errorf("%s: the fingerprint is the same from another folder: %v, want %v", path, got, same)
		}
	}
}

// An input of which a chunk is edited while it is read gives no output: what was
// there stays.
func TestInputEditedWhileItIsRead(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	ctx := context.Background()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "x.zarr"), filepath.Join(dir, "o.npy")
	x, err := oocore.Random(oocore.Float64, 1, 40, 30).Save(ctx, in, oocore.Chunks(10, 30), oocore.Codec("none"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oocore.Full(1.0, 4).Save(ctx, out); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	chunk := filepath.Join(in, "c", "3", "0")
	edits := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
		b, err := os.ReadFile(chunk)
		if err != nil {
			return err
		}
		b = append([]byte{}, b...)
		b[0]++
		if err := os.WriteFile(chunk+".new", b, 0o644); err != nil {
			return err
		}
		return os.Rename(chunk+".new", chunk)
	}, x, oocore.MapOptions{})
	_, err = edits.Save(ctx, out, oocore.Version("1"))
	if err == nil || !strings.Contains(err.Error(), "changed while it was read") || strings.Contains(err.Error(), "kept") {
		t.Errorf("the save gives %v", err)
	}
	after, err := os.ReadFile(out)
	if err != nil || string(after) != string(before) {
		t.Errorf("what was there is not there any more: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left are %v, %v", left, err)
	}
}
