package main

import "github.com/spf13/cobra"

func newRun() *cobra.Command { return &cobra.Command{Use: "run", Short: "Run"} }
