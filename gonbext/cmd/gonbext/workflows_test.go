package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// The workflows that the documentation shows run, by the engines that they are written for.
func TestDocumentedWorkflowsRun(t *testing.T) {
	python := testcases.Python(t, "the Snakemake rule and the Nextflow process of WORKFLOWS.md")
	page, err := os.ReadFile("../../WORKFLOWS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		language, file string
		command        []string
	}{
		{"python", "Snakefile", []string{python, "-m", "snakemake", "--cores", "1"}},
		{"groovy", "main.nf", []string{"nextflow", "run", "main.nf"}},
	} {
		t.Run(w.file, func(t *testing.T) {
			if w.language == "groovy" {
				if _, err := exec.LookPath("nextflow"); err != nil {
					t.Skip("left out: there is no nextflow, which .ci/nextflow makes of packages of Maven Central")
				}
			} else if exec.Command(python, "-c", "import snakemake").Run() != nil {
				t.Skip("left out: GONBEXT_PYTHON has no snakemake, which is in .ci/requirements.txt")
			}
			_, text, found := strings.Cut(string(page), "\n```"+w.language+"\n")
			text, _, ended := strings.Cut(text, "\n```\n")
			if !found || !ended {
				t.Fatalf("the page has no %s", w.language)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, w.file), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			floats(t, filepath.Join(dir, "acts.npy"), "(300, 40)", 12000)
			bin := filepath.Join(dir, "bin")
			if err := os.Mkdir(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			self := command(dir)
			if err := os.Symlink(self.Path, filepath.Join(bin, "gonbext")); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(w.command[0], w.command[1:]...)
			c.Dir = dir
			c.Env = append(self.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "NXF_HOME="+dir, "NXF_OFFLINE=true", "XDG_CACHE_HOME="+dir)
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			made := filepath.Join(dir, "centred.npy")
			if w.language == "groovy" { // in a folder of its own
				found, _ := filepath.Glob(filepath.Join(dir, "work", "*", "*", "centred.npy"))
				if len(found) != 1 {
					t.Fatalf("made %v", found)
				}
				made = found[0]
			}
			if got := elements[float32](t, made); len(got) != 12000 {
				t.Errorf("it has %d elements", len(got))
			}
		})
	}
}
