"""An S3 server, moto, that checks signatures.

It prints one line of JSON: its URL and the keys of a user that may do anything.
Then it reads lines with the key of an object in the bucket "data", and answers
each with the SHA-256 of what boto3 reads there and its size. It ends with its
input.
"""
import hashlib
import json
import sys

import boto3
from moto import settings
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
url = f"http://{host}:{port}"


def client(service, key, secret):
    return boto3.client(service, endpoint_url=url, region_name="eu-central-1",
                        aws_access_key_id=key, aws_secret_access_key=secret)


iam = client("iam", "x", "y")
iam.create_user(UserName="tester")
policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
iam.put_user_policy(UserName="tester", PolicyName="all", PolicyDocument=json.dumps(policy))
keys = iam.create_access_key(UserName="tester")["AccessKey"]
settings.INITIAL_NO_AUTH_ACTION_COUNT = 0  # from here on it wants signatures

s3 = client("s3", keys["AccessKeyId"], keys["SecretAccessKey"])
s3.create_bucket(Bucket="data", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
print(json.dumps({"URL": url, "ID": keys["AccessKeyId"], "Secret": keys["SecretAccessKey"]}), flush=True)
for line in sys.stdin:
    body = s3.get_object(Bucket="data", Key=json.loads(line))["Body"].read()
    print(json.dumps({"Hash": hashlib.sha256(body).hexdigest(), "Size": len(body)}), flush=True)
server.stop()
