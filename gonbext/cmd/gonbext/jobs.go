package main

import (
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore/cluster"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/units"
)

func newJobs() *cobra.Command {
	var on string
	var asJSON bool
	c := &cobra.Command{
		Use:   "jobs [list|attach|cancel|logs] [OUTPUT|FOLDER]",
		Short: "List, attach to or cancel runs on a cluster, and show their logs",
		Long: `List the runs on a cluster whose outputs are in a folder (default the present one) or below an object store's
address, wait for the run of an output, cancel it, or show what its jobs have written. A run is known from the
files beside its output, or a note there in an object store, on any machine that sees them. Files may be
anybody's: only attach and cancel ask a batch system, and only that of a run which you have submitted with this run
log, or which --on names. What a cancelled run has done stays: the same command again resumes there.`,
		Example: `  gonbext jobs
  gonbext jobs list s3://bucket/folder
  gonbext jobs attach centred.zarr
  gonbext jobs cancel centred.zarr
  gonbext jobs attach centred.zarr --on dask://head:8786    submitted on another machine`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			do, path := "list", "."
			if len(args) > 0 {
				do = args[0]
			}
			if !slices.Contains([]string{"list", "attach", "cancel", "logs"}, do) {
				return usagef("jobs %s: say first what to do, list, attach, cancel or logs, and then of which output; what is to resume a run is the command that submitted it", do)
			}
			if len(args) > 1 {
				path = args[1]
			} else if do != "list" {
				return usagef("jobs %s: say of which output", do)
			}
			runs, err := cluster.Find(c.Context(), path)
			if err != nil {
				return err
			}
			if len(runs) == 0 && do != "list" {
				return notRunning(c, do, path)
			}
			if len(runs) > 1 && do != "list" {
				return usagef("jobs %s: %s has %d runs: name the output of one", do, path, len(runs))
			}
			for _, r := range runs {
				r.Trust(on)
			}
			switch do {
			case "list":
				if len(runs) == 0 && !asJSON {
					fmt.Fprintf(c.ErrOrStderr(), "%s: no run on a cluster computes an output there now\n", path)
				}
				return listJobs(c, runs, asJSON)
			case "attach":
				err = runs[0].Wait(c.Context(), func(line string) { fmt.Fprintln(c.ErrOrStderr(), line) })
				if err == nil {
					fmt.Fprintf(c.OutOrStdout(), "%s is whole\n", runs[0].Output())
				}
				return err
			case "cancel":
				err = runs[0].Cancel(c.Context())
				if err == nil {
					fmt.Fprintf(c.OutOrStdout(), "%s: the run is cancelled: the same command again resumes it\n", runs[0].Output())
				}
				return err
			}
			return showLogs(c, runs[0])
		},
	}
	c.Flags().StringVar(&on, "on", "", "the batch system to ask of a run that was submitted elsewhere: slurm, gridengine or dask://HOST:PORT")
	c.Flags().BoolVar(&asJSON, "json", false, "print the list as a JSON array")
	return c
}

// notRunning says what there is of an output that no run computes.
func notRunning(c *cobra.Command, do, path string) error {
	r, why := cluster.Ended(c.Context(), path)
	if r == nil {
		why = errors.New("no run on a cluster computes it now")
		if a, err := store.OpenContext(c.Context(), path); err == nil {
			_ = a.Close()
			why = fmt.Errorf("%w: the array that is there is whole", why)
		}
	} else if do == "logs" {
		return showLogs(c, r)
	}
	return fmt.Errorf("%s: %w", path, why)
}

// showLogs prints what a run's jobs have written.
func showLogs(c *cobra.Command, r *cluster.Run) error {
	text, err := r.Logs()
	if err == nil && text == "" {
		fmt.Fprintf(c.ErrOrStderr(), "%s: the jobs have written nothing\n", r.Output())
	}
	fmt.Fprint(c.OutOrStdout(), text)
	return err
}

// listJobs prints a line for each run, also where its batch system cannot be reached.
func listJobs(c *cobra.Command, runs []*cluster.Run, asJSON bool) error {
	type run struct {
		Output   string    `json:"output"`
		On       string    `json:"on"`
		Begun    time.Time `json:"begun"`
		Progress string    `json:"progress,omitempty"`
		Error    string    `json:"error,omitempty"`
	}
	all := []run{}
	t := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	for _, r := range runs {
		progress, err := r.Progress(c.Context())
		one := run{Output: r.Output(), On: r.On(), Begun: r.Begun(), Progress: progress}
		if err != nil {
			one.Progress, one.Error = "", err.Error()
		}
		all = append(all, one)
		if !asJSON {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", units.Line(one.Output), units.Line(one.On), one.Begun.Format(time.DateTime), units.Line(one.Progress+one.Error))
		}
	}
	if asJSON {
		return printJSON(c.OutOrStdout(), all)
	}
	return t.Flush()
}
