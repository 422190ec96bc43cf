package plan

//go:generate go test -run TestEngineIsThatOfTheSources -update .

// Engine names the code that results depend on, down to the last bit. It is part of a
// fingerprint: what another engine began is not resumed, and what it computed is computed
// again. It is derived from the sources themselves, so that nobody has to remember to
// change it; a test fails where it is stale.
const Engine = "gonbext-b6b7070b952a"
