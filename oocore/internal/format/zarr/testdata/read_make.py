"""Writes Zarr arrays with zarr-python and TensorStore in all the ways that they can.

    python read_make.py FOLDER

makes FOLDER/NAME.zarr, FOLDER/NAME.raw with its elements, dense, in C order and
little-endian, and FOLDER/cases.json, a list of {name, dtype, shape}; of a field of NAME.zarr also NAME#field.raw and {field}.
"""
import base64
import itertools
import json
import pathlib
import sys
import warnings

import ml_dtypes
import numcodecs
import numpy as np
import tensorstore as ts
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

warnings.simplefilter("ignore")
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
SHAPE = (13, 7, 6)
CHUNKS = (5, 4, 6)
SHARDS = (10, 8, 6)
rng = np.random.default_rng(11)
folder = pathlib.Path(sys.argv[1])
cases = []


def values(dtype, shape=SHAPE):
    a = rng.standard_normal(shape) * 40
    if np.dtype(dtype).kind == "u":
        a = abs(a)
    return a.astype(dtype)


def done(name, a):
    dtype = a.dtype.newbyteorder("<") if a.dtype.kind != "V" else a.dtype
    (folder / f"{name}.raw").write_bytes(np.ascontiguousarray(a.astype(dtype)).tobytes())
    cases.append({"name": name, "dtype": str(a.dtype.newbyteorder("=") if a.dtype.kind != "V" else a.dtype), "shape": list(a.shape)})


def name_of(library):
    return f"{library}{len(cases):04d}"


def python3(a, hole=False, **options):
    name = name_of("python3-")
    z = zarr.create_array(folder / f"{name}.zarr", shape=a.shape, dtype=a.dtype, zarr_format=3, **options)
    if hole:  # the last chunks stay missing
        z[:5] = a[:5]
        a = z[...]
    else:
        z[...] = a
    done(name, a)


def python2(a, **options):
    name = name_of("python2-")
    z = zarr.create_array(folder / f"{name}.zarr", shape=a.shape, dtype=a.dtype, zarr_format=2, **options)
    z[...] = a
    done(name, a)


def store(driver, a, metadata, hole=False):
    name = name_of(f"{driver}-")
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(folder / f"{name}.zarr") + "/"}, "metadata": metadata}
    t = ts.open(spec, create=True).result()
    if hole:
        t[:5] = a[:5]
        a = t.read().result()
    else:
        t[...] = a
    done(name, a)


def named(name, **configuration):
    return {"name": name, "configuration": configuration}


# zarr-python, version 3: every type with every codec
bloscs = [
    BloscCodec(cname=cname, shuffle=shuffle, clevel=level)
    for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd") for shuffle, level in (("noshuffle", 5), ("shuffle", 3), ("bitshuffle", 9))
]
plain = [None, [ZstdCodec(level=1)], [ZstdCodec(level=9, checksum=True)], [GzipCodec(level=6)], [Crc32cCodec()], [GzipCodec(), Crc32cCodec()]]
for dtype in DTYPES:
    for compressors in plain + [[bloscs[(i + len(cases)) % len(bloscs)]] for i in (0, 4, 8)]:
        python3(values(dtype), chunks=CHUNKS, compressors=compressors)
    python3(values(dtype), chunks=CHUNKS, serializer=BytesCodec(endian="big"), compressors=[ZstdCodec()])
    python3(values(dtype), chunks=CHUNKS, shards=SHARDS, compressors=[ZstdCodec()])
    python3(values(dtype), chunks=CHUNKS, filters=[TransposeCodec(order=(2, 0, 1))], compressors=[GzipCodec()])
    python3(values(dtype), chunks=CHUNKS, fill_value=1, hole=True, compressors=None)
    python3(values(dtype), chunks=CHUNKS, shards=SHARDS, fill_value=1, hole=True, compressors=None)
for blosc in bloscs:
    for dtype in ("int16", "float32", "complex128"):
        python3(values(dtype, (64, 50)), chunks=(64, 25), compressors=[blosc])
for encoding, separator in itertools.product(("default", "v2"), "/."):
    for shape in ((), (1,), (9,), (13, 7, 6), (0, 3)):
        chunks = tuple(max(1, n // 2) for n in shape)
        python3(values("float32", shape), chunks=chunks, chunk_key_encoding={"name": encoding, "separator": separator})
for location, order in itertools.product(("start", "end"), ((0, 1, 2), (2, 1, 0), (1, 2, 0))):
    inner = [TransposeCodec(order=order), BytesCodec(endian="little"), BloscCodec(cname="lz4")]
    sharding = ShardingCodec(chunk_shape=CHUNKS, codecs=inner, index_location=location)
    python3(values("float64"), chunks=SHARDS, serializer=sharding, compressors=None)
    nested = ShardingCodec(chunk_shape=(10, 4, 6), codecs=[ShardingCodec(chunk_shape=(5, 4, 3), codecs=inner, index_location=location)])
    python3(values("int16"), chunks=SHARDS, serializer=nested, compressors=None)
    python3(values("int32"), chunks=SHARDS, filters=[TransposeCodec(order=(1, 0, 2))], compressors=None,
            serializer=ShardingCodec(chunk_shape=(2, 2, 3), codecs=inner, index_location=location))
for fill in (np.nan, np.inf, -np.inf, 0.1, -0.0):
    for dtype in ("float16", "float32", "float64", "complex64", "complex128"):
        python3(values(dtype), chunks=CHUNKS, fill_value=fill, hole=True)

# zarr-python, version 2
compressors2 = [None, numcodecs.Zstd(3), numcodecs.Zlib(4), numcodecs.GZip(2), numcodecs.LZ4(), numcodecs.Blosc("lz4", shuffle=1), numcodecs.Blosc("zstd", shuffle=2)]
for dtype in DTYPES:
    for i, order in enumerate("CF"):
        for compressor in compressors2[:1] + [compressors2[1 + (len(cases) + i) % 4], compressors2[5 + i]]:
            if compressor is not None and compressor.codec_id == "lz4":
                compressor = numcodecs.Zlib(1)
            python2(values(np.dtype(dtype).newbyteorder("<>"[i])), chunks=CHUNKS, order=order, compressors=compressor)
for separator in "/.":
    for shape in ((), (9,), (13, 7, 6)):
        python2(values("float32", shape), chunks=tuple(max(1, n // 2) for n in shape), chunk_key_encoding={"name": "v2", "separator": separator})

# zarr-python, filters of elements and the compressors of numcodecs: any shape, chunks, types and order of bytes. What they lose is lost as z is read.
def filtered(version, a, **options):
    name = name_of(f"filter{version}-")
    chunks = tuple(int(rng.integers(1, n + 3)) for n in a.shape)
    z = zarr.create_array(folder / f"{name}.zarr", shape=a.shape, dtype=a.dtype, chunks=chunks, zarr_format=version, **options)
    z[...] = a
    done(name, z[...])


def shape():
    return tuple(int(n) for n in rng.integers(1, 23, rng.integers(1, 4)))


def dtype_of(kinds, sizes="1248"):
    d = np.dtype(rng.choice(list(kinds)) + rng.choice(list(sizes)))
    return d.newbyteorder(rng.choice(list("<>")))


def several_filters():
    while True:
        f = [dtype_of("f", "248") for _ in range(2)]
        i = [dtype_of("iu") for _ in range(2)]
        yield f[0].newbyteorder("<"), [numcodecs.BitRound(keepbits=int(rng.integers(1, 9)))]
        yield f[0], [numcodecs.Quantize(digits=int(rng.integers(0, 4)), dtype=f[0], astype=f[1])]
        yield f[0], [numcodecs.FixedScaleOffset(offset=float(rng.integers(-9, 9)), scale=float(rng.choice([1, 2.5, 10, 3])), dtype=f[0], astype=rng.choice([i[0], f[1]]))]
        yield i[1], [numcodecs.FixedScaleOffset(offset=int(rng.integers(0, 9)), scale=2, dtype=i[1], astype=f[1])]
        yield f[0], [numcodecs.Delta(f[0])]
        yield i[0], [numcodecs.Delta(i[0], astype=i[0].kind + str(max(i[0].itemsize, int(rng.choice([1, 2, 4, 8])))))]
        yield np.dtype("c8"), [numcodecs.Delta("c8")]
        yield i[0], [numcodecs.AsType(rng.choice([f[0], i[1]]), i[0])]
        yield f[0], [numcodecs.AsType(f[1], f[0])]
        yield np.dtype(bool), [numcodecs.PackBits()]
        yield f[0], [numcodecs.FixedScaleOffset(offset=0, scale=10, dtype=f[0], astype="<i4"), numcodecs.Delta("<i4", astype="<i2")]


with np.errstate(all="ignore"):
    filtered(2, values("int32", (90, 80)), compressors=numcodecs.LZMA(preset=9))
    more = [None, numcodecs.Zlib(1), numcodecs.BZ2(3), numcodecs.LZMA(preset=1), numcodecs.LZMA(format=2, preset=1), numcodecs.LZMA(format=3, filters=[{"id": 0x21, "preset": 2}])]
    for (dtype, filters), compressor in zip(itertools.islice(several_filters(), 154), itertools.cycle(more)):
        filtered(2, values(dtype, shape()), order=rng.choice(["C", "F"]), filters=filters, compressors=compressor)
    for dtype, filters in itertools.islice(several_filters(), 88):
        if dtype.itemsize == 1 and dtype.kind != "b" or any(f.codec_id == "quantize" and f.astype != f.dtype or f.codec_id in ("bitround", "packbits") for f in filters):
            continue  # which zarr-python itself does not read in version 3, or not write
        native = [dict(f.get_config(), name="numcodecs." + f.codec_id) for f in filters]
        for f in native:
            f.pop("id")
            for key in ("dtype", "astype", "encode_dtype", "decode_dtype"):
                if key in f:
                    f[key] = f[key].replace(">", "<")
        filtered(3, values(dtype.newbyteorder("<"), shape()), filters=[named(f.pop("name"), **f) for f in native],
                 serializer=BytesCodec(endian="little"),  # zarr-python takes big-endian elements for little-endian ones
                 compressors=[[], [ZstdCodec()], [named("numcodecs.bz2", level=1)], [named("numcodecs.lzma")]][len(cases) % 4])

# TensorStore, version 3
bfloat16 = ml_dtypes.bfloat16
little, big = named("bytes", endian="little"), named("bytes", endian="big")
blosc = [named("blosc", cname=c, clevel=5, shuffle=s, typesize=4, blocksize=0) for c, s in (("lz4", "shuffle"), ("zstd", "bitshuffle"), ("blosclz", "noshuffle"))]
for dtype in DTYPES + [bfloat16]:
    a = values(dtype)
    for codecs in ([little], [big], [little, named("zstd", level=1)], [little, named("gzip", level=1), named("crc32c")],
                   [named("transpose", order=[1, 2, 0]), little, blosc[len(cases) % 3]]):
        if np.dtype(dtype).itemsize == 1:
            codecs = [named("bytes") if c in (little, big) else c for c in codecs]
        metadata = {"shape": list(SHAPE), "data_type": np.dtype(dtype).name, "codecs": codecs,
                    "chunk_grid": named("regular", chunk_shape=list(CHUNKS))}
        store("zarr3", a, metadata)
        inner = named("sharding_indexed", chunk_shape=list(CHUNKS), codecs=codecs, index_location=("start", "end")[len(cases) % 2],
                      index_codecs=[(little, big)[len(cases) % 3 == 0], named("crc32c")][: 1 + len(cases) % 2])
        metadata = {**metadata, "codecs": [inner], "chunk_grid": named("regular", chunk_shape=list(SHARDS))}
        store("zarr3", a, metadata, hole=len(cases) % 3 == 0)
for dtype, fills in {"float32": ["0x7fc00001", "NaN", "-Infinity", 1.5], "float16": ["0x7e01"], "bfloat16": ["0x7fc0", "Infinity"], "complex64": [["NaN", 2]]}.items():
    for fill in fills:
        metadata = {"shape": list(SHAPE), "data_type": dtype, "fill_value": fill, "chunk_grid": named("regular", chunk_shape=list(CHUNKS)),
                    "dimension_names": ["x", None, "z"], "attributes": {"a": [1, None]}}
        store("zarr3", values(bfloat16 if dtype == "bfloat16" else dtype), metadata, hole=True)

# TensorStore, version 2
for dtype in ["|b1", "|i1", "<i2", ">i4", "<i8", "|u1", ">u2", "<u4", "<u8", "<f2", ">f4", "<f8", ">c8", "<c16", "bfloat16"]:
    a = values(bfloat16 if dtype == "bfloat16" else dtype)
    for compressor in (None, {"id": "zlib", "level": 1}, {"id": "zstd", "level": 1}, {"id": "bz2", "level": 1}, {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1}):
        if compressor is not None and compressor["id"] == "bz2":
            continue  # nothing maps onto it
        store("zarr", a, {"shape": list(SHAPE), "dtype": dtype, "chunks": list(CHUNKS), "compressor": compressor,
                          "order": "CF"[len(cases) % 2], "dimension_separator": "./"[len(cases) % 2]})



# Records of 8 and 16 bytes, by zarr-python as one number each, whose metadata say the fields then, also those that it does not write:
# arrays, padding, both orders of bytes. It writes flat records of any type by itself.
def fields(size, version, nest):
    """Names, NumPy types and metadata of fields that fill so many bytes, and their leaves by path."""
    left, types, metadata, leaves = size, [], [], []
    while left > 0:
        kind = str(rng.choice([k for k in ("u1", "i2", "f4", "f8", "c8", "f2", "M8[ns]", "S1", "in") if k == "in" or np.dtype(k).itemsize <= left]))
        name = f"f.{len(types)}" if rng.integers(4) == 0 else f"f{len(types)}"
        if kind == "in":
            if not nest or left < 2:
                continue
            inner_size = int(rng.integers(1, left))
            inner, stated, below = fields(inner_size, version, False)
            types.append((name, inner))
            stated = stated if version == 2 else named("struct", fields=stated)
            leaves += [(name + "." + path, (name,) + steps) for path, steps in below]
            shape = ()
        else:
            dtype = np.dtype(kind).newbyteorder("<>"[rng.integers(2)] if version == 2 else "<")
            shape = (int(rng.integers(1, left // dtype.itemsize + 1)),) if version == 2 and rng.integers(3) == 0 else ()
            types.append((name, dtype, shape))
            stated = dtype.str if version == 2 else {"S": named("null_terminated_bytes", length_bytes=1), "M": named("numpy.datetime64", unit="ns", scale_factor=1)}.get(dtype.kind, dtype.name)
            if dtype.kind != "S":
                leaves.append((name, (name,)))
        metadata.append([name, stated] + [list(shape)] * bool(shape) if version == 2 else {"name": name, "data_type": stated})
        left -= np.dtype([types[-1]]).itemsize
    return np.dtype(types), metadata, leaves


def leaf(a, steps):
    for step in steps:
        a = a[step]
    return a.view("i8" if a.dtype.isnative else ">i8") if a.dtype.kind == "M" else a


def records(version, size, **options):
    number = {8: "u8", 16: "c16"}[size]
    t, metadata, leaves = fields(size, version, True)
    a = np.frombuffer(rng.bytes(int(np.prod(SHAPE)) * size), t).reshape(SHAPE)
    name = name_of(f"records{version}-")
    z = zarr.create_array(folder / f"{name}.zarr", shape=SHAPE, dtype=number, chunks=CHUNKS, zarr_format=version, **options)
    z[:10] = a.view(number)[:10]
    a = a.copy()
    file = folder / f"{name}.zarr" / (".zarray" if version == 2 else "zarr.json")
    stated = json.loads(file.read_text())
    if version == 2:
        stated["dtype"], stated["fill_value"] = metadata, base64.b64encode(bytes(size)).decode()
    else:
        stated["data_type"], stated["fill_value"] = named("struct", fields=metadata), base64.b64encode(bytes(size)).decode()
    file.write_text(json.dumps(stated))
    a[10:] = np.zeros((), t)
    for path, steps in leaves:
        done_field(name, path, leaf(a, steps))


def done_field(name, path, a):
    (folder / f"{name}#{path}.raw").write_bytes(np.ascontiguousarray(a.astype(a.dtype.newbyteorder("<"))).tobytes())
    cases.append({"name": name, "field": path, "dtype": str(a.dtype.newbyteorder("=")), "shape": list(a.shape)})


for i in range(20):
    records(2, (8, 16)[i % 2], order="CF"[i // 2 % 2], compressors=compressors2[(0, 1, 2, 5, 6)[i % 5]])
    records(3, (8, 16)[i % 2], shards=(None, SHARDS)[i // 2 % 2], compressors=plain[i % 6] if i % 3 else [bloscs[i % len(bloscs)]],
            filters=[TransposeCodec(order=[int(n) for n in rng.permutation(3)])] if i % 4 == 0 else None)
for version, i in itertools.product((2, 3), range(4)):
    t = np.dtype([(f"f{j}", np.dtype(str(rng.choice(DTYPES))).newbyteorder("<>"[i % 2] if version == 2 else "<")) for j in range(1 + i)])
    a = np.zeros(SHAPE, t)
    for f in t.names:
        a[f] = values(t[f].newbyteorder("="))
    name = name_of(f"records{version}-")
    z = zarr.create_array(folder / f"{name}.zarr", shape=SHAPE, dtype=t, chunks=CHUNKS, zarr_format=version, fill_value=a[2, 3, 4])
    z[:10] = a[:10]
    a[10:] = a[2, 3, 4]
    for f in t.names:
        done_field(name, f, a[f])

(folder / "cases.json").write_text(json.dumps(cases))
