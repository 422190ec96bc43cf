package cloud

import "github.com/gonbext/gonbext/oocore/internal/blob"

func init() {
	blob.Register("s3", bucketCan, openBucket)
	blob.Register("http", serverCan, openServer)
	blob.Register("https", serverCan, openServer)
}
