// Package testcases chooses which of a test's generated cases run.
//
// A plain run takes a sample with a few cases of each function, format or operation.
// That of GONBEXT_TEST=full changes every day, and GONBEXT_SEED repeats the sample of
// an earlier day. GONBEXT_TEST=all runs all cases.
package testcases

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// Full reports whether tests run that need more than Go: Python, root, or another
// server. GONBEXT_TEST=full and GONBEXT_TEST=all ask for them.
func Full() bool { return os.Getenv("GONBEXT_TEST") == "full" || All() }

// All reports whether every generated case runs.
func All() bool { return os.Getenv("GONBEXT_TEST") == "all" }

// Seed returns the seed of the samples: GONBEXT_SEED, else that of every plain run, so
// that it fails only where the code has changed. In runs that leave nothing out it is the
// date in UTC, such as 20261122.
func Seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv("GONBEXT_SEED")
	if text == "" && !Full() {
		text = "20261122"
	}
	if text == "" {
		text = time.Now().UTC().Format("20060102")
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("GONBEXT_SEED is %q, which is no whole number", text)
	}
	return seed
}

// Seeded returns t, and has rapid draw the cases of its tests by Seed, unless RAPID_SEED or
// -rapid.seed names another seed: plain runs check the same cases each time, and 30 of them
// instead of 100.
func Seeded[T testing.TB](t T) T {
	t.Helper()
	instead := func(name, usual, value string) {
		if f := flag.Lookup(name); f != nil && f.Value.String() == usual {
			if err := f.Value.Set(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	instead("rapid.seed", "0", strconv.FormatUint(Seed(t), 10))
	if !Full() {
		instead("rapid.checks", "100", "30")
	}
	return t
}

// Rand returns a source of random numbers for a test that makes its cases while it
// runs, and logs how to repeat them. It differs with Seed, unless all cases run: these
// are the same always.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(0)
	if !All() {
		seed = Seed(t)
		t.Logf("GONBEXT_SEED=%d repeats the cases", seed)
	}
	return source(t, seed)
}

// source returns random numbers that follow from a seed and the test's name.
func source(t testing.TB, seed uint64) *rand.Rand {
	name := fnv.New64a()
	fmt.Fprint(name, t.Name())
	return rand.New(rand.NewPCG(seed, name.Sum64()))
}

// Sample returns cases so that n of each stratum are among them, or all that it
// has. The strata of a case are what it tests: a function, a format, a type. The
// order of the cases stays.
func Sample[C any](t testing.TB, cases []C, n int, strata func(C) []string) []C {
	t.Helper()
	if All() {
		return cases
	}
	random := source(t, Seed(t))
	have := map[string]int{}
	taken := make([]bool, len(cases))
	count := 0
	for _, i := range random.Perm(len(cases)) {
		wanted := false
		names := strata(cases[i])
		for _, s := range names {
			wanted = wanted || have[s] < n
		}
		if !wanted {
			continue
		}
		taken[i] = true
		count++
		for _, s := range names {
			have[s]++
		}
	}
	if count == len(cases) {
		return cases
	}
	chosen := make([]C, 0, count)
	for i, c := range cases {
		if taken[i] {
			chosen = append(chosen, c)
		}
	}
	t.Logf("%d of %d cases: GONBEXT_SEED=%d repeats them, GONBEXT_TEST=all runs all", count, len(cases), Seed(t))
	return chosen
}

// Must returns a function that ends the test on an error.
func Must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// WriteFile is os.WriteFile, and ends the test on an error.
func WriteFile(t testing.TB, name string, text []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, text, mode); err != nil {
		t.Fatal(err)
	}
}

// ReadFile is os.ReadFile, and ends the test on an error.
func ReadFile(t testing.TB, name string) []byte {
	t.Helper()
	return Must[[]byte](t)(os.ReadFile(name))
}

// Counted holds a parser of a long header to the memory that it says to take: nearly what it holds, and the same in
// all where nothing may be held.
func Counted[T any](t *testing.T, parse func(take func(bytes int64) error) (T, error)) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var counted int64
	header, err := parse(func(n int64) error { counted += n; return nil })
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	runtime.KeepAlive(header)
	if held < 1<<20 || counted < held*9/10 || counted > 2*held {
		t.Errorf("%d bytes are counted, %d are held", counted, held)
	}
	full, all := errors.New("full"), int64(0)
	_, err = parse(func(n int64) error { all += n; return full })
	if !errors.Is(err, full) || all < counted*9/10 {
		t.Errorf("without room: %v, with %d bytes counted of %d", err, all, counted)
	}
}
