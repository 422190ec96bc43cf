package cluster_test

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/cluster"
)

// The option of a Save that leaves its tasks to Slurm. What is no batch system is rejected before anything is submitted.
func ExampleOn() {
	_, err := cluster.On("slurm", cluster.Options{Partition: "long", Time: "2:00:00"})
	fmt.Println(err)
	_, err = cluster.On("moon", cluster.Options{})
	fmt.Println(err)
	// Output:
	// <nil>
	// there is no batch system "moon": take slurm, gridengine or dask://HOST:PORT
}
