package oocore_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var errReadsTwice = errors.New("the plan reads an input twice, or in another order")

// streams has a run end with errReadsTwice unless its plan can read the streams among its inputs as they come.
func streams(planned *bool) oocore.Option {
	return host.Inspect(func(p *host.Plan) error {
		for i := range p.Arrays {
			if a := &p.Arrays[i]; a.Place == "file" && storage.InProcess(a.Path) && !p.Streams(i) {
				return errReadsTwice
			}
		}
		*planned = true
		return nil
	})
}

// Whatever the plan says can be read through a pipe is: with the same bytes, to a file and to a pipe, in small budgets.
func TestOperationsReadStreamsAsTheirPlansSay(t *testing.T) {
	dir := t.TempDir()
	files := map[string]bool{}
	save := func(name string, a *oocore.Array) {
		t.Helper()
		path := filepath.Join(dir, name+".npy")
		if _, err := a.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		files[name] = true
	}
	matrix := func(seed, rows, columns int) *oocore.Array {
		return oocore.Eval(fmt.Sprintf("astype(random(%d, %d, %d)*0.8 + 0.1, \"float32\")", seed, rows, columns), nil)
	}
	save("x", matrix(1, 1000, 700))
	save("y", matrix(2, 1000, 700))
	save("s", matrix(3, 300, 300))
	save("n", matrix(4, 30000, 20))
	save("i", oocore.Eval(`astype(random(5, 1000, 700)*9, "int32")`, nil))
	save("j", oocore.Eval(`astype(random(6, 1000, 700)*9 + 1, "int32")`, nil))
	save("z", matrix(7, 1000, 700).AsType(oocore.Complex64))
	save("t", matrix(8, 400, 2000).Reshape(400, 50, 40))
	save("c", matrix(9, 64, 6144).Reshape(4, 8, 96, 128))
	expressions := []string{"x*2 + 1", "mean(x, 0)", "mean(x, 1)", "std(x, 0)", "x + y", "x - mean(x, 0)", "softmax(x, 1)", "transpose(x)",
		`slice(x, "::-1")`, `slice(x, "10:20")`, "reshape(x, 700, 1000)", "reshape(mean(x), 1)", "sum(t, 1)", "max(c, 0, 2)", "sum(x*y, 0)", `astype(z, "complex128")`}
	var examples []string
	for _, o := range host.Operations() {
		for _, e := range strings.Split(o.Examples, ";") {
			if e = strings.TrimSpace(e); e != "" {
				examples = append(examples, e)
			}
		}
	}
	expressions = append(expressions, testcases.Sample(t, examples, 10, func(string) []string { return []string{"all"} })...)
	pool := oocore.NewPool("8GiB") // of whose runs the budgets are without what this process holds
	streamed := 0
	for _, e := range expressions {
		definitions, err := host.Definitions(e)
		if err != nil || definitions[0].Decomposes() {
			continue
		}
		for piped := range files {
			for _, path := range []string{"", "out.npy"} {
				names := oocore.Names{}
				for name := range files {
					names[name] = oocore.Open(filepath.Join(dir, name+".npy"))
				}
				if len(definitions[0].Unused([]string{piped})) > 0 {
					continue
				}
				file, err := os.Open(filepath.Join(dir, piped+".npy"))
				if err != nil {
					t.Fatal(err)
				}
				pipe, err := npy.NewStream("pipe", file, "")
				if err != nil {
					t.Fatal(err)
				}
				names[piped] = oocore.FromStore(pipe)
				ok := false
				opts := []oocore.Option{oocore.In(pool), oocore.Memory("32MiB"), oocore.Workers(2), oocore.Fresh(), streams(&ok)}
				run := func(names oocore.Names, path string, opts []oocore.Option) ([]byte, error) {
					got := sha256.New()
					a := host.Eval(t.Context(), definitions[0], names, opts...)
					if path == "" {
						err := a.WriteTo(t.Context(), got, "bin", opts...)
						return got.Sum(nil), err
					}
					out, err := a.Save(t.Context(), filepath.Join(dir, path), opts...)
					if err == nil {
						err = out.WriteTo(t.Context(), got, "bin")
					}
					return got.Sum(nil), err
				}
				got, err := run(names, path, opts)
				file.Close()
				if errors.Is(err, errReadsTwice) || errors.As(err, new(*oocore.MemoryError)) {
					continue
				}
				if err != nil {
					t.Errorf("%s of %s through a pipe to %q: %v", e, piped, path, err)
					continue
				}
				if !ok {
					continue
				}
				streamed++
				names[piped] = oocore.Open(filepath.Join(dir, piped+".npy"))
				if want, err := run(names, path, opts); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s of %s to %q is not that of the file: %v", e, piped, path, err)
				}
			}
		}
	}
	if streamed < 20 {
		t.Errorf("%d runs of %d expressions read a stream", streamed, len(expressions))
	}
	t.Logf("%d runs of %d expressions read a stream", streamed, len(expressions))
}
