package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
)

//go:embed run.py
var runScript string

func newRun() *cobra.Command {
	var output, html string
	c := &cobra.Command{
		Use:   "run NOTEBOOK",
		Short: "Execute a notebook without a browser",
		Long: `Executes a notebook's cells in order with the kernel "Go (gonbext)" and prints
what they show as text. The notebook itself is left as it is. The exit status is
1 if a cell fails, and nothing is written then.`,
		Example: `  gonbext run notebooks/01-beyond-memory.ipynb
  gonbext run lesson.ipynb -o executed.ipynb --html executed.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkNotebook(args[0]); err != nil {
				return err
			}
			if err := checkWritten("--output", output, args[0]); err != nil {
				return err
			}
			if err := checkWritten("--html", html, args[0], output); err != nil {
				return err
			}
			return execute(c.Context(), os.Stdout, args[0], "--output", output, "--html", html)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "write the executed notebook to `OUT.ipynb`")
	c.Flags().StringVar(&html, "html", "", "write the executed notebook as a page to `F.html`")
	return c
}

// checkNotebook returns an error for what is no notebook.
func checkNotebook(path string) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such notebook", path)
	case err != nil || !st.Mode().IsRegular():
		return fmt.Errorf("%s is not a notebook that can be read", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var notebook struct {
		Format int `json:"nbformat"`
	}
	if err := json.Unmarshal(text, &notebook); err != nil || notebook.Format == 0 {
		return fmt.Errorf("%s is not a notebook: it has no nbformat", path)
	}
	return nil
}

// execute runs a notebook's cells in order. What they show goes to w as text.
func execute(ctx context.Context, w io.Writer, notebook string, flags ...string) error {
	program, err := notebookTools(ctx)
	if err != nil {
		return err
	}
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	cmd := python(ctx, program, append([]string{"-c", runScript, notebook, "--kernel", setup.Kernel, "--folder", folder}, flags...)...)
	cmd.Dir = setup.Elsewhere()
	cmd.Stdout, cmd.Stderr = w, untilDone{ctx, os.Stderr}
	err = cmd.Run()
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exitError(exitFailure) // the script has said why
	}
	return err
}

// untilDone passes on what is written until ctx ends: how Python takes its end
// is of no interest.
type untilDone struct {
	ctx context.Context
	w   io.Writer
}

func (u untilDone) Write(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return len(b), nil
	}
	return u.w.Write(b)
}
