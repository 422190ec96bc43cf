package gonbext

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// allowedFigures are figures in the prose of lessons that no output of their section has, and why.
var allowedFigures = map[string]map[string]string{
	"01": {"1,024": "what KiB counts in", "1,000": "what kB counts in"},
	"02": {"million": "an example of many"},
	"03": {"1,000": "1 - 0.999 of the cell, turned round"},
	"04": {"10,000": "the text's matrix"},
	"05": {"20": "what a decibel is"},
	"06": {"1959": "the first year of the table"},
	"07": {"100": "exercise 2, which checks it", "481": "480 and one more"},
	"08": {"32": "the width of an address"},
	"10": {"ten": "a second interrupt's time, and a ratio asked for", "hundred": "of the table"},
	"11": {"65,504": "where float16 ends: lesson 05", "128 GB": "a machine to compare with"},
	"12": {"fifty": "1 / 0.02 of the cell", "66": "the latitude of the section before", "1,461": "chunks of the section before"},
	"09": {"4": "a line of the cell that fails"},
}

// quantity is a number, with its unit.
const quantity = `\d[\d,]*(?:\.\d+)?(?: ?[kKMGT]i?B)?`

var (
	notProse = regexp.MustCompile("(?s)```.*?```|`[^`]*`|!\\[[^]]*\\]\\([^)]*\\)|\\]\\([^)]*\\)|(?m:^>.*$)|(?m:^To read on:.*$)|(?m:^\\*\\*\\d\\.\\*\\*)" +
		`|(?i:lessons? \d\d((, | and )\d\d)*)|(?i:exercise \d)|(?i:parts? per million)|\(\d+ minutes?\)|About \d+ minutes: [^.]*\.`)
	equation       = regexp.MustCompile(quantity + `( [-+−×·÷/] ` + quantity + `)* = ` + quantity + `( [-+−×·÷/] ` + quantity + `)*`)
	numeral        = regexp.MustCompile(`(\d[\d,_]*(?:\.\d+)?(?:e[-+]?\d+)?)([⁻⁰¹²³⁴-⁹]*)(?: ?(kB|MB|GB|TB|KiB|MiB|GiB|TiB)\b)?`)
	numberWord     = regexp.MustCompile(`(?i)\b(three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|sixteen|twenty|thirty|forty|fifty|hundred|thousand|million|billion)s?\b`)
	heading        = regexp.MustCompile(`(?m)^## `)
	sectionMinutes = regexp.MustCompile(`(?m)^##+ .*\((\d+) minutes?\)$`)
	timetable      = regexp.MustCompile(`About (\d+) minutes: ([^.]*)\.`)
	part           = regexp.MustCompile(`(?:^|, )(\d+) (?:for|to) `)
)

var numbersByWord = map[string]float64{
	"three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13,
	"fifteen": 15, "sixteen": 16, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9,
}

var byteUnits = map[string]float64{
	"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// figure is a number as it is written: its value, the power of ten of its last digit, and its
// unit's bytes.
type figure struct {
	text       string
	value, ulp float64
	unit       float64
}

func figures(text string) (found []figure) {
	for _, m := range numeral.FindAllStringSubmatch(text, -1) {
		plain := strings.NewReplacer(",", "", "_", "").Replace(m[1])
		v, err := strconv.ParseFloat(plain, 64)
		if err != nil {
			continue
		}
		if m[2] != "" {
			digits := strings.NewReplacer("⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9").Replace(m[2])
			power, _ := strconv.Atoi(digits)
			v = math.Pow(v, float64(power))
		}
		ulp := 0.0
		if _, decimals, ok := strings.Cut(plain, "."); ok && !strings.Contains(decimals, "e") {
			ulp = math.Pow(10, -float64(len(decimals)))
		}
		found = append(found, figure{strings.TrimRight(m[0], ","), v, ulp, byteUnits[m[3]]})
	}
	for _, m := range numberWord.FindAllStringSubmatch(text, -1) {
		found = append(found, figure{text: m[0], value: numbersByWord[strings.ToLower(m[1])]})
	}
	return found
}

// says reports whether a figure of the prose is the figure g of an output: the same, rounded,
// or the same bytes in another unit.
func (f figure) says(g figure) bool {
	near := func(a, b float64) bool { return math.Abs(a-b) <= max(f.ulp/2, 1e-12*math.Abs(a))*(1+1e-9) }
	if near(f.value, g.value) {
		return f.unit == g.unit || f.unit == 0 || g.unit == 0
	}
	return f.unit != 0 && near(f.value, g.value*max(g.unit, 1)/f.unit)
}

// holds reports whether the two sides of an equation in prose are equal.
func holds(text string) bool {
	text = numeral.ReplaceAllStringFunc(text, func(n string) string {
		f := figures(n)[0]
		return fmt.Sprintf("%f", f.value*max(f.unit, 1))
	})
	text = strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-").Replace(text)
	left, right, _ := strings.Cut(text, "=")
	var sides [2]float64
	for i, side := range []string{left, right} {
		v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, side)
		if err != nil {
			return false
		}
		sides[i], _ = constant.Float64Val(v.Value)
	}
	return math.Abs(sides[0]-sides[1]) <= 1e-9*math.Abs(sides[0])
}

// What lessons say in figures is what their cells say: each figure of the prose stands in an
// output or in the source of a cell of its section, or in an equation that holds.
func TestProseOfLessonsSaysWhatCellsSay(t *testing.T) {
	paths, err := filepath.Glob("../notebooks/*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	for _, path := range paths {
		lesson := filepath.Base(path)[:2]
		used := map[string]bool{}
		var sections [][]lessonCell
		for _, c := range lessonCells(t, path) {
			if len(sections) == 0 || c.Type == "markdown" && heading.MatchString(c.text()) {
				sections = append(sections, nil)
			}
			sections[len(sections)-1] = append(sections[len(sections)-1], c)
		}
		beside := make([][]figure, len(sections))
		var all []figure
		for i, section := range sections {
			for _, c := range section {
				if c.Type == "code" {
					beside[i] = append(beside[i], figures(c.text()+c.shown())...)
				} else if m := foldedAnswer.FindStringSubmatch(c.text()); m != nil {
					beside[i] = append(beside[i], figures(m[1])...)
				}
			}
			all = append(all, beside[i]...)
		}
		for i, section := range sections {
			stands := slices.Concat(beside[i], beside[0])
			if i == 0 || i == len(sections)-1 || strings.Contains(section[0].text(), "## Exercises") {
				stands = all // what begins and what ends a lesson, and what asks about it
			}
			for k, c := range section {
				if c.Type != "markdown" {
					continue
				}
				if k+1 < len(section) && slices.Contains(section[k+1].Metadata.Tags, "exercise") {
					continue // what an exercise gives, and Check's answer holds
				}
				stands := stands
				if m := checkedExercise.FindStringSubmatch(c.text()); m != nil {
					stands = slices.Concat(stands, figures(fmt.Sprint(exercises[m[1]].want)))
				}
				prose := notProse.ReplaceAllString(c.text(), " ")
				prose = equation.ReplaceAllStringFunc(prose, func(e string) string {
					if holds(e) {
						stands = append(stands, figures(e)...)
						return " "
					}
					return e
				})
				for _, f := range figures(prose) {
					used[f.text] = true
					switch {
					case f.unit == 0 && f.value <= 2, slices.ContainsFunc(stands, f.says):
					case allowedFigures[lesson][f.text] != "":
					default:
						at := strings.Index(prose, f.text)
						t.Errorf("%s: %s is in no cell of its section: …%s…", lesson, f.text, strings.ToValidUTF8(prose[max(at-60, 0):min(at+60, len(prose))], ""))
					}
				}
			}
		}
		for f := range allowedFigures[lesson] {
			if !used[f] {
				t.Errorf("%s: %s is allowed and not there", lesson, f)
			}
		}
	}
}

// The minutes of a lesson's sections are those of its first cell, and of the table of lessons.
func TestMinutesOfLessonsAddUp(t *testing.T) {
	paths, err := filepath.Glob("../notebooks/*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	table := testcases.ReadFile(t, "../notebooks/README.md")
	for _, path := range paths {
		cells := lessonCells(t, path)
		m := timetable.FindStringSubmatch(cells[0].text())
		if m == nil {
			t.Errorf("%s has no timetable", path)
			continue
		}
		whole, _ := strconv.Atoi(m[1])
		parts, sections := 0, 0
		for _, p := range part.FindAllStringSubmatch(m[2], -1) {
			n, _ := strconv.Atoi(p[1])
			parts += n
		}
		for _, c := range cells {
			for _, h := range sectionMinutes.FindAllStringSubmatch(c.text(), -1) {
				n, _ := strconv.Atoi(h[1])
				sections += n
			}
		}
		if parts != whole || sections != whole {
			t.Errorf("%s: %d minutes, of parts of %d and sections of %d", path, whole, parts, sections)
		}
		if row := fmt.Sprintf("(%s) | %d |", filepath.Base(path), whole); !strings.Contains(string(table), row) {
			t.Errorf("the table of lessons has no %q", row)
		}
	}
}

// Each lesson ends with two links to read on.
func TestLessonsSayWhereToReadOn(t *testing.T) {
	paths, err := filepath.Glob("../notebooks/*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	for _, path := range paths {
		links := 0
		for _, c := range lessonCells(t, path) {
			if _, text, ok := strings.Cut(c.text(), "To read on:"); ok {
				links += strings.Count(text, "](https://")
			}
		}
		if links != 2 {
			t.Errorf("%s has %d links to read on", path, links)
		}
	}
}
