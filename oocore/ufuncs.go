package oocore

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/elements"
)

// Angle returns the angles of complex numbers in radians; of real ones 0, or pi below zero. It is
// part of whatever reads it.
func (a *Array) Angle() *Array {
	return a.view("angle", func(site graph.Site, n *graph.Node) (*graph.Node, error) { return elements.Angle(site, n, false) })
}
