// Package gonbext is the notebook's face of package oocore: cells that work on
// arrays larger than memory, within a budget, and show what they allocated.
//
// In the gonbext kernel a cell begins with %%memory or %%footprint, which
// generate a call of Memory or Footprint. In stock GoNB one writes it:
//
//	%%
//	defer gonbext.Memory(gonbext.Budget("512MiB"))()
//	x := oocore.Open("acts.npy")
//	gonbext.Save(x.Sub(x.Mean(0)), "centred.npy")
//
// Show shows an array; Plot, Hist, HeatMap and Image draw arrays larger than memory: what a
// picture shows of them is computed within the budget.
//
// Save, Collect and Show end the cell where they fail, with one line that names
// the cause and the user's own line, so that a cell needs no error plumbing.
// Those who want the error call oocore with Context.
//
// The cell's process draws nothing. It leaves a record of each run in the run
// log, and the kernel, or the gonbext command as a child process, makes the
// report of it. So cells link no chart code, and a report comes even when the
// cell panics, exits or is killed.
package gonbext
