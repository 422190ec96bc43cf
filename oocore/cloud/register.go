package cloud

import "github.com/gonbext/gonbext/oocore/internal/blob"

func init() {
	blob.Register("s3", openBucket)
	blob.Register("http", openServer)
	blob.Register("https", openServer)
}
