"""Makes cases for the oracle tests of operations: those of the modules in ops, with
what NumPy, SciPy or TensorLy say of them.

    python operations.py OUT --seed 1 [--only shape,order]

It reads the rows of operations as JSON in one line, prints all cases as JSON in one line,
reads from its input the numbers of those that are wanted, as JSON too, and writes the arrays
of these to OUT: the inputs, and for case 7 7.want, what it computes, and 7.error, the error
that is allowed.

A module's cases(rng), which finds the rows in ROWS, yields dicts: op, the function's name in expressions; expr;
in, the arrays by name; want, the expected array, or error, true, where there is
none; rtol and atol, which are 0 where all bits but those of NaN are to be equal, or
allowed, the error of each element.
"""
import argparse, functools, importlib, json, os, pathlib, sys
import ml_dtypes
import numpy as np


def layout(a, stem, rng):
    """Chooses one of the ways that an input may lie on disk, and returns the path to open and a function that writes it
    below a folder. All random numbers are drawn here, so that other cases do not depend on what is written."""
    way = rng.random()
    shape = a.shape
    if a.dtype == np.dtype(ml_dtypes.bfloat16) or way < 0.1:
        path = f"{stem}.bin?shape={'x'.join(map(str, shape)) or '()'}&dtype={a.dtype}"
        return path, lambda out: np.ascontiguousarray(a).tofile(os.path.join(out, stem + ".bin"))
    if way < 0.4 and a.ndim and a.size:
        chunks = tuple(int(rng.integers(1, n + 1)) if rng.random() < 0.6 else n for n in shape)
        while np.prod([-(-n // c) for n, c in zip(shape, chunks)]) > 200:
            chunks = tuple(min(2 * c, n) for n, c in zip(shape, chunks))

        def write(out):
            import zarr

            zarr.create_array(os.path.join(out, stem + ".zarr"), shape=shape, chunks=chunks, dtype=a.dtype)[...] = a

        return stem + ".zarr", write
    fortran = way < 0.55 and a.ndim > 1
    return stem + ".npy", lambda out: np.save(os.path.join(out, stem + ".npy"), np.asfortranarray(a) if fortran else a)


def write_want(out, i, made, want):
    with open(os.path.join(out, f"{i}.want"), "wb") as f:
        f.write(np.ascontiguousarray(want).tobytes())
    rtol, atol, error = made.get("rtol", 0), made.get("atol", 0), made.get("allowed")
    if rtol or atol:
        size = np.abs(want.astype("c16" if want.dtype.kind == "c" else "f8"))
        error = np.nan_to_num(rtol * size + atol, nan=0, posinf=0)
    if error is not None:
        error = np.broadcast_to(error, want.shape)
        with open(os.path.join(out, f"{i}.error"), "wb") as f:
            f.write(np.ascontiguousarray(error, "<f8").tobytes())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    o = p.parse_args()
    os.makedirs(o.out, exist_ok=True)
    np.seterr(all="ignore")
    rows = json.loads(sys.stdin.readline())
    listed, writers, only = [], [], set(filter(None, o.only.split(",")))
    for file in sorted((pathlib.Path(__file__).parent / "ops").glob("*.py")):
        if only and file.stem not in only:
            continue
        module = importlib.import_module("ops." + file.stem)
        module.ROWS = rows
        rng = np.random.default_rng([o.seed, *file.stem.encode()])
        for made in module.cases(rng):
            i = len(listed)
            case, write = {"family": made["op"], "expression": made["expr"], "inputs": {}}, []
            for name, a in made["in"].items():
                case["inputs"][name], put = layout(np.array(a), f"{i}{name}", rng)  # a copy: modules may go on with theirs
                write.append(put)
            if made.get("error"):
                case["rejected"] = "an error"
            else:
                want = np.array(made["want"])
                case["dtype"], case["shape"] = str(want.dtype), list(want.shape)
                case["chunks"] = [max(int(rng.integers(1, max(n, 1) + 1)), n // 8) for n in want.shape] if rng.random() < 0.5 else []
                write.append(functools.partial(write_want, i=i, made=made, want=want))
            listed.append(case)
            writers.append(write)
    print(json.dumps(listed), flush=True)
    for i in json.loads(sys.stdin.readline()):
        for write in writers[i]:
            write(o.out)


if __name__ == "__main__":
    main()
