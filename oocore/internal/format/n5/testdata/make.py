"""Writes N5 by TensorStore, and the numbers in C order: make.py FOLDER SEED FILES."""
import json
import sys

import numpy as np
import tensorstore

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
pick = lambda *of: of[random.integers(len(of))]
cases = []
for k in range(files):
    shape = [int(n) for n in random.integers(1, 12, size=random.integers(1, 5))]
    dtype = pick("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64")
    compression = pick({"type": "raw"}, {"type": "gzip", "level": int(random.integers(-1, 10)), "useZlib": bool(random.integers(2))},
                       {"type": "zstd", "level": 3}, {"type": "blosc", "cname": pick("lz4", "zstd", "zlib"), "clevel": 5, "shuffle": pick(0, 1, 2)})
    path = f"{k}.n5" + pick("", "/x", "/group/x")
    store = tensorstore.open({
        "driver": "n5", "kvstore": f"file://{out}/{path}/", "metadata": {
            "dimensions": shape, "blockSize": [int(random.integers(1, n + 3)) for n in shape], "dataType": dtype, "compression": compression},
    }, create=True).result()
    values = (random.standard_normal(shape) * 100).astype(dtype)
    store[...] = values
    if random.integers(2):  # blocks that are not stored
        values[:1] = 0
        store[:1] = 0
    np.save(f"{out}/{k}.npy", np.ascontiguousarray(values.transpose()))
    cases.append({"path": path, "want": f"{k}.npy"})
json.dump(cases, open(out + "/cases.json", "w"))
