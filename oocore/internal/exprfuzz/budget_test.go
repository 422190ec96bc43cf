package exprfuzz

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// selecting is an expression of functions whose shapes follow from values, and of some that take
// their results.
func (g *generator) selecting(depth int) string {
	if depth <= 0 {
		return pick(g, g.names)
	}
	a := func() string { return g.selecting(depth - 1 - g.IntN(2)) }
	form := pick(g, []string{"unique(%s)", "unique(%s)", "mask(%[1]s, %[1]s > 3)", "mask(%[1]s, %[1]s > mean(%s))", "isin(%s, %s)", "isin(%s, %s)",
		"argwhere(%s > 4)", "flatnonzero(%s)", "union1d(%s, %s)", "(unique(%s) + sum(%s))", "(unique(%s) == sum(%s))", "(isin(%[1]s, %s) && isin(%[1]s, %s))",
		"cumsum(ravel(%s))", "sort(ravel(%s), 0)", "unique_counts(%s)", "unique_inverse(%s)", "sqrt(abs(%s))", "compress(ravel(%s) > 1, ravel(few), 0)"})
	args := make([]any, 3)
	for i := range args {
		args[i] = a()
	}
	if strings.Contains(form, "[1]") {
		return fmt.Sprintf(form, args[:1+strings.Count(form, "%s")]...)
	}
	return fmt.Sprintf(form, args[:strings.Count(form, "%s")]...)
}

// The budget that the first rejection names is enough for all runs of an expression, also for
// those that are made while it is built.
func TestBudgetOfFirstRejectionIsEnough(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "runs"))
	names := oocore.Names{}
	put := func(name string, distinct uint32, d oocore.DType, shape ...int) {
		n := 1
		for _, length := range shape {
			n *= length
		}
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(uint32(i) * 2654435761 % distinct)
		}
		saved, err := oocore.FromSlice(v, shape...).AsType(d).Save(t.Context(), filepath.Join(dir, name+".npy"))
		if err != nil {
			t.Fatal(err)
		}
		names[name] = saved
	}
	put("few", 17, oocore.Float64, 100)
	put("list", 5, oocore.Float64, 7)
	put("wide", 1<<30, oocore.Float64, 300_000)
	put("small", 200, oocore.Int16, 100, 500)
	put("ints", 1000, oocore.Int64, 30_000)
	put("matrix", 100_000, oocore.Float32, 1000, 400)

	// What the generator has found.
	expressions := []string{
		"unique(isin(unique(few), list) && isin(unique(few), list))",
		"isin(sqrt(abs(matrix)), unique(sqrt(abs(few))))",
		"isin((unique(few) + sum(list)), sqrt(abs(wide)))",
		"unique_inverse(isin(matrix, ints))",
		"isin(mask(matrix, matrix > mean(few)), unique(list) + sum(matrix))",
		"union1d(isin(matrix, few), isin(wide, few) && isin(wide, unique(small) == sum(matrix)))",
	}
	g := &generator{Rand: testcases.Rand(t), names: []string{"few", "list", "wide", "small", "ints", "matrix"}}
	count := 20
	switch {
	case testcases.All():
		count = 3000
	case testcases.Full():
		count = 60
	}
	for range count {
		expressions = append(expressions, g.selecting(1+g.IntN(4)))
	}
	rejected := 0
	for _, e := range expressions {
		if len(e) > 400 {
			continue
		}
		try := func(budget string) (short *oocore.MemoryError) {
			opts := []oocore.Option{oocore.Memory(budget), oocore.Workers(2)}
			a := oocore.EvalContext(t.Context(), `astype(`+e+`, "float64")`, names, append(opts, host.Target(""))...)
			err := a.Err()
			if err == nil {
				_, err = oocore.Collect[float64](t.Context(), a, opts...)
			}
			errors.As(err, &short)
			return short
		}
		first := try("8MiB")
		if first == nil {
			continue
		}
		rejected++
		if again := try(fmt.Sprint(first.Need)); again != nil {
			t.Errorf("%s: the first rejection names %d bytes, which are rejected: %v", e, first.Need, again)
		}
	}
	if rejected < len(expressions)/2 {
		t.Errorf("%d of %d expressions were rejected: they test too little", rejected, len(expressions))
	}
}
