package kernel

// instructions is a set of instructions; use turns to it until the function that it
// returns is called.
type instructions struct {
	name string
	use  func() func()
}

func levels() []instructions {
	avx2, avx512 := hasAVX2, hasAVX512
	set := func(name string, two, five bool) instructions {
		return instructions{name, func() func() {
			hasAVX2, hasAVX512 = two, five
			return func() { hasAVX2, hasAVX512 = avx2, avx512 }
		}}
	}
	all := []instructions{set("go", false, false)}
	if avx2 {
		all = append(all, set("avx2", true, false))
	}
	if avx512 {
		all = append(all, set("avx512", true, true))
	}
	return all
}
