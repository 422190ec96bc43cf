package relay

import (
	"reflect"
	"testing"
)

func TestEnvironTellsPipes(t *testing.T) {
	const environ = "A=1\x00GONB_PIPE=/tmp/p1\x00GONBEXT_SESSION=x\x00GONB_PIPE_BACK=/tmp/p2\x00"
	d, ok := parseEnviron([]byte(environ), "GONBEXT_SESSION=x")
	if !ok || !reflect.DeepEqual(d.pipes, []string{"/tmp/p1", "/tmp/p2"}) {
		t.Errorf("%v, %v", d, ok)
	}
	if _, ok := parseEnviron([]byte(environ), "GONBEXT_SESSION="); ok {
		t.Error("a part of a value is not the value")
	}
}
