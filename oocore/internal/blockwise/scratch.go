package blockwise

// ScratchLayout hands out a task's scratch one after the other, each aligned to 64 bytes. The zero
// value has nothing to hand out and only counts, so that one function of an Op, which
// takes what it works in, serves both Requirements and Fill.
type ScratchLayout struct {
	left []byte
	size int64
}

// ScratchLayout hands out t.Scratch.
func (t *Task) ScratchLayout() *ScratchLayout { return &ScratchLayout{left: t.Scratch} }

// Take returns the next n bytes, of no known contents; nil where they are only counted.
func (p *ScratchLayout) Take(n int) []byte {
	p.size += Aligned(n)
	if p.left == nil {
		return nil
	}
	part := p.left[:n:n]
	p.left = p.left[min(Aligned(n), int64(len(p.left))):]
	return part
}

// Size returns how many bytes Requirements has to ask for, for all that was taken.
func (p *ScratchLayout) Size() int64 { return p.size }

// Aligned returns n bytes, and those up to the next multiple of 64.
func Aligned(n int) int64 { return int64(n+63) &^ 63 }
