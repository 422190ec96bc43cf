// Package plan has what a plan is: stages of chunk tasks with their programs, which encode, are
// checked when they are decoded, and have a fingerprint. Its floors make and use plans, in three steps:
//
//   - Package compile turns an expression into the logical plan, a Plan: stages with their
//     grids, programs, folds and the order of additions. It is made from shapes, dtypes and
//     stores alone, so it is the same for every budget, number of workers, device and machine.
//     It is data: a process that decodes it computes the same bytes.
//   - Package size makes a size.Plan of it for the resources of one run, its device (package
//     device) among them: tiles, slots, which temporary arrays spill, and the predicted bytes.
//     Whoever runs a plan does that. It never decides what results depend on. Both cut shapes
//     into boxes by package shapes.
//   - size.Plan.Header counts what each stage takes in nanoseconds of one core at nominal
//     rates. Package rates converts that to seconds, by what earlier runs on this machine
//     took. Compiling reads the same table, package cost, to decide what is stored and what is
//     computed again.
//
// # One expression, from text to tasks
//
// Let x be 100,000 × 512 float32 in a file of 204,800,000 bytes, and
//
//	(x - mean(x, 0)) / std(x, 0)
//
// be saved in 64 MiB on two cores, of which the process itself takes 24 MiB. ExamplePlan
// computes the figures that follow.
//
// Compile. Package expr reads the text as a graph of a source, two reductions, two views that
// broadcast their results, a subtraction and a division. A reduction is materialised, since
// every element of the result needs all of it; only along the last axes, where rows are short, one
// stage computes it in memory (see Rows). Both are over x along axis 0 and share a pass, so there
// are two stages:
//
//	0: reduce mean(x, 0), std(x, 0), 49 tasks of (2048, 512)
//	1: map (x - mean(x, 0))/std(x, 0), 49 tasks of (2048, 512)
//
// A chunk of 2048 rows has 4 MiB. Stage 0's program has one load and no instructions, and its
// two folds add the elements of each chunk by blocks of 32 × 512, whatever the budget; the
// partials of chunks are merged in order. Stage 1's program loads x and, broadcast along axis
// 0, both results of stage 0, and has two instructions: subtract and divide. Each stage reads
// x once.
//
// Size. 40 MiB are left for buffers. The 2 × 2 KiB of temporary results stay in memory. Each
// stage gets six slots, two for each worker and two that read ahead. A slot reads tiles of 128
// rows (256 KiB), which stay in a core's cache, and computes them by blocks of 32 rows (64
// KiB), one for each register of the program. A slot of stage 1 also has the 4 MiB that it
// writes at once. Stage 0 takes 1,695,744 bytes and stage 1 27,967,488; the peak with the
// temporary results is 27,975,680, and the least budget that would do, with one slot and the
// smallest tiles, 25 MiB.
//
// Cost. Stage 0 reads 204.8 MB from the page cache (0.15 ns a byte, 30.7 ms of a core) and
// folds 51.2 million elements twice (20.0 ms). Stage 1 reads as much again, fills the broadcast
// rows (8.2 ms), subtracts and divides (8.7 ms), uses its buffers for the first time (14.0 ms)
// and writes past the page cache (16.4 ms).
//
// Tasks. Task 0 of stage 1 makes rows 0 to 2047 of the output and task 48 the last 1696; they
// may run in any order, in any process, once stage 0 is done.
package plan
