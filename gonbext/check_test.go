package gonbext

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// printed is what f prints.
func printed(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	text := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		text <- string(b)
	}()
	f()
	os.Stdout = stdout
	w.Close()
	return <-text
}

func TestCheckRejectsWrongAnswersWithAHint(t *testing.T) {
	for name, e := range exercises {
		if e.because == "" || e.hint == "" {
			t.Errorf("%s has no hint, or no reason", name)
		}
		for _, s := range e.slips {
			out := printed(t, func() {
				if Check(name, s.answer) {
					t.Errorf("%s takes %v", name, s.answer)
				}
			})
			if want := fmt.Sprintf("%s: not right. Hint: %s\n", name, s.hint); out != want {
				t.Errorf("%s printed %q, want %q", name, out, want)
			}
		}
		for _, wrong := range []any{
			-1, math.NaN(), math.Inf(1), uint8(3), int64(math.MinInt64), true, 'x', "", "no such", []int{}, []int(nil), []int{1, 2}, []float64{1}, struct{}{},
			func() {}, complex(1, 2), map[string]int{}, (*int)(nil), (*oocore.Array)(nil), oocore.FromSlice([]float32{1}, 1),
			oocore.FromSlice([]float32{1}, 2), oocore.Open("no-such.npy"), oocore.FromSlice([]bool{true}, 1),
		} {
			out := printed(t, func() {
				if Check(name, wrong) {
					t.Errorf("%s takes %v", name, wrong)
				}
			})
			if !strings.HasPrefix(out, name+": not right. ") || strings.Count(out, "\n") != 1 {
				t.Errorf("%s of %v printed %q", name, wrong, out)
			}
		}
	}
}

func TestCheckComparesElements(t *testing.T) {
	x := oocore.Random(oocore.Float64, 9, 1000, 8)
	right := x.Sub(x.Mean(0)).Div(x.Std(0))
	broken := oocore.MapChunks(func(dst, src []float64, at oocore.Block) error { panic("mine") }, right, oocore.MapOptions{})
	for _, c := range []struct {
		answer any
		want   string
	}{
		{right, "09.3: right. "},
		{x.Sub(x.Mean()).Div(x.Std()), "09.3: not right. Its elements are not those of the answer. Hint: "},
		{x.T(), "09.3: not right. The Array is 8 × 1,000, and the answer 1,000 × 8. Hint: "},
		{x.Sub(x.Mean(1)), "09.3: not right. It has an error: "},
		{broken, "09.3: not right. It cannot be computed: "},
		{nil, "09.3: not answered yet. "},
	} {
		if out := printed(t, func() { Check("09.3", c.answer) }); !strings.HasPrefix(out, c.want) {
			t.Errorf("printed %q, want %q", out, c.want)
		}
	}
}

func TestCheckOfNoExercise(t *testing.T) {
	if out := printed(t, func() {
		if Check("99.9", 1) {
			t.Error("an exercise that does not exist is answered")
		}
	}); out != "" {
		t.Errorf("printed %q", out)
	}
}

func TestCheckTakesNumbersOfAnyType(t *testing.T) {
	for _, answer := range []any{16, int8(16), uint64(16), float32(16), 16.0} {
		if out := printed(t, func() { Check("02.2", answer) }); !strings.HasPrefix(out, "02.2: right. ") {
			t.Errorf("%T: %q", answer, out)
		}
	}
}
