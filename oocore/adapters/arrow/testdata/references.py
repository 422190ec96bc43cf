"""Writes chunks, references to them in Parquet by fsspec, and the numbers that they are of: references.py FOLDER SEED FILES."""
import json
import sys

import fsspec
import numpy as np
from fsspec.implementations.reference import LazyReferenceMapper

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []
for k in range(files // 2):
    root = f"{out}/{k}.parq"
    mapper = LazyReferenceMapper.create(root, fs=fsspec.filesystem("file"), record_size=int(random.integers(1, 9)), engine="pyarrow", categorical_threshold=int(random.integers(1, 20)))
    mapper[".zgroup"] = b'{"zarr_format": 2}'
    data = bytearray()
    for name in ("x", "g/y"):
        shape = tuple(int(n) for n in random.integers(1, 12, size=random.integers(0, 4)))
        chunks = tuple(int(random.integers(1, n + 1)) for n in shape)
        values = random.integers(0, 1 << 15, shape).astype("<i4")
        mapper[f"{name}/.zarray"] = json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<i4", "order": "C", "filters": None,
                                               "compressor": None, "fill_value": 7}).encode()
        for at in np.ndindex(*[-(-n // c) for n, c in zip(shape, chunks)]):
            part = tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, chunks))
            chunk = np.zeros(chunks, "<i4")
            chunk[tuple(slice(n) for n in values[part].shape)] = values[part]
            key = f"{name}/" + (".".join(map(str, at)) or "0")
            match random.integers(4):
                case 0 if shape:
                    values[part] = 7  # missing
                case 1:
                    mapper[key] = chunk.tobytes()
                case 2:
                    with open(f"{out}/{k}-{key.replace('/', '-')}.bin", "wb") as f:
                        f.write(chunk.tobytes())
                    mapper[key] = [f.name]
                case _:
                    mapper[key] = [f"{out}/{k}.bin", len(data), chunk.nbytes]
                    data += chunk.tobytes()
        np.save(f"{out}/{len(cases)}.npy", values)
        cases.append({"path": f"{k}.parq#{name}", "want": f"{len(cases)}.npy"})
    mapper.flush()
    with open(f"{out}/{k}.bin", "wb") as f:
        f.write(data)
with open(f"{out}/cases.json", "w") as f:
    json.dump(cases, f)
