package grid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/types"
)

// View maps indices of a domain to indices of an array: array axis d has index
// Start[d] + Step[d]·i[Axis[d]], or Start[d] alone where Axis[d] is negative.
// A domain axis that no array axis names is a broadcast one. Slices,
// transposes, new axes and broadcasting are views, and views compose.
type View struct {
	Shape []int `json:"shape"` // of the domain
	Axis  []int `json:"axis"`
	Start []int `json:"start"`
	Step  []int `json:"step"`
}

// Identity views an array as it is.
func Identity(shape []int) View {
	v := newView(slices.Clone(shape), len(shape))
	for d := range shape {
		v.Axis[d] = d
	}
	return v
}

// Along is what the view shows along axis d of the array, which an axis of the domain stands for, as a view of an array of that
// dimension alone.
func (v View) Along(d int) View {
	return View{Shape: []int{v.Shape[v.Axis[d]]}, Axis: []int{0}, Start: v.Start[d : d+1], Step: v.Step[d : d+1]}
}

func newView(shape []int, dims int) View {
	v := View{Shape: shape, Axis: make([]int, dims), Start: make([]int, dims), Step: make([]int, dims)}
	for d := range dims {
		v.Axis[d], v.Step[d] = -1, 1
	}
	return v
}

// BroadcastTo views an array of one shape as another that it broadcasts to.
func BroadcastTo(from, to []int) (View, error) {
	got, err := Broadcast(from, to)
	if err != nil || !slices.Equal(got, to) {
		return View{}, fmt.Errorf("shape %s does not broadcast to %s", Format(from), Format(to))
	}
	v := newView(slices.Clone(to), len(from))
	for d := range from {
		if at := len(to) - len(from) + d; from[d] == to[at] {
			v.Axis[d] = at
		}
	}
	return v, nil
}

// Permute views an array with its axes in another order, as NumPy's transpose;
// no axes reverse them.
func Permute(shape []int, axes ...int) (View, error) {
	n := len(shape)
	if len(axes) == 0 {
		axes = make([]int, n)
		for i := range axes {
			axes[i] = n - 1 - i
		}
	}
	if len(axes) != n {
		return View{}, fmt.Errorf("%d axes given for shape %s", len(axes), Format(shape))
	}
	v := newView(make([]int, n), n)
	for i, a := range axes {
		r, err := Axis(a, n)
		if err != nil {
			return View{}, err
		}
		if v.Axis[r] >= 0 {
			return View{}, fmt.Errorf("axis %d is named twice", a)
		}
		v.Axis[r] = i
		v.Shape[i] = shape[r]
	}
	return v, nil
}

// ParseSlice views an array as NumPy does between brackets: "0:100, ::2, -1",
// "...", "newaxis".
func ParseSlice(spec string, shape []int) (View, error) {
	var fields []string
	if strings.TrimSpace(spec) != "" {
		fields = strings.Split(spec, ",")
		if strings.TrimSpace(fields[len(fields)-1]) == "" { // a trailing comma, as in x[3,]
			fields = fields[:len(fields)-1]
		}
	}
	used, ellipsis := 0, -1
	for i, f := range fields {
		fields[i] = strings.TrimSpace(f)
		switch fields[i] {
		case "...":
			if ellipsis >= 0 {
				return View{}, fmt.Errorf("slice %q has more than one ellipsis", spec)
			}
			ellipsis = i
		case "newaxis", "None":
		default:
			used++
		}
	}
	if used > len(shape) {
		return View{}, fmt.Errorf("slice %q: too many indices for array: array is %d-dimensional, but %d were indexed", spec, len(shape), used)
	}
	if ellipsis < 0 {
		ellipsis = len(fields)
		fields = append(fields, "...")
	}
	v := newView(nil, len(shape))
	v.Shape = []int{}
	d := 0
	for i, f := range fields {
		switch {
		case i == ellipsis:
			for range len(shape) - used {
				v.Axis[d] = len(v.Shape)
				v.Shape = append(v.Shape, shape[d])
				d++
			}
		case f == "newaxis" || f == "None":
			v.Shape = append(v.Shape, 1)
		case strings.Contains(f, ":"):
			start, step, n, err := parseRange(f, shape[d])
			if err != nil {
				return View{}, fmt.Errorf("slice %q: %w", spec, err)
			}
			v.Axis[d], v.Start[d], v.Step[d] = len(v.Shape), start, step
			v.Shape = append(v.Shape, n)
			d++
		default:
			n, err := strconv.Atoi(f)
			if err != nil {
				return View{}, fmt.Errorf("slice %q: %q is neither an index nor a range", spec, f)
			}
			if n < -shape[d] || n >= shape[d] {
				return View{}, fmt.Errorf("slice %q: index %d is out of bounds for axis %d with size %d", spec, n, d, shape[d])
			}
			if n < 0 {
				n += shape[d]
			}
			v.Start[d] = n
			d++
		}
	}
	return v, nil
}

// parseRange resolves start:stop:step as Python's slice.indices does.
func parseRange(f string, length int) (start, step, n int, err error) {
	parts := strings.Split(f, ":")
	if len(parts) > 3 {
		return 0, 0, 0, fmt.Errorf("%q has more than two colons", f)
	}
	get := func(i, missing int) (int, bool) {
		if i >= len(parts) || strings.TrimSpace(parts[i]) == "" {
			return missing, false
		}
		var x int
		x, err = strconv.Atoi(strings.TrimSpace(parts[i]))
		if err != nil {
			err = fmt.Errorf("%q in %q is not an integer", strings.TrimSpace(parts[i]), f)
		}
		return x, true
	}
	step, _ = get(2, 1)
	if err != nil {
		return 0, 0, 0, err
	}
	if step == 0 {
		return 0, 0, 0, fmt.Errorf("%q: slice step cannot be zero", f)
	}
	low, high := 0, length
	if step < 0 {
		low, high = -1, length-1
	}
	clip := func(i, missing int) int {
		x, given := get(i, missing)
		if given && x < 0 {
			x += length
		}
		if !given {
			return missing
		}
		return min(max(x, low), high)
	}
	first, last := low, high
	if step < 0 {
		first, last = high, low
	}
	start = clip(0, first)
	if err != nil {
		return 0, 0, 0, err
	}
	stop := clip(1, last)
	if err != nil {
		return 0, 0, 0, err
	}
	if step > 0 && stop > start {
		n = (stop-start-1)/step + 1
	}
	if step < 0 && stop < start {
		n = (start-stop-1)/-step + 1
	}
	if n == 0 {
		start = 0
	}
	return start, step, n, nil
}

// Through returns the view of an array that v shows of what inner shows of it: v's
// array is inner's domain.
func (v View) Through(inner View) View {
	out := newView(v.Shape, len(inner.Axis))
	for d, a := range inner.Axis {
		if a < 0 {
			out.Start[d] = inner.Start[d]
			continue
		}
		out.Start[d] = inner.Start[d] + inner.Step[d]*v.Start[a]
		if v.Axis[a] >= 0 {
			out.Axis[d] = v.Axis[a]
			out.Step[d] = inner.Step[d] * v.Step[a]
		}
	}
	return out
}

// Plain reports a view that shows the whole of an array of the shape, as it is.
func (v View) Plain(shape []int) bool {
	if !slices.Equal(v.Shape, shape) {
		return false
	}
	for d, a := range v.Axis {
		if a != d || v.Start[d] != 0 || v.Step[d] != 1 {
			return false
		}
	}
	return true
}

// Region is a rectangle of an array with steps.
type Region = types.Region

// Region returns what the view needs of the array for a box of its domain, in the
// array's own order of axes; a broadcast axis counts one.
func (v View) Region(b Box) Region {
	n := len(v.Axis)
	ints := make([]int, 3*n)
	r := Region{Start: ints[:n:n], Count: ints[n : 2*n : 2*n], Step: ints[2*n:]}
	for d, a := range v.Axis {
		r.Start[d], r.Count[d], r.Step[d] = v.Start[d], 1, 1
		if a >= 0 {
			r.Start[d] += v.Step[d] * b.Start[a]
			r.Count[d], r.Step[d] = b.Shape[a], v.Step[d]
		}
	}
	return r
}

// Stride is the distance in the array of neighbours along the domain's axis that array axis d has.
func (v View) Stride(d int) int { return max(v.Step[d], -v.Step[d]) }
