// Evaluate computes an expression of one stored array, x, for each line that it is given, and answers
// with the seconds of wall and of processors: what a program that stays takes, without its start.
//
//	evaluate PATH MEMORY
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/machine"
)

func main() {
	log.SetFlags(0)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		start, spent := time.Now(), machine.CPUTime()
		x := oocore.Eval(lines.Text(), oocore.Names{"x": oocore.Open(os.Args[1])})
		if _, err := oocore.Collect[float32](context.Background(), x, oocore.Memory(os.Args[2])); err != nil {
			log.Fatal(err)
		}
		fmt.Println(time.Since(start).Seconds(), (machine.CPUTime() - spent).Seconds())
	}
}
