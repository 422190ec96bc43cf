//go:build !race

package budget

const detector = false
