package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/gonbext/internal/footprint"
	"github.com/gonbext/gonbext/gonbext/internal/inspect"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
)

func newFootprint() *cobra.Command {
	var device, chunks, codec string
	var asJSON bool
	c := &cobra.Command{
		Use:   "footprint SHAPE|MODEL [DTYPE...]",
		Short: "Say what an array of a shape, or a converted model, takes, and what of it would fit here",
		Long: `Say what an array of a shape takes, and what of it would fit here.

Of a MODEL, which is a file or a folder of tensors, it says what each of them takes and all of them: as they are stored or, with --codec,
as convert --codec writes it by the recipes of llama.cpp: f16, bf16, q8_0, q6_k, q5_k_m, q4_k_m, q4_0 and others.
Nothing is converted.`,
		Example: `  gonbext footprint 3075200x512
  gonbext footprint model.safetensors --codec q4_k_m --device 24GiB
  gonbext footprint 3075200x512 float32 float16 --device 8GiB --chunks 1024x512`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var o footprint.Options
			var err error
			if o.Device, err = footprint.DeviceOf(device); err != nil {
				return usagef("--device: %w", err)
			}
			shape, err := host.ParseShape(args[0])
			if err != nil && (codec != "" || exists(args[0])) {
				return modelFootprint(c, args, codec, o.Device, asJSON)
			}
			if err != nil {
				return usageError{err}
			}
			if codec != "" {
				return usagef("--codec is of a model: name a file or a folder of tensors, not a shape")
			}
			for _, name := range args[1:] {
				t, err := dtype.Parse(name)
				if err != nil {
					return usageError{err}
				}
				o.DTypes = append(o.DTypes, t)
			}
			if o.Chunks, err = parseLengths("--chunks", chunks); err != nil {
				return err
			}
			r, err := footprint.New(shape, o, machine.Read())
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), r)
			}
			out, err := r.Output()
			fmt.Fprint(c.OutOrStdout(), out.Text)
			return err
		},
	}
	c.Flags().StringVar(&device, "device", "", "a GPU to compare with others: its name, such as H200, its memory, such as 8GiB, or cuda:0 of this machine; cpu for none")
	c.Flags().StringVar(&chunks, "chunks", "", "a chunk shape to ask about, such as 1024x512")
	c.Flags().StringVar(&codec, "codec", "", "of a model: what it is converted to, such as q4_k_m")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// modelFootprint says what the tensors of a model take.
func modelFootprint(c *cobra.Command, args []string, codec string, device *cuda.Card, asJSON bool) error {
	if len(args) > 1 {
		return usagef("%s is a model, whose types --codec changes: leave out %s", args[0], args[1])
	}
	found, err := inspect.Describe(c.Context(), args[0], false)
	if err != nil {
		return err
	}
	var members []inspect.Member
	switch found := found.(type) {
	case *inspect.Contents:
		members = found.Arrays
	case *inspect.Info:
		members = []inspect.Member{{Name: filepath.Base(args[0]), Info: found}}
	}
	var tensors []footprint.Tensor
	for _, m := range members {
		if m.Info == nil {
			return fmt.Errorf("%s%s: %s", args[0], m.Name, m.Error)
		}
		t := footprint.Tensor{Name: strings.TrimLeft(m.Name, "#/"), Shape: m.Shape, Type: m.DType.String(), Bytes: m.Bytes}
		if m.FileBytes != nil {
			t.Bytes = *m.FileBytes
		}
		if m.Codec != "" && m.Codec != "none" {
			t.Type = m.Codec
		}
		tensors = append(tensors, t)
	}
	m, err := footprint.ModelOf(args[0], codec, tensors, device)
	if err != nil {
		return usagef("--codec: %w", err)
	}
	if asJSON {
		return printJSON(c.OutOrStdout(), m)
	}
	out, err := m.Output()
	fmt.Fprint(c.OutOrStdout(), out.Text)
	return err
}
