package chart

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/units"
)

// said is a figure that a report in text has in several places: what names it there, and where.
var said = []struct{ name, place string }{
	{"peak", `(?m)(?:^|· )(?:P|p)eak ([\d.]+ \w+)(?: of|,| ·)`},
	{"peak", `(?m)^memory over .*, up to (.*)$`},
	{"time", `(?m)^memory over (.*), up to `},
	{"time", `(?m)^Peak .*read.* · ([^·\n]+s)(?: · .*)?$`},
	{"predicted", ` · predicted ([^·\n]+?) ·`},
	{"passes", `read in (\w+) pass`},
	{"passes", `(?m)^plan: .*, (\w+) pass(?:es)? over`},
	{"largest", `(?m)^the process at its largest: ([^ ]+ \w+)`},
	{"smallest budget", `it needs (.*) at least`},
	{"smallest budget", `smallest budget that would do is (\d[^:.;]*\w)`},
}

// figuresOf returns the figures of a report in text by name: of a run by its number, of a stage by that too.
func figuresOf(report string) (all map[string][]string, processes int) {
	all = map[string][]string{}
	for i, run := range regexp.MustCompile(`(?m)^.+\n(?:Peak|Would|Does not fit|Nothing|Failed|Cancelled|Killed) `).FindAllStringIndex(report, -1) {
		text := report[run[0]:]
		if next := regexp.MustCompile(`(?m)\n\n.+\n(?:Peak|Would|Does not fit|Nothing|Failed|Cancelled|Killed) `).FindStringIndex(text); next != nil {
			text = text[:next[0]]
		}
		note := func(name, value string) {
			name = fmt.Sprintf("run %d: %s", i, name)
			all[name] = append(all[name], strings.TrimSpace(value))
		}
		for _, s := range said {
			for _, m := range regexp.MustCompile(s.place).FindAllStringSubmatch(text, -1) {
				note(s.name, m[1])
			}
		}
		own := regexp.MustCompile(`(?m)^.* by (.*): .* tasks?, \d+ at once`).FindStringSubmatch(text)
		budget := regexp.MustCompile(`(?m)^.*of ([\d.]+ \w+) ·`).FindStringSubmatch(text)
		for _, row := range regexp.MustCompile(`(?m)^(\S.*?)  +(\S.*?)  +fits  +(.*?)  +(.*?)  +(.*?)  +`).FindAllStringSubmatch(text, -1) {
			if own != nil && budget != nil && row[1] == own[1] && row[2] == budget[1] && strings.HasPrefix(text[strings.Index(text, "\n")+1:], "Would") {
				note("passes", strings.NewReplacer("1", "one", "–", "").Replace(row[5]))
				note("peak as an alternative", row[4])
			}
		}
		// A stage in the tree of the plan, and in the table of operations, where the last stage is the first.
		heads := regexp.MustCompile(`(?m)^(\S.*?)(?:  +(?:\d[\d,]* of )?[\d,]+  +)(\S.*?)  +(\S.*?)  +(\S.*?)  +.*?(\S+ \w+)$`).FindAllStringSubmatch(text, -1)
		stages := regexp.MustCompile(`(?m)stage (\d+): \w+ (.*)\n(?:.*\n)(?:.*\n)??.*predicted: ([\d.]+ \w+).*\n(?:.*over the link.*\n)?.*measured: +([\d.]+ \w+).* in ([^,]+), [^,]*$`).FindAllStringSubmatch(text, -1)
		for _, st := range stages {
			for k, head := range heads {
				if name, _, _ := strings.Cut(head[1], "…"); fmt.Sprint(k) == st[1] && strings.HasPrefix(st[2], name) {
					note("stage "+st[1]+" predicted", st[3])
					note("stage "+st[1]+" predicted", head[2])
					note("stage "+st[1]+" reserved", st[4])
					note("stage "+st[1]+" reserved", head[4])
					note("stage "+st[1]+" time", st[5])
					note("stage "+st[1]+" time", head[5])
				}
			}
		}
	}
	return all, strings.Count(report, "the process at its largest: ")
}

// checkAgreement reports figures that a report has twice and that differ.
func checkAgreement(t *testing.T, name, report string) (twice int) {
	t.Helper()
	all, processes := figuresOf(report)
	for of, values := range all {
		for _, v := range values[1:] {
			if twice++; v != values[0] {
				t.Errorf("%s: %s is %q and %q", name, of, values[0], v)
			}
		}
	}
	if processes > 1 {
		t.Errorf("%s tells %d times where the memory of one process was", name, processes)
	}
	for _, m := range regexp.MustCompile(`Peak of the process ([\d.]+ \w+)[\s\S]*the process at its largest: ([\d.]+ \w+) after [^\n]*?(?:, and ([\d.]+ \w+) between two looks)?(?:;.*)?\n`).FindAllStringSubmatch(report, -1) {
		if twice++; m[1] != m[2] && m[1] != m[3] {
			t.Errorf("%s: the process is at its largest with %s, and with %s", name, m[1], m[2])
		}
	}
	return twice
}

// Every figure that the reports of the lessons have twice is equal.
func TestFiguresOfLessonsAgree(t *testing.T) {
	paths, err := filepath.Glob("../../../notebooks/*.ipynb")
	if err != nil || len(paths) < 11 {
		t.Fatalf("%d lessons: %v", len(paths), err)
	}
	twice, older := 0, 0
	for _, path := range paths {
		var lesson struct {
			Cells []struct {
				Outputs []struct {
					Data map[string]json.RawMessage `json:"data"`
				} `json:"outputs"`
			} `json:"cells"`
		}
		if err := json.Unmarshal(testcases.ReadFile(t, path), &lesson); err != nil {
			t.Fatal(err)
		}
		for i, c := range lesson.Cells {
			for _, o := range c.Outputs {
				var lines []string
				if json.Unmarshal(o.Data["text/plain"], &lines) != nil {
					continue
				}
				text := strings.Join(lines, "")
				if _, processes := figuresOf(text); processes > 1 { // as reports were before they told once of a process
					older++
					continue
				}
				twice += checkAgreement(t, fmt.Sprintf("%s, cell %d", filepath.Base(path), i), text)
			}
		}
	}
	if older > 0 {
		t.Logf("%d reports are of an earlier release: execute the lessons anew", older)
	}
	if twice < 100 {
		t.Errorf("%d figures are there twice", twice)
	}
}

// A report of made records is one too, in which the cell, a run and a run that only shows something saw the process at
// different moments.
func TestFiguresOfReportsAgree(t *testing.T) {
	for name, r := range cases(t) {
		checkAgreement(t, name, report(t, Options{}, r).Text)
	}
	all := cellRecords(t, &record.End{Status: record.Done, Duration: 5 * time.Second, ProcessPeak: 200 * mib})
	shown := all[1].Header
	shown.Shown, shown.Output, shown.Start = "Hist", "", shown.Start.Add(time.Second)
	all = append(all, made(t, shown, 24, doneEnd()))
	out := report(t, Options{}, all...)
	checkAgreement(t, "a cell", out.Text)
	if want := "Peak of the process 470 MiB of 512 MiB"; !strings.Contains(out.Text, want) || strings.Contains(out.Text, "the cell's process\nPeak of the process 200 MiB") {
		t.Errorf("no %q in %.300s", want, out.Text)
	}
	if n := strings.Count(out.HTML, "gonbext-run"); n != 3 || strings.Contains(out.Text, "Hist") {
		t.Errorf("%d runs are reported: %.600s", n, out.Text)
	}
	if !strings.Contains(out.HTML, "Hist from 2 s to ") {
		t.Error("what the cell shows is no part of its timeline")
	}
	var sum, whole int64
	held := regexp.MustCompile(`(?m)^  (?:arena: .*|Go heap|Go runtime|not accounted for) +(\S+ \w+)$`).FindAllStringSubmatch(out.Text, -1)
	for _, m := range held {
		n, err := units.ParseSize(m[1])
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if m := regexp.MustCompile(`(?m)^the process at its largest: (\S+ \w+)`).FindStringSubmatch(out.Text); m != nil {
		whole, _ = units.ParseSize(m[1])
	}
	if untouched := strings.Contains(out.Text, "never touched"); whole == 0 || sum < whole-4*mib || !untouched && sum > whole+4*mib {
		t.Errorf("the process has %d bytes, and its parts %d: %v", whole, sum, held)
	}
}
