package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// ErrNotPortable is returned for a plan with a Go function, or an array of the program, which
// exist in one process only.
var ErrNotPortable = errors.New("a plan with a Go function or an array of the program cannot leave its process")

// Encode writes the plan for another process.
func (p *Plan) Encode() ([]byte, error) {
	if p.Function != "" {
		return nil, fmt.Errorf("%s: %w", p.Function, ErrNotPortable)
	}
	for i := range p.Arrays {
		if a := &p.Arrays[i]; a.Place == InFile && storage.InProcess(a.Path) {
			return nil, fmt.Errorf("%s is of the program's own: %w", a.Name, ErrNotPortable)
		}
	}
	return json.Marshal(p)
}

// Decode reads what Encode wrote. A plan of other revisions is rejected, and so is one
// that names arrays or values that it does not have.
func Decode(b []byte) (*Plan, error) {
	var made struct {
		Revisions string `json:"engine"`
	}
	if err := json.Unmarshal(b, &made); err != nil {
		return nil, fmt.Errorf("this is not a plan: %w", err)
	}
	if made.Revisions == "" {
		return nil, errors.New("this is not a plan")
	}
	if _, known := parseRevisions(made.Revisions); !known {
		return nil, fmt.Errorf("the plan was made by %s, another version of gonbext: plan again", made.Revisions)
	}
	p := &Plan{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("this is not a plan: %w", err)
	}
	for i := range p.Arrays {
		p.Arrays[i].Store = blob.PlaceOf(p.Arrays[i].Path).Capabilities
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("this is not a plan: %w", err)
	}
	if difference := revisionDifference(p.CurrentRevisions(), p.Revisions); difference != "" {
		return nil, fmt.Errorf("the plan is of no use: %s: plan again", difference)
	}
	return p, nil
}
