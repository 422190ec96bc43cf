"""What users of TensorStore, zarr-python with obstore and s5cmd write for the benchmark's jobs on
an object store. objects.py make|check|JOB.PEER FOLDER, with the server in AWS_ENDPOINT_URL"""
import asyncio
import os
import subprocess
import sys
import urllib.request

import numpy as np

from sizes import OBJECT, OBJECT_CHUNK

BAND = 16 * OBJECT_CHUNK[0]  # rows of 128 MiB, as a program holds them
ENDPOINT = os.environ["AWS_ENDPOINT_URL"]


def local(name="x.npy"):
    return os.path.join(sys.argv[2], name)


def source():
    return np.load(local(), mmap_mode="r")


def bands():
    return (slice(r, min(r + BAND, OBJECT[0])) for r in range(0, OBJECT[0], BAND))


def tensorstore(name, create=False):
    import tensorstore as ts
    spec = {"driver": "zarr3", "kvstore": {"driver": "s3", "bucket": "data", "path": f"{name}/", "endpoint": ENDPOINT, "aws_region": "us-east-1"}}
    if create:
        grid = {"name": "regular", "configuration": {"chunk_shape": OBJECT_CHUNK}}
        spec |= {"create": True, "delete_existing": True, "metadata": {"shape": OBJECT, "data_type": "float32", "chunk_grid": grid}}
    return ts.open(spec).result()


def bucket():
    from obstore.store import S3Store
    return S3Store("data", endpoint=ENDPOINT, region="us-east-1", virtual_hosted_style_request=False, client_options={"allow_http": True})


def zarr_array(name, create=False):
    import zarr
    from zarr.storage import ObjectStore
    zarr.config.set({"async.concurrency": 64})
    store = ObjectStore(bucket(), read_only=not create)
    if create:
        return zarr.create_array(store, name=name, shape=OBJECT, dtype="f4", chunks=OBJECT_CHUNK, compressors=None, overwrite=True)
    return zarr.open_array(store, path=name, mode="r")


def s5cmd(*words):
    subprocess.run([os.path.join(os.path.dirname(sys.executable), "s5cmd"), "--endpoint-url", ENDPOINT, *words], check=True, stdout=subprocess.DEVNULL)


def make():
    """Uniform numbers, here and in the bucket as Zarr and as one object."""
    if not os.path.exists(local()):
        generator = np.random.default_rng(0)
        out = np.lib.format.open_memmap(local("x.part"), "w+", "f4", OBJECT)
        for rows in bands():
            out[rows] = generator.random(out[rows].shape, dtype="f4")
        out.flush()
        os.rename(local("x.part"), local())
    write_tensorstore("x.zarr")
    with open(local(), "rb") as f:
        length = {"Content-Length": os.path.getsize(local())}
        urllib.request.urlopen(urllib.request.Request(f"{ENDPOINT}/data/x.npy", f, length, method="PUT")).close()


def ahead(read, parts):
    """What is read of the parts, of which the next is under way."""
    coming = None
    for part in parts:
        last, coming = coming, read(part)
        if last is not None:
            yield last.result()
    yield coming.result()


def read_tensorstore():
    a = tensorstore("x.zarr")
    print(sum(float(band.mean()) for band in ahead(lambda rows: a[rows].read(), bands())))


def read_zarr():
    a = zarr_array("x.zarr")
    print(sum(float(a[rows].mean()) for rows in bands()))


def npy_obstore():
    """Ranges of 8 MiB, 32 of them at once."""
    import obstore
    store, piece = bucket(), 8 << 20

    async def total():
        size, free = (await obstore.head_async(store, "x.npy"))["size"], asyncio.Semaphore(32)

        async def part(at):
            async with free:
                got = await obstore.get_range_async(store, "x.npy", start=at, end=min(at + piece, size))
                return float(np.frombuffer(got, "f4").sum())
        return sum(await asyncio.gather(*(part(at) for at in range(128, size, piece))))
    print(asyncio.run(total()))


def npy_s5cmd():
    s5cmd("cp", "s3://data/x.npy", local("out.npy"))


def local_s5cmd():
    s5cmd("cp", "s3://data/x.zarr/*", local("out.zarr/"))


def write_tensorstore(name="out.zarr"):
    copy_bands(source().__getitem__, tensorstore(name, create=True))


def copy_tensorstore():
    a = tensorstore("x.zarr")
    copy_bands(lambda rows: a[rows].read().result(), tensorstore("out.zarr", create=True))


def copy_bands(read, out):
    """The next band is read while one is written."""
    writing = None
    for rows in bands():
        band = read(rows)
        if writing is not None:
            writing.result()
        writing = out[rows].write(band)
    writing.result()


def write_zarr():
    x, out = source(), zarr_array("out.zarr", create=True)
    for rows in bands():
        out[rows] = x[rows]


def copy_zarr():
    x, out = zarr_array("x.zarr"), zarr_array("out.zarr", create=True)
    for rows in bands():
        out[rows] = x[rows]


def write_s5cmd():
    s5cmd("cp", local(), "s3://data/out.npy")


def check():
    """That out.zarr in the bucket holds what x.npy does, by TensorStore."""
    x, out = source(), tensorstore("out.zarr")
    for rows in bands():
        some = slice(rows.start, rows.start + 16)
        if not np.array_equal(out[some].read().result(), x[some]):
            sys.exit(f"rows from {some.start} on differ")


if __name__ == "__main__":
    globals()[sys.argv[1].replace(".", "_")]()
