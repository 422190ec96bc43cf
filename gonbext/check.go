package gonbext

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/units"
)

// Check compares an answer with that of an exercise of the lessons, such as
// "04.1". It prints whether the answer is right and, where it is not, a hint, and
// reports the same. An answer is a number, a shape ([]int) or an Array, which is
// computed. nil stands for an exercise without an answer yet.
//
// Check never ends the cell. A cell that grades ends itself: if !gonbext.Check(…)
// { os.Exit(1) }.
func Check(exercise string, answer any) (right bool) {
	defer func() {
		if p := recover(); p != nil {
			right = false
			fmt.Printf("%s: not right. The answer could not be computed: %v\n", exercise, p)
		}
	}()
	e, ok := exercises[exercise]
	if !ok {
		fmt.Fprintf(os.Stderr, "Check: there is no exercise %q: there are %s\n", exercise, strings.Join(exerciseNames(), ", "))
		return false
	}
	if answer == nil {
		fmt.Printf("%s: not answered yet. Replace nil by your answer.\n", exercise)
		return false
	}
	hint, right := e.check(answer)
	if right {
		fmt.Printf("%s: right. %s\n", exercise, e.because)
	} else {
		fmt.Printf("%s: not right. %s\n", exercise, hint)
	}
	return right
}

// exercise is a question of the lessons with its answer.
type exercise struct {
	want    any     // float64, []int or func() *oocore.Array
	within  float64 // of a number, relative to want
	because string  // the answer is what it is
	hint    string
	slips   []slip
}

// slip is a wrong answer that people give, with a hint of its own.
type slip struct {
	answer any // as want
	hint   string
}

// check compares an answer, and gives the hint for a wrong one.
func (e *exercise) check(answer any) (hint string, right bool) {
	if want, ok := e.want.(func() *oocore.Array); ok {
		return e.checkArray(answer, want())
	}
	if d, ok := answer.(time.Duration); ok && kind(e.want) == "a number" {
		return fmt.Sprintf("The answer is a number, and a time.Duration is one of nanoseconds: %v is %d milliseconds, by .Milliseconds().", d, d.Milliseconds()), false
	}
	given, ok := plain(answer)
	if !ok || reflect.TypeOf(given) != reflect.TypeOf(e.want) {
		return fmt.Sprintf("The answer is %s.", kind(e.want)), false
	}
	if same(given, e.want, e.within) {
		return "", true
	}
	for _, s := range e.slips {
		if same(given, s.answer, e.within) {
			return "Hint: " + s.hint, false
		}
	}
	return "Hint: " + e.hint, false
}

// checkArray compares shapes first, so that no more is computed than the right
// answer has.
func (e *exercise) checkArray(answer any, want *oocore.Array) (hint string, right bool) {
	given, ok := answer.(*oocore.Array)
	if !ok {
		return "The answer is an Array.", false
	}
	if given == nil {
		return "The Array is nil.", false
	}
	if err := cmp.Or(given.Err(), want.Err()); err != nil {
		return fmt.Sprintf("It has an error: %v", err), false
	}
	if !slices.Equal(given.Shape(), want.Shape()) {
		return fmt.Sprintf("The Array is %s, and the answer %s. Hint: %s", units.Shape(given.Shape()), units.Shape(want.Shape()), e.hint), false
	}
	ctx, stop := during()
	defer stop()
	near := given.AllClose(want, oocore.Closeness{Relative: 1e-5, Absolute: 1e-6})
	close, err := oocore.Collect[bool](ctx, near, host.Shown("Check"))
	switch {
	case errors.Is(err, oocore.ErrPlanned):
		return "A footprint computes nothing: check the answer in a cell of its own.", false
	case err != nil:
		return fmt.Sprintf("It cannot be computed: %s", strings.ReplaceAll(err.Error(), "\n", "; ")), false
	case !close[0]:
		return "Its elements are not those of the answer. Hint: " + e.hint, false
	}
	return "", true
}

// plain returns an answer in the form of the exercises' own: any number as float64.
func plain(answer any) (any, bool) {
	v := reflect.ValueOf(answer)
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	shape, ok := answer.([]int)
	return shape, ok
}

// same compares two results of plain. A number that is not finite equals none.
func same(given, want any, within float64) bool {
	if want, ok := want.([]int); ok {
		g, ok := given.([]int)
		return ok && slices.Equal(g, want)
	}
	g, ok := given.(float64)
	return ok && math.Abs(g-want.(float64)) <= within*math.Abs(want.(float64))
}

// kind says what an answer has to be.
func kind(want any) string {
	if _, ok := want.([]int); ok {
		return "a shape, such as []int{1024, 512}"
	}
	return "a number"
}

func exerciseNames() []string {
	return slices.Sorted(maps.Keys(exercises))
}
