package oocore

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/hook"
	"github.com/gonbext/gonbext/oocore/record"
)

func init() {
	hook.Set(hook.Internals[*Array, Option]{
		Cell: func(id string) Option {
			return option(func(s *settings) error {
				s.cell = id
				return nil
			})
		},
		PlanOnly: func(alternatives []record.WhatIf) Option {
			return option(func(s *settings) error {
				s.planned, s.alternatives = true, alternatives
				return nil
			})
		},
		Nominal: func() Option {
			return option(func(s *settings) error {
				s.planned, s.nominal = true, true
				return nil
			})
		},
		Target: func(path string) Option {
			return option(func(s *settings) error {
				s.target = &path
				return nil
			})
		},
		SetDefaults: func(opts []Option) {
			defaults.Lock()
			defer defaults.Unlock()
			defaults.opts = slices.Clone(opts)
		},
		Fits: fits,
		Holding: func(bytes int64) Option {
			return option(func(s *settings) error {
				s.held = bytes
				return nil
			})
		},
		DryRun:        isDry,
		RunGroup:      asGroup,
		State:         stateOf,
		SetDecomposer: func(f decompose) { decomposer.Store(&f) },
	})
}
