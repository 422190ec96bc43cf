package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
)

func newInstall() *cobra.Command {
	return &cobra.Command{
		Use:   "install",
		Short: "Make the kernel \"Go (gonbext)\" known to the Jupyter that you have",
		Long: `Makes the kernel "Go (gonbext)" known to the Jupyter that you have, for your
user, and has JupyterLab wait longer for completions. GoNB and goimports are built
where they are missing. $JUPYTER_DATA_DIR and $JUPYTER_CONFIG_DIR are respected.`,
		Example: `  gonbext install
  jupyter lab              then choose the kernel Go (gonbext)`,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := setup.Install(c.Context(), say)
			if err == nil {
				err = setup.AwaitCompletions()
				say("The kernel Go (gonbext) is in %s", dir)
			}
			return err
		},
	}
}

// say prints a line of progress, out of the way of results.
func say(format string, args ...any) { fmt.Fprintf(plain{os.Stderr}, format+"\n", args...) }
