package oracle

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/expr"
)

// extremes are numbers that no parameter expects.
var extremes = []string{"nan", "inf", "-inf", "-1", "0", "1", "2", "0.5", "1e300", "2147483648", "1099511627776", "4611686018427387904", "-9223372036854775807-1", "1i", "true"}

// slot is one argument of a function, by its usage.
type slot struct {
	text   bool
	number bool
	base   string
}

var quoted = regexp.MustCompile(`"[^"]*"`)

// arrays are the arguments that are arrays, by their names in usages.
var arrays = strings.Fields("x a b y q scale zero sample condition list values indices bools edges bias weight weights where w labels exponents")

// slots are the arguments of a usage: "mean(x, axes..., "keepdims")".
func slots(usage string) (all []slot) {
	inside := usage[strings.Index(usage, "(")+1 : len(usage)-1]
	texts := quoted.FindAllString(inside, -1)
	inside = quoted.ReplaceAllString(inside, "\x00")
	for _, part := range strings.Split(inside, ", ") {
		name := strings.TrimSuffix(part, "...")
		switch {
		case strings.HasPrefix(part, "\x00"):
			n := strings.Count(part, "\x00")
			all = append(all, slot{text: true, base: texts[0]})
			texts = texts[n:]
		case slices.Contains(arrays, name):
			all = append(all, slot{base: "x"})
		case name != "":
			all = append(all, slot{number: true, base: "1"})
		}
	}
	return all
}

// parameterCases are calls of every function with extreme numbers in each of its places,
// for arrays of no dimensions, of no elements and of one among others.
func parameterCases() (all []string) {
	for _, f := range expr.Functions() {
		if f.Alias != "" || f.Name == "cp" || f.Name == "tucker" || f.Name == "hosvd" {
			continue
		}
		s := slots(f.Usage)
		call := func(n, at int, value, array string) {
			args := make([]string, 0, n)
			for i, a := range s[:n] {
				switch {
				case i == at:
					args = append(args, value)
				case a.base == "x":
					args = append(args, array)
				default:
					args = append(args, a.base)
				}
			}
			all = append(all, f.Name+"("+strings.Join(args, ", ")+")")
		}
		for n := 1; n <= len(s); n++ {
			for _, array := range []string{"zero", "none", "one", "v", "m", "flags", "h", "z", "u", "e"} {
				call(n, -1, "", array)
			}
			for at := range n {
				if s[at].text {
					continue
				}
				for _, v := range extremes {
					for _, array := range []string{"zero", "v", "m", "none"} {
						call(n, at, v, array)
					}
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parameterNames are the arrays that the cases name.
func parameterNames() oocore.Names {
	return oocore.Names{
		"zero":  oocore.Eval("full(2.5)", nil),
		"none":  oocore.FromSlice([]float64{}),
		"one":   oocore.FromSlice([]int64{3}),
		"v":     oocore.FromSlice([]float64{3, 1, 2}),
		"m":     oocore.FromSlice([]float64{4, 1, 0, 1, 3, 1, 0, 1, 2}, 3, 3),
		"flags": oocore.FromSlice([]bool{true, false, true}),
		"h":     oocore.FromSlice([]float32{1, math.Float32frombits(0x7fc00000), -2}).AsType(oocore.Float16),
		"z":     oocore.FromSlice([]complex64{1 + 2i, 0, 3i}),
		"u":     oocore.FromSlice([]uint8{200, 100, 7}),
		"e":     oocore.FromSlice([]int32{}, 0, 3),
	}
}

// allocated is how many bytes the program has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// evaluate reads an expression; a panic is an error of its own.
func evaluate(expression string, names oocore.Names) (a *oocore.Array, panicked error) {
	defer func() {
		if v := recover(); v != nil {
			panicked = fmt.Errorf("panic: %v", v)
		}
	}()
	return oocore.Eval(expression, names), nil
}

// Every number in every place of every function is one error or an array, for few bytes.
func TestEveryParameterIsCheckedBeforeItIsUsed(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	names := parameterNames()
	const most = 32 << 20
	collected := 0
	for i, expression := range parameterCases() {
		before := allocated()
		a, panicked := evaluate(expression, names)
		if used := allocated() - before; used > most {
			t.Errorf("%s: reading it allocates %d bytes", expression, used)
		}
		if panicked != nil {
			t.Errorf("%s: %v", expression, panicked)
			continue
		}
		if err := a.Err(); err != nil {
			if text := err.Error(); strings.Contains(text, "runtime error") || strings.Contains(text, "panic") || strings.Contains(text, "\n") {
				t.Errorf("%s: %v", expression, err)
			}
			continue
		}
		size := 1.0
		for _, n := range a.Shape() {
			size *= float64(n)
		}
		if size > 1000 || os.Getenv("GONBEXT_TEST") != "full" && i%40 != 0 {
			continue
		}
		collected++
		before = allocated()
		_, err := oocore.Collect[complex128](t.Context(), a.AsType(oocore.Complex128), oocore.Memory("64MiB"), oocore.Workers(1))
		var small *oocore.MemoryError
		if err != nil && !errors.As(err, &small) && (strings.Contains(err.Error(), "runtime error") || strings.Contains(err.Error(), "panic")) {
			t.Errorf("%s: %v", expression, err)
		}
		if used := allocated() - before; used > 4*most {
			t.Errorf("%s: computing it allocates %d bytes", expression, used)
		}
	}
	if collected < 100 {
		t.Errorf("only %d were computed", collected)
	}
}
