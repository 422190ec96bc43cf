package machine

import "testing"

func TestProcessorOfCPUInfo(t *testing.T) {
	for text, want := range map[string]string{
		"processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC  7B13\n\nprocessor\t: 1\nmodel name\t: other\n": "AMD EPYC 7B13",
		"processor\t: 0\nBogoMIPS\t: 48.00\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n":              "0x41 0x3 0xd0c",
		"": "",
	} {
		if got := processorOf(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCPUTimeGrowsWithWork(t *testing.T) {
	before := CPUTime()
	sum := 0.0
	for i := range 50_000_000 {
		sum += float64(i)
	}
	if CPUTime() <= before || sum == 0 {
		t.Errorf("%v, and %v before", CPUTime(), before)
	}
}
