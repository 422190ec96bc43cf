package blockwise_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
)

type first struct{ blockwise.Op }

type second struct{ blockwise.Op }

func TestRegisterPanicsForANameThatAnotherTypeHas(t *testing.T) {
	blockwise.Register("register test", first{})
	defer func() {
		text := fmt.Sprint(recover())
		for _, want := range []string{"blockwise_test.first", "blockwise_test.second", `"register test"`} {
			if !strings.Contains(text, want) {
				t.Errorf("the panic %q does not name %s", text, want)
			}
		}
		if name := blockwise.Name(first{}); name != "register test" {
			t.Errorf("the first type has the name %q", name)
		}
		if name := blockwise.Name(second{}); name != "" {
			t.Errorf("the second type has the name %q", name)
		}
	}()
	blockwise.Register("register test", second{})
}
