package units

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Bytes(0):                "0 bytes",
		Bytes(1):                "1 byte",
		Bytes(1023):             "1023 bytes",
		Bytes(1024):             "1 KiB",
		Bytes(1536):             "1.5 KiB",
		Bytes(1<<20 - 1):        "1 MiB",
		Bytes(512 << 20):        "512 MiB",
		Bytes(1000 << 20):       "1000 MiB",
		Bytes(6_298_009_600):    "5.87 GiB",
		Bytes(294_912):          "288 KiB",
		Bytes(1_070_596_096):    "1021 MiB",
		Bytes(math.MaxInt64):    "8 EiB",
		Bytes(math.MinInt64):    "-8 EiB",
		Bytes(-1536):            "-1.5 KiB",
		Traffic(6_298_009_600):  "6.3 GB",
		Traffic(12_596_019_200): "12.6 GB",
		Traffic(999):            "999 bytes",
		Traffic(999_999):        "1 MB",
		Rate(6_298_009_600, 5600*time.Millisecond): "1.12 GB/s",
		Rate(1, 0):                          "–",
		Rate(math.MaxInt64, 1):              "9.22 EB/s",
		Exact(6_298_009_600):                "6,298,009,600 bytes",
		Exact(1):                            "1 byte",
		Count(0):                            "0",
		Count(999):                          "999",
		Count(1000):                         "1,000",
		Count(-1234567):                     "-1,234,567",
		Count(math.MinInt64):                "-9,223,372,036,854,775,808",
		Duration(0):                         "0 ns",
		Duration(840 * time.Microsecond):    "840 µs",
		Duration(999_999 * time.Nanosecond): "1 ms",
		Duration(11_240 * time.Millisecond): "11.2 s",
		Duration(59_960 * time.Millisecond): "1 min 00 s",
		Duration(125 * time.Second):         "2 min 05 s",
		Duration(200 * time.Minute):         "3 h 20 min",
		Duration(59*time.Minute + 59_900*time.Millisecond): "1 h 00 min",
		Duration(-time.Second):                             "-1 s",
		Shape([]int{3_075_200, 512}):                       "3,075,200 × 512",
		Shape(nil):                                         "scalar",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("a\nb\tc\x1b[2J\u202e\xff é"), "a b c�[2J�� é"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"512MiB": 512 << 20, "512M": 512 << 20, "512m": 512 << 20, "512 mib": 512 << 20,
		"1.5GB": 1_500_000_000, "1.5GiB": 3 << 29, "64k": 64 << 10, "1": 1, "17 bytes": 17,
		" 2G ": 2 << 30, ".5K": 512, "1.B": 1, "0.1KiB": 102, "8191P": 8191 << 50,
		"9223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{
		"lots", "0", "-1", "", " ", ".", "MiB", "1e9", "1_000", "1/2GB", "0x10", "+1M", "1..5G", "1.5.G",
		"9223372036854775808", "9000P", "NaN", "Inf", "512 Mi B", "0.0001K", "٣M", "1,5GB", strings.Repeat("9", 4000),
	} {
		got, err := ParseSize(s)
		if err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", s, got)
		} else if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "is not a size: ") {
			t.Errorf("ParseSize(%q): %v", s, err)
		}
	}
}

// What Bytes writes, ParseSize reads, to the three figures that are written.
func TestBytesAreReadBack(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		n := rapid.Int64Range(1, 1<<58).Draw(t, "n")
		for _, s := range []string{Bytes(n), Traffic(n)} {
			got, err := ParseSize(s)
			if err != nil || math.Abs(float64(got)-float64(n)) > 0.005*float64(n)+1 { // half of the last figure, and what ParseSize leaves of a byte
				t.Fatalf("%d is written %q and read as %d, %v", n, s, got, err)
			}
		}
	})
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"512MiB", "1.5GB", "lots", "-1", "0", "1e999999999P", ".k"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseSize(s)
		if (err == nil) != (n > 0) {
			t.Errorf("ParseSize(%q) = %d, %v", s, n, err)
		}
	})
}
