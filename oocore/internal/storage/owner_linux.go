package storage

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// processIdentity tells one process from all others, of other machines too: the boot
// and name space in which it has its number, a blank, and the number with its start.
// It is without the second part for a process that has ended, and "" where /proc is
// not to be had.
func processIdentity(pid int) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	where := strings.TrimSpace(string(boot)) + "/" + space
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return where + " "
	}
	// The name, in brackets, may hold anything; the state is the first word behind it.
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return where + " "
	}
	return fmt.Sprintf("%s %d@%s", where, pid, fields[19])
}
