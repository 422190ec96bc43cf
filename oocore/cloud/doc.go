// Package cloud reads and writes arrays in object stores: s3:// buckets, and
// http:// and https:// servers for reading. Importing it is what makes such
// paths known:
//
//	import _ "github.com/gonbext/gonbext/oocore/cloud"
//
// # Settings
//
// They come from the places that Amazon's tools use, and never from a path:
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; the files
// ~/.aws/credentials and ~/.aws/config (AWS_SHARED_CREDENTIALS_FILE,
// AWS_CONFIG_FILE) with AWS_PROFILE; the role of a container; the role of a
// machine (IMDSv2), in this order. AWS_NO_SIGN_REQUEST=true asks without
// credentials, for public buckets. AWS_REGION or AWS_DEFAULT_REGION name the
// region, which is learned from the server where it is another; AWS_ENDPOINT_URL_S3
// or AWS_ENDPOINT_URL name another server than Amazon's, where the bucket is the
// first part of the path. Secrets are in no message and in no record; a URL that
// holds one is refused.
//
// # Requests
//
// A request that fails for a reason that may pass is sent again after a pause
// that doubles and is drawn at random, or for as long as the server asks; what
// had come of a range is kept. A try is given up after a bounded time. A bucket
// has at most maxRequests requests under way, whose bodies go straight to
// memory of the caller: the callers' budget bounds how many of them read at once.
//
// # Why a client of our own
//
// A cell is linked anew each time that it runs, and what it holds of the heap is
// taken from its budget. Measured with a main that reads and writes one object:
//
//	                       binary     link      resident
//	nothing                2.5 MB     0.16 s     2.2 MB
//	this package          8.8 MB     0.42 s     7.7 MB
//	minio-go v7.4.1       11.3 MB     0.60 s     9.2 MB
//	gocloud.dev v0.47       66 MB     2.5 s       34 MB
//
// Nearly all of this package's cost is net/http with TLS, which each of them
// has. minio-go also reads what it uploads into buffers of its own, which the
// budget could not count. Other providers follow by another opener in init.
package cloud
