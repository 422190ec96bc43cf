//go:build unix

package ptx_test

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/ptx"
)

// TestEvaluatorRejectsWhatPTXLeavesUndefined holds testdata/ptx.c to what makes it a proof.
func TestEvaluatorRejectsWhatPTXLeavesUndefined(t *testing.T) {
	if !evaluates(t) {
		return
	}
	const registers = ".reg .pred q<2>;\n.reg .b32 r<4>;\n.reg .b64 d<4>;\n.shared .align 16 .b8 shared[16];\nmov.u32 r0, %tid.x;\n"
	for _, c := range []struct{ body, want string }{
		{"ret;", ""},
		{"div.s32 r1, r0, 0;", "division of an integer by zero"},
		{"mov.b32 r1, 0x80000000; div.s32 r1, r1, -1;", "a quotient that leaves its type"},
		{"ld.shared.b32 r1, [16];", "of 16 bytes of shared memory"},
		{"mov.u32 r1, 16; ld.shared.b32 r2, [r1];", "of 16 bytes of shared memory"},
		{"mov.u32 r1, 2; ld.shared.b32 r2, [r1];", "beyond their multiple"},
		{"mov.b64 d1, 8; ld.global.b32 r2, [d1];", "access at address 0x8"},
		{"setp.eq.u32 q0, r0, 1; @q0 ret; bar.sync 0;", "31 of 32 threads wait at a barrier"},
		{"setp.eq.u32 q0, r0, 1; @q0 bra L1; bar.sync 0; ret; L1: bar.sync 0;", "different barriers"},
		{"add.rz.f32 r1, r0, r0;", "add.rz.f32 is not known"},
		{"ex2.approx.f32 r1, r0;", "instruction ex2.approx.f32 is not known"},
		{"add.rn.ftz.f32 r1, r0, r0;", "modifier .ftz"},
		{"add.rn.f64 d1, d0, r0;", "register r0 is of another width"},
		{"add.rn.f32 r1, r0, r9;", "r9 is not declared"},
		{"add.rn.f32 r1, r0, 1;", "an integer as a float"},
		{"bra L2;", "label L2 is nowhere"},
	} {
		m := ptx.Module{Text: ".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n" + registers + c.body + "\nret;\n}\n\x00"}
		err := launch(m, "k", [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.body, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v and not %q", c.body, err, c.want)
		}
	}
}
