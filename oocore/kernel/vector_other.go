//go:build !amd64

package kernel

import "github.com/gonbext/gonbext/oocore/dtype"

// Level names the instructions that the loops use: "avx512", "avx2" or "go".
func Level() string { return "go" }

func vectorLookup(Op, dtype.Type) Func { return nil }

func vectorCast(_, _ dtype.Type) Func { return nil }

func randomGroups([]byte, dtype.Type, uint64, uint64) int { return 0 }
