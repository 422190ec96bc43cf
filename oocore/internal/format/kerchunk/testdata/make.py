"""Writes files, references to them, and the numbers that they are of: make.py FOLDER SEED FILES."""
import base64
import json
import os
import sys

import h5py
import kerchunk.hdf
import numcodecs
import numpy as np

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
pick = lambda *of: of[random.integers(len(of))]
cases = []


def want(path, values):
    np.save(f"{out}/{len(cases)}.npy", np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="))))
    cases.append({"path": path, "want": f"{len(cases)}.npy"})


def draw(shape):
    dtype = np.dtype(pick("<f4", ">f8", "<i2", "u1", ">i4", "<u8", "<c8"))
    return (random.standard_normal(shape) * 100).astype(dtype) if dtype.kind != "u" else random.integers(0, 200, shape).astype(dtype)


for k in range(files // 4):
    # What kerchunk makes of an HDF5 file.
    shape = tuple(int(n) for n in random.integers(1, 12, size=random.integers(1, 4)))
    os.makedirs(f"{out}/data", exist_ok=True)
    arrays = {name: draw(shape) for name in ("a", "b/c")}
    with h5py.File(f"{out}/data/{k}.h5", "w") as f:
        for name, values in arrays.items():
            how = pick({}, {"chunks": tuple(int(random.integers(1, n + 1)) for n in shape)})
            if how:
                how = how | pick({}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True})
            f.create_dataset(name, data=values, **how)
    refs = kerchunk.hdf.SingleHdf5ToZarr(f"{out}/data/{k}.h5", inline_threshold=int(pick(0, 100))).translate()
    form = pick("absolute", "relative", "template", "version 0")
    for ref in refs["refs"].values():
        if isinstance(ref, list):
            ref[0] = {"absolute": ref[0], "relative": f"data/{k}.h5", "template": "{{u}}" + f"{k}.h5", "version 0": f"file://{out}/data/{k}.h5"}[form]
    if form == "template":
        refs["templates"] = {"u": "./data/"}
    json.dump(refs["refs"] if form == "version 0" else refs, open(f"{out}/{k}.json", "w"))
    for name, values in arrays.items():
        want(f"{k}.json#{name}", values)

while len(cases) < files:
    # Chunks in one file, in files of their own, inline, or missing.
    k = len(cases)
    shape = tuple(int(n) for n in random.integers(1, 12, size=random.integers(1, 4)))
    chunks = tuple(int(random.integers(1, n + 1)) for n in shape)
    values, codec = draw(shape), pick(None, numcodecs.Zlib(), numcodecs.Zstd(), numcodecs.Blosc())
    meta = {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": values.dtype.str, "order": "C", "filters": None,
            "compressor": codec and codec.get_config(), "fill_value": 0 if values.dtype.kind != "c" else None}
    refs = {".zgroup": '{"zarr_format": 2}', "x/.zarray": meta if random.integers(2) else json.dumps(meta), "x/.zattrs": "{}"}
    data = bytearray()
    for at in np.ndindex(*[-(-n // c) for n, c in zip(shape, chunks)]):
        where = tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, chunks))
        chunk = np.zeros(chunks, values.dtype)
        part = values[where]
        chunk[tuple(slice(n) for n in part.shape)] = part
        b = bytes(codec.encode(chunk)) if codec else chunk.tobytes()
        key = "x/" + ".".join(map(str, at))
        form = pick("one", "own", "inline", "missing")
        if form == "one":
            refs[key] = [f"{k}.bin", len(data), len(b)]
            data += b
        elif form == "own":
            name = f"{k}." + key.replace("/", "-")
            open(f"{out}/{name}", "wb").write(b)
            refs[key] = [name]
        elif form == "inline":
            refs[key] = "base64:" + base64.b64encode(b).decode()
        else:
            values[where] = 0
    open(f"{out}/{k}.bin", "wb").write(data)
    json.dump({"version": 1, "refs": refs}, open(f"{out}/{k}.json", "w"))
    want(f"{k}.json", values)
json.dump(cases, open(out + "/cases.json", "w"))
