package main

import "github.com/spf13/cobra"

func newDoctor() *cobra.Command { return &cobra.Command{Use: "doctor", Short: "Doctor"} }
