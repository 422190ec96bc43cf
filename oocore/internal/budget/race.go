//go:build race

package budget

// detector reports that the program is built with the race detector, whose own memory, several
// times the program's, never shrinks and is none of what a budget is for.
const detector = true
