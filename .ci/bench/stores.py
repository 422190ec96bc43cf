"""What users of zarr-python, TensorStore, Blosc2, Dask and Cubed write for the
benchmark's jobs on stored arrays. stores.py make|write|read|rechunk|rows|LAYOUT.LAYOUT PEER CODEC FOLDER"""
import importlib.util
import os
import subprocess
import sys

import numpy as np

from sizes import COLUMNS, PICTURES, ROWS

job, peer, codec, work = (sys.argv[1:] + [""] * 4)[:4]
if job in ("make", "blocks", "layouts"):
    work = peer
SHAPE, CHUNK = (PICTURES, 1024, 1024), (1, 1024, 1024)
BLOCK = (min(65536, ROWS), min(64, COLUMNS))
SHARD, INNER = (4, 1024, 1024), (1, 256, 256)  # 64 chunks


def path(name):
    return os.path.join(work, name)


def field():
    return np.load(path("field.npy"), mmap_mode="r")


def slabs():
    """Bands of 32 pictures, as a program reads and writes them."""
    return (slice(z, min(z + 32, PICTURES)) for z in range(0, PICTURES, 32))


def make():
    """Waves on several scales, in steps as a camera's of 12 bits."""
    if not os.path.exists(path("field.npy")):
        out = np.lib.format.open_memmap(path("field.part"), "w+", "f4", SHAPE)
        y, x = np.mgrid[0:1024, 0:1024].astype("f4")
        for z in range(SHAPE[0]):
            picture = np.sin(x / 61 + z / 17) * np.cos(y / 47 - z / 23) + 0.3 * np.sin((x + y) / 13 + z / 5) + 0.1 * np.cos(x * y / 9000)
            out[z] = np.round(picture * 2048) / 2048
        out.flush()
        os.rename(path("field.part"), path("field.npy"))
    blosc2 = importlib.util.find_spec("blosc2")
    for name in CODECS:
        if not os.path.exists(path(f"read-{name}.zarr")):
            write_zarr(name, path(f"read-{name}.zarr"))
        if blosc2 and name != "shards" and not os.path.exists(path(f"read-{name}.b2nd")):
            write_blosc2(name, path(f"read-{name}.b2nd"))


def zarr_codec(name):
    from zarr.codecs import BloscCodec, ZstdCodec
    return {"none": None, "zstd1": ZstdCodec(level=1), "zstd3": ZstdCodec(level=3), "shards": ZstdCodec(level=1),
            **{n: BloscCodec(cname=c, clevel=level, shuffle="shuffle") for n, (c, level) in BLOSC.items()}}[name]


CODECS = ("none", "zstd1", "zstd3", "bloscz", "lz4", "shards")
BLOSC = {"bloscz": ("zstd", 1), "lz4": ("lz4", 5)}  # compressors and levels, behind a shuffle


def write_zarr(name, target):
    import zarr
    sharded = name == "shards"
    a = zarr.create_array(target, shape=SHAPE, dtype="f4", chunks=INNER if sharded else CHUNK, shards=SHARD if sharded else None,
                          compressors=zarr_codec(name), overwrite=True)
    x = field()
    for z in slabs():
        a[z] = x[z]


def read_zarr(name, source):
    import zarr
    a = zarr.open_array(source, mode="r")
    for z in slabs():
        a[z]


def tensorstore_codecs(name):
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    more = {"none": [], "zstd1": [{"name": "zstd", "configuration": {"level": 1}}], "zstd3": [{"name": "zstd", "configuration": {"level": 3}}],
            **{n: [{"name": "blosc", "configuration": {"cname": c, "clevel": level, "shuffle": "shuffle", "typesize": 4}}] for n, (c, level) in BLOSC.items()}}
    if name == "shards":
        return [{"name": "sharding_indexed", "configuration": {"chunk_shape": INNER, "codecs": [little, *more["zstd1"]]}}]
    return [little, *more[name]]


def write_tensorstore(name, target):
    import tensorstore as ts
    a = ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": target}, "create": True, "delete_existing": True,
                 "metadata": {"shape": SHAPE, "data_type": "float32", "codecs": tensorstore_codecs(name),
                              "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": SHARD if name == "shards" else CHUNK}}}}).result()
    x = field()
    for z in slabs():
        a[z].write(x[z]).result()


def read_tensorstore(name, source):
    import tensorstore as ts
    a = ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": source}}).result()
    for z in slabs():
        a[z].read().result()


def write_blosc2(name, target):
    import blosc2
    params = {"none": {"clevel": 0}, "zstd1": {"codec": blosc2.Codec.ZSTD, "clevel": 1}, "zstd3": {"codec": blosc2.Codec.ZSTD, "clevel": 3},
              "bloscz": {"codec": blosc2.Codec.ZSTD, "clevel": 1}, "lz4": {"codec": blosc2.Codec.LZ4, "clevel": 5}}[name]
    a = blosc2.empty(SHAPE, dtype=np.float32, chunks=CHUNK, urlpath=target, mode="w", cparams=params)
    x = field()
    for z in slabs():
        a[z] = x[z]


def read_blosc2(name, source):
    import blosc2
    a = blosc2.open(source, mode="r")
    for z in slabs():
        a[z]


def blocks():
    """The activations in chunks that are parts of rows."""
    import zarr
    if os.path.exists(path("blocks.zarr")):
        return
    subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "peers.py"), "make", work], check=True)
    x = np.load(path("acts.npy"), mmap_mode="r")
    a = zarr.create_array(path("blocks.part"), shape=x.shape, dtype=x.dtype, chunks=BLOCK, compressors=zarr_codec("zstd1"), overwrite=True)
    for rows in bands():
        a[rows] = x[rows]
    os.rename(path("blocks.part"), path("blocks.zarr"))


LAYOUTS = {"rows": (min(16384, ROWS), COLUMNS), "columns": (ROWS, 8), "blocks": BLOCK}


def open_layout(name, target=""):
    """An array of a layout by TensorStore, or a new one."""
    import tensorstore as ts
    if name == "npy":
        return np.lib.format.open_memmap(path("out.npy"), "w+", "f4", (ROWS, COLUMNS)) if target else np.load(path("acts.npy"), mmap_mode="r")
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path(target or f"{name}.zarr")}}
    if target:
        grid = {"name": "regular", "configuration": {"chunk_shape": LAYOUTS[name]}}
        spec |= {"create": True, "delete_existing": True, "metadata": {"shape": (ROWS, COLUMNS), "data_type": "float32", "chunk_grid": grid, "codecs": tensorstore_codecs("none")}}
    return ts.open(spec).result()


def copy_layout(pair, target):
    """In bands that are whole chunks of the target, as a program of TensorStore's would."""
    a, b = pair
    x, out = open_layout(a), open_layout(b, target)
    parts = ((slice(None), slice(c, c + 8)) for c in range(0, COLUMNS, 8)) if b == "columns" else ((rows, slice(None)) for rows in bands())
    for part in parts:
        piece = x[part] if a == "npy" else x[part].read().result()
        if b == "npy":
            out[part] = piece
        else:
            out[part].write(np.ascontiguousarray(piece)).result()


def layouts():
    """The activations in each layout."""
    subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "peers.py"), "make", work], check=True)
    for name in LAYOUTS:
        if not os.path.exists(path(f"{name}.zarr")):
            copy_layout(("npy", name), f"{name}.part")
            os.rename(path(f"{name}.part"), path(f"{name}.zarr"))


def bands():
    return (slice(r, min(r + BLOCK[0], ROWS)) for r in range(0, ROWS, BLOCK[0]))


def rows_zarr(_, source):
    import zarr
    write_rows(zarr.open_array(source, mode="r").__getitem__)


def rows_tensorstore(_, source):
    import tensorstore as ts
    a = ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": source}}).result()
    write_rows(lambda rows: a[rows].read().result())


def rows_dask(_, source):
    import dask.array as da
    out = np.lib.format.open_memmap(path("out.npy"), "w+", "f4", (ROWS, COLUMNS))
    da.store(da.from_zarr(source), out, lock=False)
    out.flush()


def write_rows(read):
    out = np.lib.format.open_memmap(path("out.npy"), "w+", "f4", (ROWS, COLUMNS))
    for rows in bands():
        out[rows] = read(rows)
    out.flush()


def check_rows():
    """That out.npy is acts.npy."""
    got, want = (np.load(path(name), mmap_mode="r") for name in ("out.npy", "acts.npy"))
    if not all(np.array_equal(got[rows], want[rows]) for rows in bands()):
        sys.exit("rows differ")


def rechunk_dask(_, target):
    import dask.array as da
    x = da.from_array(np.load(path("acts.npy"), mmap_mode="r"), chunks=(min(16384, ROWS), COLUMNS))
    x.rechunk((ROWS, 8)).to_zarr(target, mode="w", compressors=None)


def rechunk_cubed(_, target):
    import cubed
    spec = cubed.Spec(work_dir=path("cubed"), allowed_mem="900MB")
    x = cubed.from_array(np.load(path("acts.npy"), mmap_mode="r"), chunks=(min(16384, ROWS), COLUMNS), spec=spec)
    cubed.to_zarr(x.rechunk((ROWS, 8)), target)


def check():
    """That gonbext's output holds what it should, by zarr-python."""
    import zarr
    a = zarr.open_array(path("out.zarr"), mode="r")
    want = np.load(path("acts.npy"), mmap_mode="r") if a.shape == (ROWS, COLUMNS) else field()
    step = max(a.shape[0] // 50, 1)
    for at in range(0, a.shape[0], step):
        if a.ndim == 2:
            break
        if not np.array_equal(a[at], want[at]):
            sys.exit(f"plane {at} differs")
    if a.ndim == 2 and not all(np.array_equal(a[:, c:c + 1], want[:, c:c + 1]) for c in (0, 100, COLUMNS - 1)):
        sys.exit("a column differs")


if job == "make":
    make()
elif job == "blocks":
    blocks()
elif job == "layouts":
    layouts()
elif "." in job:
    copy_layout(job.split("."), "out.zarr")
elif job == "check":
    check_rows() if codec == "rows" else check()
else:
    globals()[f"{job}_{peer}"](codec, path({"read": f"read-{codec}." + ("b2nd" if peer == "blosc2" else "zarr"), "rows": "blocks.zarr"}.get(job, "out.b2nd" if peer == "blosc2" else "out.zarr")))
