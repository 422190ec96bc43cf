package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/chunking"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

func newChunks() *cobra.Command {
	var file string
	var asJSON bool
	c := &cobra.Command{
		Use:   "chunks PATH [--reads FILE]",
		Short: "Propose chunks for the reads that are to come, with the bytes and requests of each candidate",
		Long: `Propose the chunks, and of many small ones the shards, of a stored array for the reads that are to come.

FILE has a kind of read a line: how often it comes, beside the others, and its lengths along the axes, : for a whole axis. Of 40 years of
daily maps these are time series of a point, maps of a day, and windows of a month:

    100  :x1x1
    10   1x:x:
    1    30x64x64

Without --reads they are what earlier runs have read of the array, by their records: each run of an expression with the array's
number of axes counts as one read of its whole domain.

Bytes are those of the chunks that a read touches, before compression, and requests what they take of an object store; both are means over
all places where the read may lie. Chunks have 1 to 8 MiB: of smaller ones a request costs more than its bytes, and larger ones fill a
budget. Among these the first candidate takes the fewest bytes; the others are the chunks that the array has, and those that are the best for one
kind of read alone. gonbext convert --chunks auto:FILE writes the first.`,
		Example: `  gonbext chunks era5.zarr --reads reads.txt
  gonbext convert era5.zarr series.zarr --chunks auto:reads.txt`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			a := oocore.OpenContext(c.Context(), args[0])
			if err := a.Err(); err != nil {
				return failure(err)
			}
			reads, unused, err := readsOf(a, args[0], file)
			if err != nil {
				return err
			}
			of := chunking.NewArray(a.Shape(), a.DType().Size())
			all := of.Candidates(a.Chunks(), nil, reads)
			if asJSON {
				return printJSON(c.OutOrStdout(), map[string]any{"path": args[0], "shape": a.Shape(), "dtype": a.DType().String(), "reads": reads,
					"chunks": all[0].Chunks, "shards": all[0].Shards, "candidates": all})
			}
			if unused > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "gonbext: %d runs with another number of axes are left out\n", unused)
			}
			return printCandidates(c.OutOrStdout(), all, reads, a.Chunks())
		},
	}
	c.Flags().StringVar(&file, "reads", "", "the reads that are to come (default those of earlier runs)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: chunks, shards and candidates")
	return c
}

// readsOf are the reads in a file or, where that is "", of earlier runs, of which some cannot be used.
func readsOf(a *oocore.Array, path, file string) (reads []chunking.Read, unused int, err error) {
	if a.Size() == 0 || a.Dims() == 0 {
		return nil, 0, fmt.Errorf("%s of shape %s has no chunks to choose", path, host.FormatShape(a.Shape()))
	}
	if file == "" {
		if reads, unused, err = recordedReads(path, a.Shape()); err == nil && len(reads) == 0 {
			err = usagef("no record of a run that reads %s with its %d axes is kept: say with --reads what is to be read", path, a.Dims())
		}
		return reads, unused, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, usagef("the reads: %w", err)
	}
	defer f.Close()
	if reads, err = chunking.Parse(f, a.Shape()); err != nil {
		err = usagef("%s: %w", file, err)
	}
	return reads, 0, err
}

// recordedReads are what runs have read of the array at a path.
func recordedReads(path string, shape []int) (reads []chunking.Read, unused int, err error) {
	dir, err := record.Dir()
	if err != nil {
		return nil, 0, err
	}
	names, err := record.Names(dir)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		r, err := record.Read(filepath.Join(dir, name))
		if err != nil || r.Header.PlanOnly {
			continue // it may be of a version that is not known
		}
		for _, s := range r.Header.Stages {
			if !slices.ContainsFunc(s.Work, func(w record.Work) bool { return samePath(w.Path, path) && w.Of != record.Encoding }) {
				continue
			}
			if len(s.Shape) != len(shape) {
				unused++
				continue
			}
			lengths := slices.Clone(s.Shape)
			for d := range lengths {
				lengths[d] = max(min(lengths[d], shape[d]), 1)
			}
			i := slices.IndexFunc(reads, func(r chunking.Read) bool { return slices.Equal(r.Lengths, lengths) })
			if i < 0 {
				i, reads = len(reads), append(reads, chunking.Read{Lengths: lengths})
			}
			reads[i].Weight++
		}
	}
	return reads, unused, nil
}

// samePath reports two names of one path.
func samePath(a, b string) bool {
	if a == b || a == "" || host.Remote(a) || host.Remote(b) {
		return a == b && a != ""
	}
	x, err := filepath.Abs(a)
	y, failed := filepath.Abs(b)
	return err == nil && failed == nil && x == y
}

// printCandidates prints a table of candidates.
func printCandidates(w io.Writer, all []chunking.Candidate, reads []chunking.Read, present []int) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s%s\n\n", "chunks ", units.Shape(all[0].Chunks))
	if all[0].Shards != nil {
		text.Reset()
		fmt.Fprintf(&text, "chunks %s in shards %s\n\n", units.Shape(all[0].Chunks), units.Shape(all[0].Shards))
	}
	row := func(name string, c chunking.Count) {
		fmt.Fprintf(&text, "  %-28s %12s %12.1f\n", name, units.Bytes(int64(c.Bytes)), c.Requests)
	}
	for i, c := range all {
		name := units.Shape(c.Chunks)
		switch {
		case i == 0:
			name += ", proposed"
		case slices.Equal(c.Chunks, present):
			name += ", as it is"
		}
		fmt.Fprintf(&text, "%-30s %12s %12s\n", name, "a read takes", "requests")
		row("mean", c.Count)
		for k, one := range c.Reads {
			row(units.Shape(reads[k].Lengths), one)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// autoChunks replaces auto:FILE, of --chunks, by the proposal for an array.
func (j *job) autoChunks(a *oocore.Array, path string) error {
	file, auto := strings.CutPrefix(j.chunks, "auto:")
	if !auto || a.Err() != nil {
		return nil
	}
	if file == "" {
		return usagef("--chunks auto: needs the file with the reads, as in auto:reads.txt")
	}
	reads, _, err := readsOf(a, path, file)
	if err != nil {
		return err
	}
	of := chunking.NewArray(a.Shape(), a.DType().Size())
	best := of.Choose(reads)
	if j.shards == "" {
		best = of.Shard(best, reads)
	}
	j.chunks = shapeFlag(best.Chunks)
	if best.Shards != nil {
		j.shards = shapeFlag(best.Shards)
	}
	return nil
}

// shapeFlag is a shape as flags have it.
func shapeFlag(shape []int) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(shape), "[]")), "x")
}
