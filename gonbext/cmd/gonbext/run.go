package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
)

//go:embed run.py
var runScript string

func newRun() *cobra.Command {
	var output, html string
	var names []string
	var allowErrors bool
	c := &cobra.Command{
		Use:   "run NOTEBOOK [-p NAME VALUE]...",
		Short: "Execute a notebook without a browser",
		Long: `Executes a notebook's cells in order with the kernel "Go (gonbext)" and prints
what they show as text. The notebook itself is left as it is. The exit status is
1 if a cell fails; what -o and --html name is written all the same, with the error
in its place. With --allow-errors the cells behind it run too, and the status is 0.

-p sets a variable: a cell with its value goes behind the cell with the tag
parameters.`,
		Example: `  gonbext run notebooks/01-beyond-memory.ipynb
  gonbext run lesson.ipynb -o executed.ipynb --html executed.html
  gonbext run lesson.ipynb -p rows 1000 -p name "small one" -o small.ipynb`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			// Each name takes the word behind it: what is left besides is the notebook.
			at := slices.IndexFunc(args, func(a string) bool { return strings.HasSuffix(a, ".ipynb") })
			notebook := args[max(at, 0)]
			values := slices.Delete(slices.Clone(args), max(at, 0), max(at, 0)+1)
			if len(values) != len(names) {
				return usagef("it takes one notebook, and a value for each -p NAME: %d names, %d values", len(names), len(values))
			}
			args = []string{notebook}
			var flags []string
			for i, name := range names {
				if !token.IsIdentifier(name) {
					return usagef("-p %s: that is no name of a variable", name)
				}
				flags = append(flags, "--parameter", name, values[i])
			}
			if allowErrors {
				flags = append(flags, "--allow-errors")
			}
			if err := checkNotebook(args[0]); err != nil {
				return err
			}
			if err := checkWritten("--output", output, args[0]); err != nil {
				return err
			}
			if err := checkWritten("--html", html, args[0], output); err != nil {
				return err
			}
			return execute(c.Context(), os.Stdout, args[0], append(flags, "--output", output, "--html", html)...)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "write the executed notebook to `OUT.ipynb`")
	c.Flags().StringVar(&html, "html", "", "write the executed notebook as a page to `F.html`")
	c.Flags().StringArrayVarP(&names, "parameter", "p", nil, "set the variable `NAME` to the VALUE that follows")
	c.Flags().BoolVar(&allowErrors, "allow-errors", false, "run the cells behind one that fails")
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
