package main

import "github.com/spf13/cobra"

func newLab() *cobra.Command { return &cobra.Command{Use: "lab", Short: "Lab"} }
