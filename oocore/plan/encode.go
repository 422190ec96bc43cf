package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// Decode reads what Encode wrote. A plan of another engine is rejected, and so is one
// that names arrays or values that it does not have.
func Decode(b []byte) (*Plan, error) {
	var version struct {
		Engine string `json:"engine"`
	}
	if err := json.Unmarshal(b, &version); err != nil {
		return nil, fmt.Errorf("this is not a plan: %w", err)
	}
	if version.Engine == "" {
		return nil, errors.New("this is not a plan")
	}
	if version.Engine != Engine {
		return nil, fmt.Errorf("the plan was made by %s, and this is %s: plan again", version.Engine, Engine)
	}
	p := &Plan{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("this is not a plan: %w", err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("this is not a plan: %w", err)
	}
	return p, nil
}
