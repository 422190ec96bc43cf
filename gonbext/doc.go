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
// The value of a cell's last line is shown, an array's as a card; a call of your own function
// too, which this cell or an earlier one declares, and in a cell of statements one of a function of
// Go's library with one value. Under a plain %%, where programs end in calls for what they do, a call
// is shown where it gives an array or is of package oocore.
//
// Show shows a value anywhere.
//
// # Figures
//
// Plot, Scatter, Hist, HeatMap, Contour, Facets, Image and Panels draw arrays larger than memory: what a picture shows of
// them is computed within the budget, in the passes that each names. Figure says what they do not know by themselves, and
// saves them:
//
//	gonbext.Figure{Title: "Anomaly", File: "anomaly.pdf"}.HeatMap(t.Sub(t.Mean(0)).Slice("0"))
//	gonbext.Figure{Log: "y", Series: []gonbext.Series{
//		{Name: "10–90 %", X: dates, Low: q10, High: q90},
//		{Name: "mean", X: dates, Y: mean},
//	}}.Show()
//
// Axes have the labels, names and units of the arrays' dimensions. Figure.File needs the gonbext command, which draws.
//
// # Magics
//
//	%%memory [flags]               runs the cell within a budget; progress and a chart of memory while it runs, a report after it
//	%%footprint [flags]            plans the same cell and runs nothing: bytes, passes, a tree of stages
//	%footprint 3075200x512 float32 bytes by dtype beside what this machine allows
//	%chunks acts.zarr              the chunk grid of a stored array, and what each chunk takes
//	%runs [all] [N]                earlier runs of this notebook, by number
//	%report [RUN]                  one of them drawn again, also after a reload or restart
//	%compare A B                   two laid over each other, with what grew: %compare last-1 last
//	%budget [SIZE|none]            for the cells that follow; likewise %device [NAME|none]
//	%who, %whos                    the variables that earlier cells have left, and their types, shapes and bytes
//	%gonbext, %help, %lsmagic      help, as %%memory --help, %%memory? and Shift-Tab are
//
// Flags are --budget 512MiB, --device cpu or model:8GiB (a modelled GPU of that memory),
// --chunks 1024x512, --chart auto|svg|none and --fresh. Go's own values count towards the
// budget too, by line of the cell; what is over it ends the cell, not the kernel.
//
// # Values
//
// Each cell is a program of its own. What one with statements declares in its outermost block (:=, and var beside
// statements) is there in later cells that mention it, themselves or by functions that they call, with the value that
// it had when its cell ended, until it is declared anew; assignments carry on. Arrays are carried as the expressions
// that they are, and an error where a file has changed since; plans as what they say; other values with all that they
// point to, each allocation once. Nothing runs twice for it. A cell that fails leaves all as it was. A cell that mentions
// ten of them takes at most 20 ms more than one that declares them: go test -bench BenchmarkCell
// ./gonbext/internal/magic has both (331 and 333 ms, the least of 25 beside other work).
//
// All values of a notebook may take 256 MiB. They count in the budget of a cell that mentions them: what does not fit
// is a *oocore.MemoryError with its name. Channels, functions, open files, contexts, arrays of Go functions (MapChunks),
// and what a goroutine that still runs at its cell's end may write to, are not carried: a cell that mentions one is
// rejected, with the cell that declares it, its type and the reason. A function that a carried value of another type
// breaks is left out of the cells that do not call it; where one does, the compiler's fault says which declaration
// changed. %rm NAME and %reset forget values, and so does the end of the kernel. In stock GoNB nothing is carried.
//
// # Coming from Python
//
// A cell that fails for a habit of Python's says the Go line that does the same, made from the cell:
//
//	b + 1, 2*b, b > 0, b ** 2          b.Add(1), b.Mul(2), b.Greater(0), b.Square()
//	b[0], b[1:3, 0], b[mask]           b.Slice("0"), b.Slice("1:3, 0"), b.Mask(gonbext.Context(), mask)
//	b.shape, len(b), b.T, b.dtype      b.Shape(), b.Shape()[0], b.T(), b.DType()
//	np.sin(b), b.mean(axis=0)          b.Sin(), b.Mean(0)
//	np.zeros((3, 3)), np.load("x.npy") oocore.Zeros(oocore.Float64, 3, 3), oocore.Open("x.npy")
//	x = 3, True, None, and, not        x := 3, true, nil, &&, !
//	for i in range(3):                 for i := range 3 {
//	print(x), f"{x:.2f}", help(x)      fmt.Println(x), fmt.Sprintf("%.2f", x), x?
//	plt.plot(b), plt.imshow(b)         gonbext.Plot(b), gonbext.Image(b)
//	%timeit, %%timeit, %prun           %%time, %%memory
//	!pip install x                     !*go get MODULE
//
// Where several lines are Python's the whole cell is shown in Go. Cells that compile are never commented on. In Go
// itself 7 // 2 is 7 with a comment behind it, 7 / 2 is 3, 'a' is a number, and print writes to the error output.
//
// Cells import Go's standard packages and this module's by using them. Those of other modules are fetched by
// !*go get MODULE once, or by %autoget for whatever the cells that follow import.
//
// # Errors
//
// Save, SaveAll, Collect and Show end the cell where they fail, with one line that names
// the cause and the user's own line, so that a cell needs no error plumbing.
// Those who want the error call oocore with Context.
//
// Cells link without cgo, in half the time; %env CGO_ENABLED 1 brings it back. They
// compile against the source that the command was built from, and only where no other
// user can change it.
//
// The cell's process draws nothing. It leaves a record of each run in the run
// log, and the kernel, or the gonbext command as a child process, makes the
// report of it. So cells link no chart code, and a report comes even when the
// cell panics, exits or is killed.
package gonbext
