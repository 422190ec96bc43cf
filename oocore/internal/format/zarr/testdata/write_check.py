"""Reads Zarr arrays with zarr-python and with TensorStore.

    python write_check.py FOLDER

FOLDER/cases.json is a list of {name, dtype, shape, fill, dims, attributes}; the
array is FOLDER/name.zarr, its elements, dense and in C order, FOLDER/name.raw.
What differs is printed, a line each; then the number of readings that were equal.
"""
import json
import pathlib
import sys

import ml_dtypes
import numpy as np
import tensorstore as ts
import zarr


def with_zarr(path):
    a = zarr.open_array(str(path), mode="r")
    return np.asarray(a[...]), a


def with_tensorstore(path):
    a = ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path) + "/"}}).result()
    return np.asarray(a.read().result()), a


def main(folder):
    equal = 0
    for case in json.loads((folder / "cases.json").read_text()):
        want = (folder / (case["name"] + ".raw")).read_bytes()
        for reader in (with_zarr, with_tensorstore):
            # zarr-python has no bfloat16
            if reader is with_zarr and case["dtype"] == "bfloat16":
                continue
            who = f"{case['name']} with {reader.__name__[5:]}"
            try:
                got, a = reader(folder / (case["name"] + ".zarr"))
            except Exception as e:
                print(f"{who}: {type(e).__name__}: {e}".replace("\n", " "))
                continue
            if str(got.dtype) != case["dtype"] or list(got.shape) != case["shape"]:
                print(f"{who}: {got.dtype} of {got.shape}")
            elif got.tobytes() != want:
                print(f"{who}: other elements")
            elif reader is with_zarr and (dict(a.attrs) != case["attributes"] or a.metadata.dimension_names and list(a.metadata.dimension_names) != case["dims"]):
                print(f"{who}: other attributes or dimension names: {dict(a.attrs)} {a.metadata.dimension_names}")
            else:
                equal += 1
    print(equal)


main(pathlib.Path(sys.argv[1]))
