package machine

import "os"

func read() Limits { return readLimits(os.DirFS("/")) }
