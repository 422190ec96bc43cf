package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
	"github.com/gonbext/gonbext/oocore/units"
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

func newUninstall() *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "Remove what lab and install have set up, and the records of runs",
		Long: `Removes the kernel's entry in Jupyter and gonbext's folder in your cache: the
kernel's binary, GoNB, gopls, JupyterLab, the records of runs. Says what it
removed. Arrays, notebooks and Go's own caches stay, and lessons that you have
changed.`,
		Example: "  gonbext uninstall",
		RunE: func(c *cobra.Command, _ []string) error {
			removed, kept, err := setup.Uninstall()
			for _, r := range removed {
				fmt.Fprintf(c.OutOrStdout(), "removed  %s, %s\n", r.Path, units.Bytes(r.Bytes))
			}
			if kept != "" {
				fmt.Fprintf(c.OutOrStdout(), "kept     %s: lessons that you have changed\n", kept)
			}
			if len(removed) == 0 && kept == "" && err == nil {
				fmt.Fprintln(c.OutOrStdout(), "nothing is installed")
			}
			return err
		},
	}
}
