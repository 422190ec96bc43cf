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
// AWS_CONFIG_FILE) with AWS_PROFILE, by keys, role_arn, single sign-on or
// credential_process; before them AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN; the
// role of a container; the role of a machine (IMDSv2). What is fetched is fetched anew
// before it expires. AWS_NO_SIGN_REQUEST=true asks without
// credentials, for public buckets. AWS_REGION or AWS_DEFAULT_REGION name the
// region, which is learned from the server where it is another; AWS_ENDPOINT_URL_S3
// or AWS_ENDPOINT_URL name another server than Amazon's, where the bucket is the
// first part of the path. Secrets are in no message and in no record; a URL that
// holds one is rejected.
//
// # Requests
//
// A request that fails for a reason that may pass is sent again after a pause
// that doubles and is drawn at random, or for as long as the server asks; what
// had come of a range is kept. A try is given up where the server says nothing for 20
// seconds or sends less than 64 KiB of an answer in a minute, and the request where that
// is so for a minute and the try after it. What
// changes while it is read is an error: each range has to be of the version that
// was opened.
//
// # Memory
//
// Bodies go straight to memory of the caller, so that the budget bounds how many
// readers there are; a bucket has at most 64 requests under way besides. An upload
// takes 8 MiB of Go's heap until it ends, blob.Put takes none. An upload that is
// killed leaves its parts with the server, where a rule for incomplete multipart
// uploads removes them.
//
// # Why a client of our own
//
// A cell is linked anew each time that it runs, and what it holds of the heap is
// taken from its budget. What each adds to a main that imports oocore and opens an
// array; building is go build's processor time after a change to main, resident
// is all and, in brackets, what is not a part of the binary:
//
//	                   binary    building    resident
//	this package       5.4 MB    0.36 s      3.7 MB (0.4)
//	minio-go v7.4.1    7.4 MB    0.63 s      6.1 MB (1.1)
//	gocloud.dev v0.47   59 MB     2.5 s       27 MB
//
// Nearly all of this package's cost is net/http with TLS, which each of them
// has. minio-go also gathers uploads in buffers of its own, which the budget
// could not count. Other providers follow by another opener in init.
package cloud
