package exec

import "testing"

// WritePlanFile writes an encoded plan as a coordinator does.
func WritePlanFile(t testing.TB, path string, encoded []byte) string {
	t.Helper()
	if err := writePlan(path, encoded); err != nil {
		t.Fatal(err)
	}
	return path
}
