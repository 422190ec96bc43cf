// Package cgrouptest tests that every operation finishes in a memory cgroup equal to its budget.
package cgrouptest
