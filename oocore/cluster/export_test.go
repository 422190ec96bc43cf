package cluster

// AskOften has waiting ask the batch system each time, until done is called.
func AskOften() (done func()) {
	was := askEvery
	askEvery = 0
	return func() { askEvery = was }
}
