package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/record"
)

// ErrNotPortable is returned for a plan with a Go function, which exists in one
// process only.
var ErrNotPortable = errors.New("a plan with a Go function cannot leave its process")

// Encode writes the plan for another process.
func (p *Plan) Encode() ([]byte, error) {
	if p.bound {
		return nil, fmt.Errorf("%s: %w", p.Title, ErrNotPortable)
	}
	return json.Marshal(p)
}

// Decode reads what Encode wrote. A plan of another engine is refused, and so is one
// that names arrays or values that it does not have.
func Decode(b []byte) (*Plan, error) {
	p := &Plan{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("this is not a plan: %w", err)
	}
	if p.Engine != Engine {
		return nil, fmt.Errorf("the plan was made by %s, and this is %s: plan again", p.Engine, Engine)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("this is not a plan: %w", err)
	}
	return p, nil
}

// Header is what a record begins with.
func (p *Plan) Header() record.Header {
	h := record.Header{Title: p.Title, Output: p.Arrays[p.Output].Path, Budget: p.Budget, Overhead: p.Budget - p.Arena, Need: p.Need,
		Predicted: p.Peak, Workers: p.Workers,
		Device: record.DeviceInfo{Name: p.Device.Name, Memory: p.Device.Memory, Predicted: p.DevicePeak}}
	for i := range p.Stages {
		s := &p.Stages[i]
		out := &p.Arrays[s.Outputs[0]]
		st := record.Stage{Name: s.Name, Kind: string(s.Kind), Site: s.Site, Shape: s.Grid.Shape, Chunks: s.Grid.Chunks,
			DType: out.DType.String(), Tasks: s.Tasks(), Slots: s.Slots, Predicted: s.Predicted, Read: s.Read, ReadRun: s.ReadRun, Written: s.Written, Output: out.Path, Note: s.Note}
		if st.Output == "" {
			st.Output = string(out.Place)
		}
		for k := range s.Programs {
			for l := range s.Programs[k].Arrays() {
				if !slices.Contains(st.Inputs, p.Arrays[l.Array].Name) {
					st.Inputs = append(st.Inputs, p.Arrays[l.Array].Name)
				}
			}
		}
		h.Stages = append(h.Stages, st)
	}
	return h
}
