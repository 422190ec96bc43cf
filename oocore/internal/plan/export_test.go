package plan

// FirstRevisions and RevisionDifference are what the tests of revisions hold to those of releases.
const FirstRevisions = firstRevisions

var RevisionDifference = revisionDifference

// Revise sets the revisions, and returns what sets them back.
func Revise(to map[string]int) (back func()) {
	had := revisions
	revisions = to
	return func() { revisions = had }
}
