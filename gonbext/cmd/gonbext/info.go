package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/inspect"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/units"
)

func newInfo() *cobra.Command {
	var asJSON, chunks bool
	var other, memory string
	c := &cobra.Command{
		Use:   "info PATH...",
		Short: "Say what a stored array is: shape, dtype, chunks, bytes, codec",
		Long: `Say what a stored array is: shape, dtype, chunks and shards, bytes, codec, fill value, dimension names, attributes.

Only the header is read, and of Zarr and N5 arrays the names of the stored chunks: where some are missing it says how
many are stored, since the others read as the fill value, whether they were left out or lost. Beyond 100,000 chunks,
a thousand in an object store, and of shards there, only --chunks does that. With --chunks the stored chunks are
listed, for the bytes that they take, the ratio to those of the elements, and how many are missing. Of what holds
several arrays (a Zarr group, an npz, safetensors, HDF5, FITS or TIFF file, the index of a checkpoint, a folder) it
says what each of them is, and what the arrays of each dtype have together; of more than 40, those stand in one line
that are alike but for numbers in their names, and --json has each. With --error it is compared with another such file, array by array, or an array with
another: the largest and the mean absolute difference, and the cosine of the two, in one run over both. Bars are
of the means, or of their logarithms where these lie more than a factor of a hundred apart.

Of several paths --json prints an object each, on a line of its own; one that cannot be read is told of, and the exit
status is 1. The PATH - is the head of an npy file from standard input, and -?shape=4x5&dtype=float32 bare elements.`,
		Example: `  gonbext info acts.npy
  gonbext info acts.zarr --chunks
  gonbext info *.npy --json
  gonbext info weights.safetensors
  gonbext info weights.safetensors --error half.safetensors
  gonbext info 'acts.bin?shape=3075200x512&dtype=float32' --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if other != "" {
				if len(args) > 1 {
					return usagef("--error compares one path with another: give one")
				}
				if err := notPiped("--error", args[0], other); err != nil {
					return err
				}
				var opts []oocore.Option
				if memory != "" {
					if _, err := units.ParseSize(memory); err != nil {
						return usagef("--memory: %w", err)
					}
					opts = append(opts, oocore.Memory(memory))
				}
				all, err := compareCollections(c.Context(), args[0], other, opts)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.OutOrStdout(), map[string]any{"path": args[0], "other": other, "arrays": all})
				}
				return printDifferences(c.OutOrStdout(), all)
			}
			var failures []error
			for n, path := range args {
				i, err := describe(c, path, chunks)
				switch {
				case err != nil:
					if failures = append(failures, err); asJSON && len(args) > 1 {
						err = printLine(c.OutOrStdout(), map[string]any{"path": path, "status": oocore.StatusFailed, "error": errorText(err)})
					} else {
						err = nil // it is told at the end
					}
				case asJSON && len(args) > 1:
					err = printLine(c.OutOrStdout(), i)
				case asJSON:
					err = printJSON(c.OutOrStdout(), i)
				default:
					text := i.Text()
					if n > 0 {
						text = "\n" + text
					}
					_, err = io.WriteString(c.OutOrStdout(), text)
				}
				if err != nil {
					return err
				}
			}
			if err := errors.Join(failures...); err != nil && len(args) > 1 {
				return errors.Join(printedError{err}, err)
			} else {
				return err
			}
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, of several paths one a line")
	c.Flags().StringVar(&other, "error", "", "compare with the arrays of this path, name by name")
	c.Flags().StringVar(&memory, "memory", "", "with --error: bytes that the process may take, such as 512MiB (default 70 % of what is free)")
	c.Flags().BoolVar(&chunks, "chunks", false, "list the stored chunks: their bytes, their ratio, and how many are missing")
	return c
}

// describe says what is at a path, or comes from standard input.
func describe(c *cobra.Command, path string, chunks bool) (interface{ Text() string }, error) {
	if _, ok := throughPipe(path); !ok {
		return inspect.Describe(c.Context(), stacked(path), chunks)
	}
	var p pipes
	if _, err := p.open(c, path); err != nil {
		return nil, err
	}
	return inspect.Of(c.Context(), p.in, path, chunks)
}

// printJSON writes one object, indented for people, on the standard output.
func printJSON(w io.Writer, v any) error { return encode(w, v, "  ") }

// printLine writes one object on a line.
func printLine(w io.Writer, v any) error { return encode(w, v, "") }

func encode(w io.Writer, v any, indent string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	var b strings.Builder
	for _, r := range text.String() { // what a terminal obeys is in strings only, where it can be written otherwise
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
