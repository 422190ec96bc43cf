package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

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
			if st, err := os.Stat(args[0]); err != nil || st.IsDir() {
				return fmt.Errorf("%s is not a notebook that can be read", args[0])
			}
			for _, path := range []string{output, html} {
				if st, err := os.Stat(filepath.Dir(path)); path != "" && (err != nil || !st.IsDir()) {
					return fmt.Errorf("%s: its folder does not exist", path)
				}
			}
			program, err := notebookTools(c.Context())
			if err != nil {
				return err
			}
			cmd := python(c.Context(), program, "-c", runScript, args[0],
				"--output", output, "--html", html, "--kernel", setup.Kernel)
			cmd.Stdout, cmd.Stderr = os.Stdout, untilDone{c.Context(), os.Stderr}
			err = cmd.Run()
			if c.Context().Err() != nil {
				return errors.New("interrupted")
			}
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return exitError(exitFailure) // the script has said why
			}
			return err
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "write the executed notebook to `OUT.ipynb`")
	c.Flags().StringVar(&html, "html", "", "write the executed notebook as a page to `F.html`")
	return c
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
