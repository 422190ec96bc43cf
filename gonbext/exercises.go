package gonbext

import "github.com/gonbext/gonbext/oocore"

// exercises are those of the lessons, by lesson and number. Lessons and answers
// are tested against each other.
var exercises = map[string]*exercise{
	"01.1": {
		want: 524_288.0, because: "1 GiB by 512 × 4 bytes.",
		hint: "A row has 512 elements of 4 bytes. How many of them are 2³⁰ bytes?",
		slips: []slip{
			{2_097_152.0, "an element has 4 bytes."},
			{262_144.0, "a float32 has 4 bytes, not 8."},
			{488_281.0, "1 GiB is 2³⁰ bytes, not 10⁹."},
		},
	},
	"01.2": {
		want: []int{4096, 512}, because: "4,096 rows of 512 × 4 bytes are 8 MiB, one piece of the file.",
		hint: "A row has 512 × 4 bytes = 2 KiB. How many of them are 8 MiB?",
		slips: []slip{
			{[]int{512, 4096}, "the array has 512 columns: rows come first."},
			{[]int{3_075_200, 512}, "that is the whole array."},
			{[]int{2048, 512}, "that is 4 MiB: a float32 has 4 bytes, not 8."},
		},
	},
	"02.1": {
		want: 40_000_000.0, because: "10 chunks of 1,000 × 1,000 × 4 bytes: a chunk is decoded whole.",
		hint: "How many chunks does a column go through? How many bytes has a chunk?",
		slips: []slip{
			{40_000.0, "those are the column's own elements. A chunk is decoded whole."},
			{4_000_000.0, "that is one chunk. A column goes through ten."},
			{10_000_000.0, "times the 4 bytes of a float32."},
			{400_000_000.0, "that is the whole map. A column goes through 10 of its 100 chunks."},
		},
	},
	"02.2": {
		want: 16.0, because: "2 × 8 shards of 2,048 × 1,024, whatever the chunks in them.",
		hint: "Each shard is one file. How many of 2,048 × 1,024 cover 4,096 × 8,192?",
		slips: []slip{
			{2048.0, "those are the chunks. A shard has many of them in one file."},
			{128.0, "those are the chunks of one shard."},
		},
	},
	"03.1": {
		want: 16.5, because: "8 MiB of the convolution, 8 of the rectifier, and half of one of the pooling, which keeps one element of 16.",
		hint: "Each of the three layers' results is kept. How many times the input is each?",
		slips: []slip{
			{8.25, "that is four directions."},
			{8.0, "the results of the rectifier and of the pooling are kept, too."},
			{16.0, "the result of the pooling is kept, too."},
			{8.5, "the rectifier's result is kept beside the convolution's: its gradient needs what came out of it."},
			{17.5, "the input is there anyway: the question is what comes on top of it."},
			{24.0, "the pooling keeps one element of each 4 × 4."},
		},
	},
	"03.2": {
		want: func() *oocore.Array {
			film := oocore.Random(oocore.Float32, 3, 20, 16, 16)
			return film.Sub(film.Mean(0)).Abs().Max(0)
		},
		because: "Two passes: one for the mean, one for the largest difference from it.",
		hint:    "film.Mean(0) has one value a pixel, and is broadcast against all frames; then Abs, then Max(0).",
	},
	"04.1": {
		want: 1000.0, because: "10 × 5 blocks of C, each a sum of 20 products.",
		hint: "C is 10,240 × 5,120: count its blocks. Each is a sum over k of products of two blocks.",
		slips: []slip{
			{50.0, "one product for each block of C leaves the sum over k out: that is the mistake of the first section."},
			{200.0, "that is the number of A's blocks. Each is multiplied with a whole row of blocks of B."},
			{100.0, "that is the number of B's blocks. Each is multiplied with a whole column of blocks of A."},
			{300.0, "those are the blocks of A and B. Each is multiplied more than once."},
		},
	},
	"04.2": {
		want: 8_388_608_000.0, because: "1,000 products × 2 blocks × 1,024 × 1,024 × 4 bytes.",
		hint: "The number of block products, times two blocks, times the bytes of a block.",
		slips: []slip{
			{4_194_304_000.0, "a product reads a block of A and one of B."},
			{1_258_291_200.0, "that reads both matrices once. A block of A is read for 5 products, one of B for 10."},
			{2_097_152_000.0, "times the 4 bytes of a float32."},
		},
	},
	"04.3": {
		want: func() *oocore.Array {
			return oocore.Random(oocore.Float64, 1, 96, 64).MatMul(oocore.Random(oocore.Float64, 2, 64, 96))
		},
		because: "A sum over k of (columns of A) × (rows of B).",
		hint:    "Cut A's columns and B's rows at the same places, multiply each pair, and Add the two products.",
	},
	"05.1": {
		want: 21.0, because: "1,021 = 5 × 200 + 21.",
		hint: "What remains of 1,021 when batches of 200 are taken from it?",
		slips: []slip{
			{200.0, "200 does not divide 1,021."},
			{5.0, "that is the number of whole batches."},
			{221.0, "one more whole batch fits."},
		},
	},
	"05.2": {
		want: 136.0 * 136 / (128 * 128), within: 0.002, because: "136² / 128² = 1.129: 13 % more elements are read than computed.",
		hint: "A tile of 128 × 128 reads 4 more on each of its four sides. Divide the areas.",
		slips: []slip{
			{136.0 / 128, "the halo is on either side, 128 + 4 + 4, and along both axes."},
			{136.0*136/(128*128) - 1, "those are the elements that are read in addition. How many are read in all?"},
			{1.0, "Go divides whole numbers to a whole number. Write one of them as 136.0."},
		},
	},
	"05.3": {
		want: 0.1, within: 0.01, because: "Half a step: 25.4 / 127 / 2.",
		hint: "The largest magnitude becomes 127, so one step is 25.4 / 127. How far is a number from its nearest step at most?",
		slips: []slip{
			{0.2, "that is the step. Rounding goes to the nearest."},
			{0.05, "that was for numbers up to 12.7."},
		},
	},
	"06.1": {
		want: 5305.0, because: "Lists of 500, 240 and 320 numbers and a weight, five times: 1 of 7,238.",
		hint: "A component has three lists, of 500, 240 and 320 numbers, and a weight. There are five of them.",
		slips: []slip{
			{192_000_000.0, "lists are kept, not their product."},
			{1061.0, "that is one component."},
			{5300.0, "each component has a weight, too."},
		},
	},
	"06.2": {
		want: 8992.0, because: "A core of 8 × 8 × 8, and factors of 500 × 8, 240 × 8 and 320 × 8.",
		hint: "The core has 8 × 8 × 8 numbers. Each of the three factors has 8 columns, as long as its axis.",
		slips: []slip{
			{512.0, "that is the core. It means nothing without its factors."},
			{8480.0, "that is the factors without the core."},
		},
	},
	"06.3": {
		want: 10.0, because: "Rank 10 keeps 10 × (67 + 12 + 1) = 800 of 804 numbers; rank 11 keeps 880, more than the table.",
		hint: "A component of a 67 × 12 table has 67 + 12 numbers and a weight. The table has 804.",
		slips: []slip{
			{11.0, "11 × 80 = 880 is more than 804."},
			{12.0, "that is the full rank: 12 × 80 = 960 is more than 804."},
		},
	},
	"07.1": {
		want: 26_843.0, because: "8 GiB / (4 × 10,000 × 8 bytes), rounded down.",
		hint: "Four buffers of rows × 10,000 × 8 bytes have to fit 8 × 2³⁰ bytes.",
		slips: []slip{
			{107_374.0, "one buffer alone fits so. There are four: two inputs and two outputs."},
			{53_687.0, "while one tile is computed, the next comes in: four buffers, not two."},
			{25_000.0, "8 GiB are 8 × 2³⁰ bytes, not 8 × 10⁹."},
		},
	},
	"07.2": {
		want: 405.0, because: "The first tile takes 9 ms, and each of the 99 others comes out 4 ms after the one before.",
		hint: "The first tile goes through all three lanes: 4 + 1 + 4. Then one comes out each time that the slowest lane is free.",
		slips: []slip{
			{900.0, "that is one stream, in which nothing overlaps."},
			{400.0, "the first tile has to be computed and copied back, too."},
			{396.0, "the first tile takes longer than those that follow."},
		},
	},
	"07.3": {
		want: 480.0, within: 0.005, because: "3 × 8n² bytes at 25 GB/s take as long as 2n³ operations at 10¹² a second: n = 24 / 25e9 × 10¹² / 2 = 480. From 481 on the arithmetic takes longer.",
		hint: "Write down both times: how many bytes are three matrices of n × n float64, and how long do 2n³ operations take? Then divide by n².",
		slips: []slip{
			{320.0, "the product comes back over the link, too: three matrices, not two."},
			{160.0, "three matrices cross the link, not one."},
			{60.0, "an element has 8 bytes."},
			{240.0, "a float64 has 8 bytes, not 4."},
			{960.0, "a product has 2n³ operations: a multiplication and an addition for each pair."},
		},
	},
	"08.1": {
		want: 3640.0, because: "1,073,741,824 / 294,912 = 3,640.9: the last one does not fit.",
		hint: "1 GiB by 384 × 192 × 4 bytes, rounded down.",
		slips: []slip{
			{3641.0, "the last one does not fit whole."},
			{14_563.0, "an element has 4 bytes."},
		},
	},
	"08.2": {
		want: 1.0, because: "32 MiB are free, and no two of them lie side by side.",
		hint: "Every second block is still in use. How long is the longest stretch between two of these?",
		slips: []slip{
			{32.0, "that is what is free in all. A request needs one stretch."},
			{2.0, "no two free blocks lie side by side."},
		},
	},
	"08.3": {
		want: 1_310_720.0, because: "10 layers × 32 rows × 1,024 × 4 bytes = 1.25 MiB for 32 rows; it grows with the batch, and the weights do not.",
		hint: "Each layer's result has 32 × 1,024 float32, and all ten are kept.",
		slips: []slip{
			{131_072.0, "that is one layer's result: inference keeps one at a time."},
			{41_943_040.0, "those are the weights."},
			{327_680.0, "times the 4 bytes of a float32."},
		},
	},
	"09.1": {
		want: 602.0, because: "1,502 − 900: what is on disk, whole and synced, is not computed again.",
		hint: "A run that resumes computes what the first one left.",
		slips: []slip{
			{1502.0, "that is a run that starts over."},
			{900.0, "those are done."},
		},
	},
	"09.2": {
		want: 2.0, because: "One read and one write: the steps between them work on a tile that is in memory.",
		hint: "The four steps are one stage. What crosses the disk is what goes in and what comes out.",
		slips: []slip{
			{8.0, "that is four passes, each with a read and a write: what happens when every step is saved."},
			{4.0, "steps that are fused write nothing between them."},
			{5.0, "steps that are fused write nothing between them."},
		},
	},
	"09.3": {
		want: func() *oocore.Array {
			x := oocore.Random(oocore.Float64, 9, 1000, 8)
			return x.Sub(x.Mean(0)).Div(x.Std(0))
		},
		because: "Nothing was computed until Check asked for the elements.",
		hint:    "Subtract each column's mean, and divide by each column's standard deviation: x.Mean(0), x.Std(0).",
	},
	"10.1": {
		want: 267.0, because: "30 s are 15 tasks of 2 s, and 4,000 / 15 is 266.7: the last element has what is left.",
		hint: "How many tasks of 2 seconds are 30 seconds?",
		slips: []slip{
			{4000.0, "that is a job for each task, and a queue that takes as long to fill as the work."},
			{266.0, "the last tasks are in an element, too."},
		},
	},
	"10.2": {
		want: 7.0, because: "Six elements, and the one that was lost again: what is done has its report, and stays.",
		hint: "Only what has no report is submitted again.",
		slips: []slip{
			{6.0, "that leaves out the element that was lost."},
			{8.0, "the element that was done before the worker died is not lost."},
			{12.0, "that is a run that starts over."},
		},
	},
	"11.1": {
		want: 241_664.0, because: "16 × (4,096 + 11,008): two narrow matrices.",
		hint: "B has 4,096 × 16 numbers. And A?",
		slips: []slip{
			{45_088_768.0, "that is the tensor itself."},
			{65_536.0, "that is B. A has 16 × 11,008."},
			{176_128.0, "that is A. B has 4,096 × 16."},
			{966_656.0, "those are bytes of float32. The question is how many numbers."},
		},
	},
	"11.2": {
		want: 45_105_152.0, because: "One byte a weight, and 4,096 scales of 4 bytes.",
		hint: "An int8 has one byte, a float32 four.",
		slips: []slip{
			{45_088_768.0, "the scales have bytes, too."},
			{45_092_864.0, "a float32 has 4 bytes."},
			{90_177_536.0, "that is float16, without scales."},
		},
	},
	"11.3": {
		want: 50.0, within: 0.001, because: "A step is 5.08 / 127 = 0.04, and a weight is off by half of one at most: 0.02, half of the largest in its row.",
		hint: "How long is a step, and how far from the nearest one can a weight be? Compare that with 0.04.",
		slips: []slip{
			{100.0, "a weight goes to the nearest step: it is off by half of one at most."},
			{0.5, "in percent."},
			{0.02, "that is how far off it can be. How many percent of 0.04 is it?"},
			{100 * 0.02 / 5.08, "that is beside the large row. The question is of a small one."},
		},
	},
	"12.1": {
		want: 91.0, because: "31 + 31 + 29: both ends are included, each with all its days.",
		hint: "A month stands for all its days, and both ends of a range are included. Which February is it?",
		slips: []slip{
			{90.0, "2000 was a leap year."},
			{62.0, "the last month is included, with all its days."},
		},
	},
	"12.2": {
		want: 99_671_040.0, because: "12 × 721 × 1,440 × 8 bytes, however many years of days go into them.",
		hint: "Twelve maps of 721 × 1,440 elements. How many bytes has a float64?",
		slips: []slip{
			{12_458_880.0, "those are elements. Each has 8 bytes."},
			{8_305_920.0, "that is one map. There are twelve."},
		},
	},
	"12.3": {
		want: func() *oocore.Array {
			x := oocore.Random(oocore.Float64, 12, 5, 8)
			return x.Slice("1:4").Mean(0).Sub(x.Mean(0))
		},
		because: "The range goes in the order of the labels, from 30 down to -30, with both ends.",
		hint:    "x.Sel(\"lat\", \"30/-30\") is the part from 30° N to 30° S. Take the mean of its rows, less that of all rows.",
	},
}
