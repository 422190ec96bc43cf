package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// mergeExpressions merge models tensor by tensor: linear (Wortsman et al., arXiv:2203.05482), task arithmetic (Ilharco
// et al., arXiv:2212.04089), SLERP (Shoemake, SIGGRAPH 1985) and TIES (Yadav et al., arXiv:2306.01708).
const mergeExpressions = `  linear
    gonbext compute --each '0.7*a + 0.3*b' a=math.safetensors b=code.safetensors -o merged.safetensors
  task arithmetic
    gonbext compute --each 'w + 0.7*(a - w) + 0.3*(b - w)' w=base.safetensors a=math.safetensors b=code.safetensors -o merged.safetensors
  SLERP, t = 0.3
    gonbext compute --each 'c = sum(a*b) / sqrt(sum(a*a) * sum(b*b)); o = arccos(c);
      m = where(abs(c) > 0.9995, 0.7*a + 0.3*b, (sin(0.7*o)*a + sin(0.3*o)*b) / sin(o))' a=math.safetensors b=code.safetensors -o merged.safetensors
  TIES, density 0.2
    gonbext compute --each 'd = a - w; p = where(abs(d) > quantile(abs(d), 0.8, "inverted_cdf"), d, 0);
      e = b - w; q = where(abs(e) > quantile(abs(e), 0.8, "inverted_cdf"), e, 0);
      s = where(p + q >= 0, 1, -1); f = sign(p) == s; g = sign(q) == s;
      m = w + (p*f + q*g) / maximum(add(f, g, "dtype=float32"), 1)' w=base.safetensors a=math.safetensors b=code.safetensors -o merged.safetensors`

func newMerge() *cobra.Command {
	var j job
	var e each
	var adapters []string
	var to string
	c := &cobra.Command{
		Use:   "merge BASE --lora ADAPTER -o DST",
		Short: "Merge a LoRA adapter into a checkpoint, within a budget",
		Long: `Merge a LoRA adapter into a checkpoint, in one run, within a budget of memory.

ADAPTER is the folder of a PEFT adapter, with adapter_config.json and adapter_model.safetensors or .bin. A weight W that
it is for becomes W + B·A · alpha / r (alpha / √r where use_rslora is set), with the values of PEFT's
merge_and_unload, DoRA, embeddings, biases and convolutions too; all other tensors are copied. --lora ADAPTER=0.5
adds half; several are merged one after the other. BASE and DST are collections, as convert has them. --dtype, --only
and --except say in which type the merged tensors are written.

Whole models a and b of one base w are merged by definitions for compute --each, to mergekit's values:

` + mergeExpressions,
		Example: `  gonbext merge model.safetensors.index.json --lora adapter -o merged/model.safetensors.index.json --memory 512MiB
  gonbext merge model.safetensors --lora style=0.7 --lora subject -o merged.safetensors
  gonbext merge model.safetensors --lora adapter -o merged.gguf --template model.gguf --codec q8_0`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := j.count(c); err != nil {
				return err
			}
			if len(adapters) == 0 || to == "" {
				return usagef("--lora says which adapter, and -o where the result goes: gonbext merge BASE --lora ADAPTER -o DST")
			}
			if err := notPiped("merge", args[0], to); err != nil {
				return err
			}
			paths := []string{args[0], to}
			for _, adapter := range adapters {
				folder, _, _ := strings.Cut(adapter, "=")
				paths = append(paths, filepath.Join(folder, "adapter_model.safetensors"))
			}
			if err := j.checkReport(paths...); err != nil {
				return err
			}
			base, err := openAll(args[0])
			if err != nil {
				return err
			}
			all := base
			for _, adapter := range adapters {
				all = all.MergeLoRA(adapter)
			}
			if err := all.Err(); err != nil {
				return failure(err)
			}
			if all, err = e.changed(all, nil); err != nil {
				return err
			}
			return j.saveCollection(c, all, &e, to)
		},
	}
	c.Flags().StringArrayVar(&adapters, "lora", nil, "folder of a PEFT adapter, or FOLDER=WEIGHT; given again for each of several")
	c.Flags().StringVarP(&to, "output", "o", "", "where the merged checkpoint goes")
	c.Flags().StringVar(&e.dtype, "dtype", "", "element type of the output (default that of BASE)")
	e.flags(c)
	j.flags(c)
	return c
}
