//go:build !amd64

package kernel

import "github.com/gonbext/gonbext/oocore/dtype"

func vectorLookup(Op, dtype.Type) Func { return nil }

func vectorCast(_, _ dtype.Type) Func { return nil }

func vectorQ8(int, []byte, []float32) bool { return false }

func randomGroups([]byte, dtype.Type, uint64, uint64) int { return 0 }
