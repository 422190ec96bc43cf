"""Writes Parquet files by pyarrow, and what NumPy has of their columns: make.py FOLDER SEED FILES."""
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []


def numbers(shape):
    dtype = np.dtype(str(random.choice(["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "M8[ms]", "M8[us]", "M8[ns]", "M8[D]"])))
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, size=shape, dtype=dtype, endpoint=True)
    if dtype.kind == "M":
        return random.integers(-(2**30), 2**30, size=shape).astype(dtype)
    return (random.standard_normal(shape) * 3).astype(dtype)


for k in range(files):
    rows = int(random.integers(1, 300))
    fields, wants = {}, {}
    for c in range(int(random.integers(1, 4))):
        name = f"column {c}"
        kind = random.choice(["plain", "fixed", "list", "struct", "null", "text", "ragged"], p=[0.45, 0.2, 0.15, 0.05, 0.05, 0.05, 0.05])
        length = 1 if kind in ("plain", "struct", "null", "text") else int(random.integers(1, 9))
        values = numbers((rows, length))
        flat = pa.array(values.reshape(-1))
        want = values if kind in ("fixed", "list") else values[:, 0]
        if kind == "fixed":
            fields[name] = pa.FixedSizeListArray.from_arrays(flat, length)
        elif kind == "list":
            fields[name] = pa.ListArray.from_arrays(pa.array(np.arange(0, rows * length + 1, length), pa.int32()), flat)
        elif kind == "ragged":
            fields[name] = pa.array([[1.0], [2.0, 3.0]] + [[1.0]] * rows)[:rows]
            want = "error: lists" if rows > 1 else np.ones((1, 1))
        elif kind == "struct":
            fields[name] = pa.StructArray.from_arrays([flat], ["x"])
            name += ".x"
        elif kind == "null":
            missing = np.zeros(rows, bool)
            missing[random.integers(rows)] = True
            fields[name] = pa.array(values[:, 0], mask=missing)
            want = f"error: row "
            if values.dtype.kind == "f":
                want = np.where(missing, np.float64("nan"), values[:, 0]).astype(values.dtype)
        elif kind == "text":
            fields[name] = pa.array([str(v) for v in range(rows)])
            want = "error: its elements are"
        else:
            fields[name] = flat
        wants[name] = want
    encodings = {}
    dictionary = bool(random.integers(2))
    for name, column in fields.items():
        if not dictionary and column.type in (pa.int32(), pa.int64()):
            encodings[name] = "DELTA_BINARY_PACKED"
        elif not dictionary and column.type in (pa.float32(), pa.float64()):
            encodings[name] = "BYTE_STREAM_SPLIT"
    pq.write_table(
        pa.table(fields), f"{out}/{k}.parquet", row_group_size=int(random.integers(1, rows + 20)),
        compression=str(random.choice(["none", "snappy", "gzip", "zstd", "brotli", "lz4"])),
        use_dictionary=dictionary, column_encoding=encodings or None, data_page_size=int(random.integers(16, 4096)),
        data_page_version=str(random.choice(["1.0", "2.0"])), store_schema=bool(random.integers(2)),
    )
    for c, (name, want) in enumerate(wants.items()):
        if not isinstance(want, str):
            if want.dtype.kind == "M":
                want = want.astype("i4" if want.dtype == "M8[D]" else "i8")
            np.save(f"{out}/{k}-{c}.npy", np.ascontiguousarray(want))
            want = f"{k}-{c}.npy"
        cases.append({"path": f"{k}.parquet#{name}", "want": want})
json.dump(cases, open(out + "/cases.json", "w"))
