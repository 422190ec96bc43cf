"""Writes and reads arrays with the libraries that others use.

    python libraries.py write FOLDER     makes the arrays of FOLDER/theirs.json
    python libraries.py read FOLDER      reads the arrays of FOLDER/ours.json

Each array I that is made has its elements in FOLDER/I.want: in C order,
little-endian. Those that are read are compared with such files; what differs is
printed, as a list in JSON of [I, library, what is wrong].
"""
import json, os, sys, zlib
import ml_dtypes, numpy as np, safetensors, tensorstore as ts, zarr
from safetensors import numpy as _  # registers NumPy's own way of loading
from zarr.core.buffer import default_buffer_prototype
from zarr.core.metadata.v2 import ArrayV2Metadata
from zarr.core.metadata.v3 import ArrayV3Metadata

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 1e-8]
ST = {"bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16", "uint32": "U32",
      "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "complex64": "C64",
      "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}


def dt(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def values(name, shape, seed):
    """Elements of which no two neighbours are equal and most compress, with what is special among them."""
    d, rng, n = dt(name), np.random.default_rng(seed), int(np.prod(shape, dtype=int))
    if d.kind == "b":
        a = rng.random(n) < 0.5
    elif d.kind in "iu":
        a = (np.arange(n) * 3 + rng.integers(0, 2, n)).astype(d)
        a[:2] = [np.iinfo(d).min, np.iinfo(d).max][:n]
    else:
        a = (np.linspace(-3, 3, n) + rng.standard_normal(n) / 64).astype("complex128" if d.kind == "c" else "float64")
        a[:5] = SPECIAL[:n]
        if d.kind == "c":
            a = a + 1j * a[::-1]
        with np.errstate(all="ignore"):
            a = a.astype(d)
    return a.reshape(shape)


def raw(a):
    """The elements in C order, little-endian."""
    a = np.asarray(a)
    if a.dtype.byteorder == ">":
        a = a.astype(a.dtype.newbyteorder("<"))
    return a.tobytes()


def write_zarr_python(path, case, a):
    meta = (ArrayV3Metadata if case["Metadata"]["zarr_format"] == 3 else ArrayV2Metadata).from_dict(case["Metadata"])
    os.makedirs(path)
    for name, text in meta.to_buffer_dict(default_buffer_prototype()).items():
        with open(os.path.join(path, name), "wb") as f:
            f.write(text.to_bytes())
    z = zarr.open_array(path, mode="r+")
    assign(z, case, a)


def write_tensorstore(path, case, a):
    m = dict(case["Metadata"])
    driver = "zarr3" if m["zarr_format"] == 3 else "zarr"
    if driver == "zarr3":
        m = {k: v for k, v in m.items() if k != "storage_transformers"}
    z = ts.open({"driver": driver, "kvstore": {"driver": "file", "path": path}, "metadata": m}, create=True).result()
    assign(z, case, a)


def assign(z, case, a):
    if case["Part"]:
        part = tuple(slice(0, n) for n in case["Part"])
        z[part] = a[part]
    elif a.size:
        z[...] = a


def write_numpy(path, case, a):
    if case["Order"] == "F":
        a = np.array(a, order="F")
    if case["Endian"] == ">":
        a = a.astype(a.dtype.newbyteorder(">"))
    path, _, name = path.partition("#")
    if path.endswith(".npy"):
        with open(path, "wb") as f:
            np.lib.format.write_array(f, a, version=(case["Version"], 0))
    else:
        save = np.savez_compressed if case["Deflated"] else np.savez
        save(path, **({name: a, "other": np.arange(5)} if name else {"only": a}))


def write_safetensors(path, case, a):
    path, _, name = path.partition("#")
    b = np.array(a, order="C")
    spec = lambda d, b: safetensors.TensorSpec(dtype=d, shape=list(b.shape), data_ptr=b.ctypes.data, data_len=b.nbytes)
    other = np.arange(7, dtype="u1")
    tensors = {name: spec(case["DType"], b), "other": spec("uint8", other)} if name else {"only": spec(case["DType"], b)}
    safetensors.serialize_file(tensors, path, {"by": "safetensors"})


WRITE = {"zarr-python": write_zarr_python, "TensorStore": write_tensorstore, "NumPy": write_numpy, "safetensors": write_safetensors}


def write(folder):
    for i, case in enumerate(json.load(open(os.path.join(folder, "theirs.json")))):
        a = values(case["DType"], case["Shape"], zlib.crc32(case["Path"].encode()))
        try:
            WRITE[case["Library"]](os.path.join(folder, case["Path"]), case, a)
        except Exception as e:
            sys.exit(f"{case['Name']}: {case['Library']} cannot write it: {e!r}")
        if case["Part"]:
            whole = np.full(a.shape, np.frombuffer(bytes.fromhex(case["Fill"]), a.dtype)[0], a.dtype)
            part = tuple(slice(0, n) for n in case["Part"])
            whole[part] = a[part]
            a = whole
        with open(os.path.join(folder, f"{i}.want"), "wb") as f:
            f.write(raw(a))


def read_zarr_python(path, case):
    return zarr.open_array(path, mode="r")[...]


def read_tensorstore(path, case):
    return ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}, open=True).result().read().result()


def read_numpy(path, case):
    path, _, name = path.partition("#")
    a = np.load(path)
    return a[name or "arr_0"] if path.endswith(".npz") else a


def read_safetensors(path, case):
    path, _, name = path.partition("#")
    with open(path, "rb") as f:
        tensors = dict(safetensors.deserialize(f.read()))
    t = tensors[name or "tensor"]
    if t["dtype"] != ST[case["DType"]]:
        raise ValueError(f"its dtype is {t['dtype']}")
    return np.frombuffer(bytes(t["data"]), dt(case["DType"])).reshape(t["shape"])


READ = {"zarr-python": read_zarr_python, "TensorStore": read_tensorstore, "NumPy": read_numpy, "safetensors": read_safetensors}


def read(folder):
    wrong = []
    for i, case in enumerate(json.load(open(os.path.join(folder, "ours.json")))):
        want = open(os.path.join(folder, f"{i}.want"), "rb").read()
        for library in case["Libraries"]:
            try:
                a = READ[library](os.path.join(folder, case["Path"]), case)
                if a.dtype != dt(case["DType"]) or list(a.shape) != case["Shape"]:
                    wrong.append([i, library, f"it is {a.dtype} of {a.shape}"])
                elif raw(a) != want:
                    wrong.append([i, library, "other elements"])
            except Exception as e:
                wrong.append([i, library, repr(e)[:400]])
    print(json.dumps(wrong))


{"write": write, "read": read}[sys.argv[1]](sys.argv[2])
