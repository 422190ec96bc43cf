// Package cloud reads and writes arrays in object stores: s3:// and gs:// buckets,
// and http:// and https:// servers for reading. Importing it is what makes such
// paths known:
//
//	import _ "github.com/gonbext/gonbext/oocore/cloud"
//
// # Settings
//
// They come from the places that Amazon's tools use, and never from a path:
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; the files
// ~/.aws/credentials and ~/.aws/config (AWS_SHARED_CREDENTIALS_FILE,
// AWS_CONFIG_FILE) with AWS_PROFILE, by keys, role_arn, single sign-on, aws login or
// credential_process; before them AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN; the
// role of a container; the role of a machine (IMDSv2). What is fetched is fetched anew
// before it expires. AWS_NO_SIGN_REQUEST=true asks without
// credentials, for public buckets. AWS_REGION or AWS_DEFAULT_REGION name the
// region, which is learned from the server where it is another; AWS_ENDPOINT_URL_S3
// or AWS_ENDPOINT_URL name another server than Amazon's, where the bucket is the
// first part of the path. Secrets are in no message and in no record; a URL that
// holds one is rejected.
//
// gs:// buckets are those of Google Cloud Storage, by its interface that takes S3's
// requests. GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY are an HMAC key, as GDAL has
// them; GS_NO_SIGN_REQUEST=true asks without one, and CPL_GS_ENDPOINT names another
// server than https://storage.googleapis.com. Objects are deleted one by one there, and
// nothing is stored by condition: see package store on several writers.
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
// readers there are; a bucket has at most 128 requests under way besides. An upload
// takes 8 MiB of Go's heap until it ends, blob.Put takes none. An upload that is
// killed leaves its parts with the server, where a rule for incomplete multipart
// uploads removes them.
//
// # Modules
//
// Credentials, profiles and signatures are those of Amazon's module aws-sdk-go-v2,
// requests are this package's own: the budget counts what they hold, and S3 clients
// gather uploads in buffers of their own. A cell is linked anew each time that it runs,
// and what it holds of the heap is taken from its budget; so only a program that reaches
// object stores imports this package. What each adds to a main that imports oocore and
// opens an array; building is go build's processor time after a change to main:
//
//	                              binary    building    resident
//	this package                  8.8 MB    0.9 s       6.8 MB (0.6 of the heap)
//	  without aws-sdk-go-v2       5.2 MB    0.4 s       4.1 MB
//	with minio-go v7.4.1 besides  +1.4 MB   +0.3 s      +1.1 MB
//
// Of minio-go alone, package credentials assumes no role with the keys of another
// profile, renews no sign-on, runs no credential_process that has a quoted argument, and
// repeats a server's words in its errors. Its client would replace some 170 lines here:
// listings, deletions, parts and signatures. Reading ranges that resume, the watch over
// servers that fall silent or drip, pauses that a server asks for, and web servers, which
// it does not read, would stay. It waits a second at most between its ten tries, and asks
// for a bucket's region by a request of its own.
package cloud
