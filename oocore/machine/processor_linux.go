package machine

import (
	"os"
	"strings"
)

func readProcessor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return processorOf(string(text))
}

// processorOf finds the name of the first processor in the text of /proc/cpuinfo. Arm's
// has numbers in its place.
func processorOf(cpuinfo string) string {
	first, _, _ := strings.Cut(cpuinfo, "\n\n")
	var numbers []string
	for line := range strings.Lines(first) {
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.Join(strings.Fields(value), " ")
		switch key {
		case "model name":
			return value
		case "CPU implementer", "CPU part", "CPU variant":
			numbers = append(numbers, value)
		}
	}
	return strings.Join(numbers, " ")
}
