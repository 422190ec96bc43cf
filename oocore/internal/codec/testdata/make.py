"""Makes reference.zip: chunks as numcodecs, zarr-python and TensorStore encode them.

    python make.py reference.zip
    python make.py --decode IN OUT    decodes chunks of ours, for the reverse direction

cases.json in it lists them: what the metadata say, and in CASE.chunk and DATA.raw the
encoded and the decoded bytes (in C order, little-endian).
"""
import json
import sys
import zipfile

import numpy as np


def picture(shape, dtype):
    """Elements with something to compress, of every bit pattern's kind."""
    i = np.arange(int(np.prod(shape)), dtype="f8")
    v = np.round(100 * np.sin(i / 97) + 30 * np.cos(i % 64 / 11))
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        v = v + 1j * np.round(v / 3)
    elif dtype.kind == "u":
        v = np.abs(v)
    elif dtype.kind == "b":
        v = v > 20
    return v.astype(dtype).reshape(shape)


def noise(shape, dtype):
    dtype = np.dtype(dtype)
    n = int(np.prod(shape)) * dtype.itemsize
    return np.random.default_rng(1).integers(0, 256, n, dtype="u1").view(dtype).reshape(shape)


def v2(codecs):
    """Encodes with numcodecs, as zarr v2 does: the compressor is the last codec."""
    def encode(a, order="C", big=False):
        stored = a.astype(a.dtype.newbyteorder(">" if big else "<"))
        data = np.asarray(stored.ravel(order=order))
        for c in codecs:
            data = c.encode(data)
        meta = {"filters": [c.get_config() for c in codecs[:-1]] or None, "order": order, "big": big,
                "compressor": codecs[-1].get_config() if codecs else None}
        return meta, bytes(data)
    return encode


def v3(**how):
    """Encodes with zarr-python, which writes one chunk into memory."""
    def encode(a, **_):
        import zarr
        store = {}
        z = zarr.create_array(zarr.storage.MemoryStore(store), shape=a.shape, chunks=a.shape, dtype=a.dtype,
                              zarr_format=3, fill_value=None, config={"write_empty_chunks": True}, **how)
        z[...] = a
        meta = json.loads(store["zarr.json"].to_bytes())
        [chunk] = [v.to_bytes() for k, v in store.items() if k != "zarr.json"]
        return {"codecs": meta["codecs"]}, chunk
    return encode


def tensorstore(codecs):
    def encode(a, **_):
        import tensorstore as ts
        kv = ts.KvStore.open("memory://").result()
        t = ts.open({"driver": "zarr3", "kvstore": "memory://", "metadata": {
            "shape": a.shape, "data_type": a.dtype.name, "codecs": codecs,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": a.shape}}}},
            create=True, context=(context := ts.Context())).result()
        t.write(a).result()
        kv = ts.KvStore.open("memory://", context=context).result()
        meta = json.loads(kv["zarr.json"])
        [chunk] = [kv[k] for k in kv.list().result() if k != b"zarr.json"]
        return {"codecs": meta["codecs"]}, bytes(chunk)
    return encode


def cases():
    """name, array, encoder, options"""
    import numcodecs as nc
    import zarr.codecs as zc
    nc.blosc.use_threads = False
    f4 = picture((40, 50), "f4")
    # Blosc: compressors, shuffles, sizes of elements, and blocks that are left over.
    for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for shuffle in (0, 1, 2):
            for dtype in ("u1", "i2", "f4", "f8", "c16"):
                for n, block in ((1600, 0), (1001, 2048)):
                    if shuffle == 0 and dtype not in ("u1", "f4"):
                        continue
                    a = picture((n,), dtype)
                    yield f"blosc {cname} {shuffle} {dtype} {n}", a, v2([nc.Blosc(cname, 5, shuffle, block)]), {}
        for level in (0, 1, 9):
            yield f"blosc {cname} level {level}", f4, v2([nc.Blosc(cname, level, 1)]), {}
        yield f"blosc {cname} noise", noise((700,), "f8"), v2([nc.Blosc(cname, 5, 1)]), {}
        yield f"blosc {cname} one", picture((1,), "f4"), v2([nc.Blosc(cname, 5, 2)]), {}
    yield "blosc large", picture((300, 500), "f4"), v2([nc.Blosc("lz4", 5, 1)]), {}
    yield "blosc bits large", picture((301, 499), "i2"), v2([nc.Blosc("zstd", 9, 2)]), {}
    yield "blosc auto", picture((90,), "u1"), v2([nc.Blosc("lz4", 5, -1)]), {}
    # What else numcodecs has.
    for level in (-5, 1, 3, 9, 19):
        yield f"zstd {level}", f4, v2([nc.Zstd(level)]), {}
    yield "zstd checksum", f4, v2([nc.Zstd(3, checksum=True)]), {}
    yield "zstd large", picture((300, 500), "f8"), v2([nc.Zstd(3)]), {}
    for level in (0, 1, 9):
        yield f"gzip {level}", f4, v2([nc.GZip(level)]), {}
        yield f"zlib {level}", f4, v2([nc.Zlib(level)]), {}
    yield "lz4", f4, v2([nc.LZ4()]), {}
    yield "lz4 noise", noise((700,), "f8"), v2([nc.LZ4()]), {}
    yield "shuffle, zlib", f4, v2([nc.Shuffle(4), nc.Zlib(5)]), {}
    yield "shuffle", f4, v2([nc.Shuffle(4)]), {}
    yield "none", f4, v2([]), {}
    for order in "CF":
        for big in (False, True):
            for dtype in ("?", "u1", "i2", "f4", "f8", "c8", "c16"):
                yield f"{order} {big} {dtype}", picture((5, 6, 7), dtype), v2([nc.Zstd(1)]), {"order": order, "big": big}
    # Zarr v3, by zarr-python.
    for dtype in ("bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128"):
        for endian in ("little", "big"):
            a = picture((9, 10, 11), dtype)
            yield f"v3 {dtype} {endian}", a, v3(serializer=zc.BytesCodec(endian=endian), compressors=zc.ZstdCodec(level=1)), {}
    a = picture((9, 10, 11), "float32")
    for order in ((0, 2, 1), (2, 1, 0), (1, 2, 0)):
        yield f"v3 transpose {order}", a, v3(filters=[zc.TransposeCodec(order=order)], compressors=zc.GzipCodec(level=5)), {}
    yield "v3 two transposes", a, v3(filters=[zc.TransposeCodec(order=(1, 2, 0)), zc.TransposeCodec(order=(0, 2, 1))], compressors=None), {}
    yield "v3 none", a, v3(compressors=None), {}
    yield "v3 crc32c", a, v3(compressors=zc.Crc32cCodec()), {}
    yield "v3 zstd crc32c", a, v3(compressors=[zc.ZstdCodec(level=3, checksum=True), zc.Crc32cCodec()]), {}
    yield "v3 crc32c gzip", a, v3(compressors=[zc.Crc32cCodec(), zc.GzipCodec(level=1)]), {}
    for cname in ("lz4", "zstd", "zlib"):
        for shuffle in ("noshuffle", "shuffle", "bitshuffle"):
            yield f"v3 blosc {cname} {shuffle}", a, v3(compressors=zc.BloscCodec(cname=cname, clevel=5, shuffle=shuffle)), {}
    yield "v3 blosc crc32c", a, v3(compressors=[zc.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"), zc.Crc32cCodec()]), {}
    # And by TensorStore.
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    for codecs in (
            [little, {"name": "zstd", "configuration": {"level": 3}}],
            [little, {"name": "gzip", "configuration": {"level": 5}}],
            [little, {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}],
            [little, {"name": "blosc", "configuration": {"cname": "blosclz", "clevel": 5, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0}}],
            [{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, little, {"name": "crc32c"}]):
        yield "tensorstore " + codecs[-1]["name"], a, tensorstore(codecs), {}


def make(path):
    all, raws = [], {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for i, (name, a, encode, options) in enumerate(cases()):
            meta, chunk = encode(a, **options)
            raw = a.astype(a.dtype.newbyteorder("<")).tobytes()
            at = raws.setdefault(raw, len(raws))
            all.append({"name": name, "dtype": a.dtype.name, "chunk": a.shape, "data": f"{at}.raw", **meta})
            z.writestr(f"{i}.chunk", chunk)
        for raw, at in raws.items():
            z.writestr(f"{at}.raw", raw)
        z.writestr("cases.json", json.dumps(all, indent=1))


def decode(source, target):
    """Decodes chunks by the codecs in their metadata, in numcodecs' form."""
    import numcodecs as nc
    with zipfile.ZipFile(source) as z, zipfile.ZipFile(target, "w") as out:
        for i, codecs in enumerate(json.loads(z.read("cases.json"))):
            data = z.read(f"{i}.chunk")
            for c in reversed(codecs or []):
                data = nc.get_codec(c).decode(data)
            out.writestr(f"{i}.raw", bytes(data))


if __name__ == "__main__":
    if sys.argv[1] == "--decode":
        decode(*sys.argv[2:])
    else:
        make(sys.argv[1])
