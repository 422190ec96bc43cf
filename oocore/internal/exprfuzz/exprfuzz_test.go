package exprfuzz

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/decomp" // for expressions
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/testcases"
)

const (
	budget = "192MiB"
	// patience is how long an expression may take before its context ends it: sums over
	// huge ranges are as slow as they have to be.
	patience = 2 * time.Second
	// late is how long after that it may continue.
	late = 20 * time.Second
)

// generator makes expressions up.
type generator struct {
	*rand.Rand
	functions []*op.Operation
	names     []string
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

var (
	numbers = []string{"0", "1", "2", "3", "-1", "5", "0.5", "-2.5", "1e300", "1e-320", "nan", "inf", "-inf", "true", "2i", "127", "-128", "255",
		"2147483648", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "1e400", "72057594037927937"}
	small   = []string{"0", "1", "2", "-1", "-2", "3", "4", "7", "-7", "0", "1"}
	lengths = []string{"0", "1", "2", "3", "4", "5", "6", "12", "-1", "60", "1000000", "1099511627776"}
	texts   = []string{`"float32"`, `"int8"`, `"bfloat16"`, `"complex64"`, `"0:2, ::-1"`, `"..., 0"`, `"-1"`, `""`, `"::0"`, `"keepdims"`, `"reflect"`, `"ij,jk->ik"`, `"i->"`, `"é"`, `"%s%n"`}
	infix   = []string{"+", "-", "*", "/", "%", "<", "<=", "==", "!=", "&&", "||", "&", "|", "^", "<<", ">>"}
)

// array is an expression that is probably an array.
func (g *generator) array(depth int) string {
	switch n := g.IntN(10); {
	case depth <= 0 || n < 3:
		return pick(g, g.names)
	case n < 5:
		return "(" + g.array(depth-1) + " " + pick(g, infix) + " " + g.operand(depth-1) + ")"
	case n < 6:
		return pick(g, []string{"-", "!", "^", "+"}) + g.array(depth-1)
	default:
		return g.function(depth)
	}
}

func (g *generator) operand(depth int) string {
	if g.IntN(3) == 0 {
		return pick(g, numbers)
	}
	return g.array(depth)
}

// function calls one, with arguments such as its usage names, or others.
func (g *generator) function(depth int) string {
	f := pick(g, g.functions)
	_, parameters, _ := strings.Cut(f.Usage, "(")
	parameters = strings.TrimSuffix(parameters, ")")
	var args []string
	for _, p := range strings.Split(parameters, ", ") {
		p = strings.TrimSpace(p)
		optional := len(args) > 0 && g.IntN(3) == 0
		if optional || p == "" {
			break
		}
		times := 1
		if strings.HasSuffix(p, "...") {
			times = g.IntN(4)
		}
		for range times {
			args = append(args, g.argument(strings.TrimSuffix(p, "..."), depth))
		}
	}
	if g.IntN(25) == 0 {
		args = append(args, g.operand(0))
	}
	if len(args) > 0 && g.IntN(25) == 0 {
		args = args[:len(args)-1]
	}
	return f.Name + "(" + strings.Join(args, ", ") + ")"
}

func (g *generator) argument(p string, depth int) string {
	if g.IntN(20) == 0 { // something else
		return pick(g, []string{pick(g, numbers), pick(g, texts), g.array(depth - 1)})
	}
	switch {
	case strings.HasPrefix(p, `"`):
		text := strings.Split(p, `"`)
		if len(text) < 2 || g.IntN(6) == 0 {
			return pick(g, texts)
		}
		return strconv.Quote(text[1+2*g.IntN(len(text)/2)])
	case strings.Contains(p, "ax"), strings.Contains(p, "part"), p == "diagonal", p == "offset", p == "decimals", p == "shift", p == "times", p == "quarters":
		return pick(g, small)
	case p == "lengths", p == "count", p == "rows", p == "columns", p == "n", p == "k", p == "bins", p == "sections", p == "rank", p == "ranks", p == "iterations", p == "sizes", p == "factors", p == "seed":
		return pick(g, lengths)
	case p == "value", p == "start", p == "stop", p == "step", p == "low", p == "high", p == "q", p == "rcond", p == "epsilon", p == "ord", p == "constant", p == "d", p == "spacing", p == "sigmas":
		return pick(g, numbers)
	}
	return g.array(depth - 1)
}

// arrays are of every type, of shapes that tend to be forgotten, with special values.
func arrays(t *testing.T, dir string) (oocore.Names, []string) {
	t.Helper()
	names, list := oocore.Names{}, []string{}
	special := []float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 127, -128, 255, 3.5, 1e30, -0.25}
	shapes := [][]int{{}, {0}, {1}, {5}, {0, 3}, {4, 3}, {3, 3}, {1, 1, 3}, {2, 3, 2, 2}}
	for k, d := range dtype.All() {
		for i, shape := range shapes {
			size := 1
			for _, n := range shape {
				size *= n
			}
			v := make([]float64, size)
			for j := range v {
				if v[j] = float64((j*7+i)%11) - 3; (k+i)%3 == 0 && (d.Kind() == dtype.KindFloat || d.Kind() == dtype.KindComplex) {
					v[j] = special[(j+i)%len(special)]
				}
			}
			name := fmt.Sprintf("a%d_%d", k, i)
			a := oocore.FromSlice(v, shape...).AsType(d)
			if i%2 == 1 && d != dtype.BFloat16 { // some lie in files
				saved, err := a.Save(t.Context(), filepath.Join(dir, name+".npy"))
				if err != nil {
					t.Fatal(err)
				}
				a = saved
			}
			names[name] = a
			list = append(list, name)
		}
	}
	return names, list
}

// TestExpressionsGiveValuesOrErrors evaluates 300 expressions, 5,000 where all cases run,
// or as many as GONBEXT_EXPRESSIONS says.
func TestExpressionsGiveValuesOrErrors(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "runs"))
	count := 300
	if testcases.All() {
		count = 5_000
	}
	if n, err := strconv.Atoi(os.Getenv("GONBEXT_EXPRESSIONS")); err == nil {
		count = n
	}
	names, list := arrays(t, dir)
	g := &generator{Rand: testcases.Rand(t), functions: expr.Functions(), names: list}
	goroutines := runtime.NumGoroutine()
	var values, faults int
	for range count {
		e := g.array(1 + g.IntN(3))
		if evaluates(t, e, names) {
			values++
		} else {
			faults++
		}
	}
	t.Logf("%d expressions gave values, %d errors", values, faults)
	if values < count/10 || faults == 0 {
		t.Errorf("%d of %d expressions gave values: they test too little", values, count)
	}
	for wait := time.Millisecond; runtime.NumGoroutine() > goroutines; wait *= 2 {
		if wait > 30*time.Second {
			t.Fatalf("%d goroutines are left, of %d before:\n%s", runtime.NumGoroutine(), goroutines, stacks())
		}
		time.Sleep(wait)
	}
}

// TestExpressionsThatOnceFailed evaluates what the generator has found.
func TestExpressionsThatOnceFailed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "runs"))
	names, _ := arrays(t, dir)
	for _, e := range []string{
		"take(a12_1, a13_1, -1)",               // indices that are no integers
		"nanmax(arange(5, 72057594037927937))", // more tasks than can be counted one by one
	} {
		evaluates(t, e, names)
	}
}

func stacks() []byte {
	b := make([]byte, 1<<20)
	return b[:runtime.Stack(b, true)]
}

// evaluates reports whether an expression gives values. It fails the test for a panic, an
// error that is none for people, and for one that does not end.
func evaluates(t *testing.T, e string, names oocore.Names) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("panic: %v\n%s", r, debug.Stack())
			}
		}()
		done <- collect(ctx, e, names)
	}()
	var err error
	select {
	case err = <-done:
	case <-time.After(patience + late):
		t.Fatalf("%s continues after its context has ended:\n%s", e, stacks())
	}
	if err == nil {
		return true
	}
	for _, word := range []string{"panic", "runtime error", "goroutine ", "nil pointer", "%!", "interface {}"} {
		if strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", e, err)
		}
	}
	if text := err.Error(); text == "" || strings.Contains(text, "\n") && !strings.Contains(e, "\n") || len(text) > 4000 {
		t.Errorf("%s: an error of %d bytes: %q", e, len(text), text)
	}
	return false
}

// collect computes an expression. One of many elements is only begun.
func collect(ctx context.Context, e string, names oocore.Names) error {
	opts := []oocore.Option{oocore.Memory(budget), oocore.Workers(2)}
	a := oocore.EvalContext(ctx, e, names, opts...)
	if a.Err() != nil {
		return a.Err()
	}
	if a.Size() > 1<<20 {
		a = a.Ravel().Slice("0:1000")
	}
	_, err := oocore.Collect[complex128](ctx, a.AsType(oocore.Complex128), opts...)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
