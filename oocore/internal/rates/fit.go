package rates

import "math"

// problem is to find coefficients with which the terms of each row add up to 1: rows are
// divided by what was measured, so that errors are relative. Coefficients are positive,
// and held to what is expected of them by a spring.
type problem struct {
	rows      [][]term
	weights   []float64
	prior     []float64
	stiffness []float64
}

// term is a coefficient's part of a row.
type term struct {
	coefficient int
	value       float64
}

func (p *problem) add(weight float64, row ...term) {
	p.rows, p.weights = append(p.rows, row), append(p.weights, weight)
}

const (
	rounds   = 9  // of which in the last ones rows that are far off weigh less
	descents = 30 // over all coefficients
	outlier  = 0.5
	smallest = 0.2 // of what is expected
)

// solve finds the coefficients by coordinate descent.
func (p *problem) solve() []float64 {
	x := append([]float64(nil), p.prior...)
	columns := make([][]term, len(x)) // by rows
	sums := make([]float64, len(p.rows))
	for i, row := range p.rows {
		for _, t := range row {
			columns[t.coefficient] = append(columns[t.coefficient], term{i, t.value})
			sums[i] += t.value * x[t.coefficient]
		}
	}
	weights := append([]float64(nil), p.weights...)
	for round := range rounds {
		for i, sum := range sums {
			if round > 0 {
				// Divided by its sum, the error of a row is alike whether it is too large or too
				// small by some factor.
				sum = max(sum, 1e-3)
				off := math.Log(sum) / outlier
				weights[i] = p.weights[i] / sum
				if round > rounds/2 {
					weights[i] /= 1 + off*off
				}
			}
		}
		for range descents {
			for k, column := range columns {
				top, bottom := p.stiffness[k]*p.prior[k], p.stiffness[k]
				for _, t := range column {
					top += weights[t.coefficient] * t.value * (1 - sums[t.coefficient] + t.value*x[k])
					bottom += weights[t.coefficient] * t.value * t.value
				}
				if !(bottom > 0) {
					continue
				}
				next := max(top/bottom, smallest*p.prior[k])
				for _, t := range column {
					sums[t.coefficient] += t.value * (next - x[k])
				}
				x[k] = next
			}
		}
	}
	return x
}
