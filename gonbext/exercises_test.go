package gonbext

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// lessonCell is a cell of a lesson.
type lessonCell struct {
	Type     string `json:"cell_type"`
	Source   []string
	Metadata struct {
		Tags      []string
		Slideshow struct {
			Type string `json:"slide_type"`
		}
	}
	Outputs []struct {
		Data      map[string]any
		Text      []string
		Traceback []string
	}
}

func (c lessonCell) text() string { return strings.Join(c.Source, "") }

// shown is the text of what a cell put out.
func (c lessonCell) shown() string {
	var b strings.Builder
	for _, o := range c.Outputs {
		fmt.Fprintln(&b, strings.Join(o.Text, ""), strings.Join(o.Traceback, ""))
		switch text := o.Data["text/plain"].(type) {
		case string:
			b.WriteString(text)
		case []any:
			for _, line := range text {
				fmt.Fprint(&b, line)
			}
		}
	}
	return b.String()
}

func lessonCells(t *testing.T, path string) []lessonCell {
	t.Helper()
	b := testcases.ReadFile(t, path)
	var notebook struct{ Cells []lessonCell }
	if err := json.Unmarshal(b, &notebook); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return notebook.Cells
}

var (
	checkedExercise = regexp.MustCompile(`gonbext\.Check\("([^"]+)"`)
	foldedAnswer    = regexp.MustCompile("(?s)<details><summary>Answer</summary>\n\n```go\n%%\n(.*?)```")
)

// Each lesson has two exercises or more, unanswered, each followed by its folded
// answer; there is no other exercise. The answers are run as a program.
func TestAnswersOfLessonsCheckRight(t *testing.T) {
	paths, err := filepath.Glob("../notebooks/*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	var asked []string
	var program strings.Builder
	for _, path := range paths {
		lesson := filepath.Base(path)[:2]
		count := 0
		cells := lessonCells(t, path)
		for i, c := range cells {
			if !slices.Contains(c.Metadata.Tags, "exercise") {
				continue
			}
			name := checkedExercise.FindStringSubmatch(c.text())
			if name == nil || !strings.HasPrefix(name[1], lesson+".") || !strings.Contains(c.text(), `", nil)`) || i+1 == len(cells) {
				t.Errorf("%s: this is no open exercise of the lesson:\n%s", path, c.text())
				continue
			}
			answer := foldedAnswer.FindStringSubmatch(cells[i+1].text())
			if answer == nil || !strings.Contains(answer[1], name[0]) {
				t.Errorf("%s: exercise %s has no folded answer below it", path, name[1])
				continue
			}
			if !strings.HasSuffix(strings.TrimSpace(cells[i+1].text()), "</details>") {
				t.Errorf("%s: the cell of the answer to %s holds more, which decks put into the notes", path, name[1])
			}
			count++
			asked = append(asked, name[1])
			fmt.Fprintf(&program, "func() {\n%s}()\n", answer[1])
		}
		if count < 2 {
			t.Errorf("%s has %d exercises", path, count)
		}
	}
	if slices.Sort(asked); !slices.Equal(asked, exerciseNames()) {
		t.Errorf("lessons ask %v, and the exercises are %v", asked, exerciseNames())
	}
	if testing.Short() {
		t.Skip("the answers are compiled and run without -short")
	}
	source := "package main\n\nimport (\n\"github.com/gonbext/gonbext/gonbext\"\n\"github.com/gonbext/gonbext/oocore\"\n)\n\nvar _ = oocore.Open\n\nfunc main() {\n" + program.String() + "}\n"
	file := filepath.Join(t.TempDir(), "answers.go")
	testcases.WriteFile(t, file, []byte(source), 0o600)
	out, err := exec.Command("go", "run", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if right := strings.Count(string(out), ": right. "); right != len(asked) {
		t.Errorf("%d answers of %d are right:\n%s", right, len(asked), out)
	}
}

var imageTag = regexp.MustCompile(`<img [^>]*>|!\[[^]]*\]\(`)

// Lessons are small, make slides, have been executed, have a cell that fails on
// purpose, and say in words what their pictures show.
func TestLessonsAreWhole(t *testing.T) {
	paths, err := filepath.Glob("../notebooks/*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	for _, path := range paths {
		if st, err := os.Stat(path); err != nil || st.Size() > 400_000 {
			t.Errorf("%s has more than 400 kB: %v", path, err)
		}
		fails, shown := 0, 0
		for _, c := range lessonCells(t, path) {
			if c.Metadata.Slideshow.Type == "" {
				t.Errorf("%s: a cell is no slide, and no part of one:\n%s", path, c.text())
			}
			if slices.Contains(c.Metadata.Tags, "raises-exception") {
				fails++
			}
			texts := []string{c.text()}
			if c.Type == "code" {
				texts = nil
			}
			for _, o := range c.Outputs {
				shown++
				texts = append(texts, fmt.Sprint(o.Data["text/html"]))
			}
			for _, text := range texts {
				for _, tag := range imageTag.FindAllString(text, -1) {
					if !strings.Contains(tag, `alt="`) && !strings.HasPrefix(tag, "![") || strings.Contains(tag, `alt=""`) || tag == "![](" {
						t.Errorf("%s: a picture has no text: %.100s", path, tag)
					}
				}
			}
		}
		if fails == 0 || shown == 0 {
			t.Errorf("%s has %d cells that fail on purpose, and %d outputs", path, fails, shown)
		}
	}
}
