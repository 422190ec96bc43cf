package codec

// Patches reports that an encoder that streams goes back to the chunk's beginning
// when it ends, by Sink.WriteAt.
func (p *Pipeline) Patches() bool {
	for _, f := range p.filters {
		if s, ok := f.(streamer); ok && s.ends() {
			return true
		}
	}
	return false
}
