//go:build linux

package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/simd"
)

// cNames is what C calls the functions that libmvec, GNU's vectors of the C library,
// has, and where operands are drawn from.
var cNames = []struct {
	op        Op
	c         string
	low, high float64
}{
	{Exp, "exp", -10, 10}, {Exp2, "exp2", -10, 10}, {Expm1, "expm1", -5, 5},
	{Log, "log", 1e-3, 100}, {Log2, "log2", 1e-3, 100}, {Log10, "log10", 1e-3, 100}, {Log1p, "log1p", -0.9, 10},
	{Sin, "sin", -10, 10}, {Cos, "cos", -10, 10}, {Tan, "tan", -10, 10}, {Tanh, "tanh", -5, 5},
	{Power, "pow", 0.1, 10}, {Sinh, "sinh", -5, 5}, {Cosh, "cosh", -5, 5},
	{Arcsin, "asin", -1, 1}, {Arccos, "acos", -1, 1}, {Arctan, "atan", -10, 10}, {Arctan2, "atan2", -10, 10},
	{Arcsinh, "asinh", -10, 10}, {Arccosh, "acosh", 1, 10}, {Arctanh, "atanh", -0.99, 0.99},
	{Erf, "erf", -4, 4}, {Cbrt, "cbrt", -10, 10}, {Hypot, "hypot", -10, 10},
}

// cFlags are C's by the vectors that ours have.
var cFlags = map[string]string{
	"avx512": "-shared -fPIC -Ofast -march=native -mprefer-vector-width=512",
	"avx2":   "-shared -fPIC -Ofast -march=haswell",
}

// compiledLoops are C's loops, in a library that gcc makes.
func compiledLoops(b *testing.B) uintptr {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		b.Skip("no gcc")
	}
	if cFlags[simd.Level()] == "" {
		b.Skip("no vectors to compare")
	}
	var source strings.Builder
	source.WriteString("#define _GNU_SOURCE\n#include <math.h>\n")
	for _, f := range cNames {
		for _, t := range []struct{ name, suffix string }{{"double", ""}, {"float", "f"}} {
			call := "(a[i])"
			if f.op.Arity() == 2 {
				call = "(a[i], b[i])"
			}
			fmt.Fprintf(&source, "void loop_%s_%s(long n, %[2]s *restrict d, const %[2]s *restrict a, const %[2]s *restrict b) {\n"+
				"\tfor (long i = 0; i < n; i++) d[i] = %[1]s%[3]s%[4]s;\n}\n", f.c, t.name, t.suffix, call)
		}
	}
	dir := b.TempDir()
	path, library := filepath.Join(dir, "loops.c"), filepath.Join(dir, "loops.so")
	if err := os.WriteFile(path, []byte(source.String()), 0o666); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command(gcc, append(strings.Fields(cFlags[simd.Level()]), path, "-o", library, "-lmvec", "-lm")...).CombinedOutput(); err != nil {
		b.Skipf("%v: %s", err, out)
	}
	handle, err := purego.Dlopen(library, purego.RTLD_NOW)
	if err != nil {
		b.Skip(err)
	}
	return handle
}

// BenchmarkBesideC has each elementary function against the loop that gcc makes of
// the C library's, in turn on the same operands in cache: medians of many turns, and
// C's time over ours, by the vectors that GONBEXT_CPU names.
//
//	go test -run '^$' -bench BesideC -benchtime 1x ./oocore/internal/kernel
func BenchmarkBesideC(b *testing.B) {
	const n, turns, calls = 2048, 101, 8
	library := compiledLoops(b)
	for _, f := range cNames {
		for _, t := range []struct {
			t dtype.Type
			c string
		}{{dtype.Float32, "float"}, {dtype.Float64, "double"}} {
			name, x, y, dst := fmt.Sprint(f.op, "/", t.t), make([]byte, n*t.t.Size()), make([]byte, n*t.t.Size()), make([]byte, n*t.t.Size())
			for i := range n {
				at := float64(i*617%n) / (n - 1)
				dtype.FromFloat(t.t, f.low+(f.high-f.low)*at).Put(x[i*t.t.Size():])
				dtype.FromFloat(t.t, f.low+(f.high-f.low)*float64(i)/(n-1)).Put(y[i*t.t.Size():])
			}
			own, ok := Lookup(f.op, t.t)
			if !ok {
				b.Fatal("no ", name)
			}
			symbol, err := purego.Dlsym(library, "loop_"+f.c+"_"+t.c)
			if err != nil {
				b.Fatal(err)
			}
			var loop func(n int, d, a, b unsafe.Pointer)
			purego.RegisterFunc(&loop, symbol)
			b.Run(name, func(b *testing.B) {
				for range b.N {
					var ours, theirs []float64
					for range turns {
						start := time.Now()
						for range calls {
							own(n, dst, x, y, nil)
						}
						middle := time.Now()
						for range calls {
							loop(n, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]))
						}
						ours = append(ours, float64(middle.Sub(start).Nanoseconds())/n/calls)
						theirs = append(theirs, float64(time.Since(middle).Nanoseconds())/n/calls)
					}
					slices.Sort(ours)
					slices.Sort(theirs)
					b.ReportMetric(ours[turns/2], "ns/element")
					b.ReportMetric(theirs[turns/2], "C-ns/element")
					b.ReportMetric(theirs[turns/2]/ours[turns/2], "of-C")
				}
			})
		}
	}
}
