"""Writes Icechunk repositories, and the numbers of their arrays in each commit: make.py FOLDER SEED FILES."""
import inspect
import json
import sys
from datetime import datetime, timedelta, timezone

import icechunk
import numpy as np
import zarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
pick = lambda *of: of[random.integers(len(of))]
cases = []
versions = [1, 2] if "spec_version" in inspect.signature(icechunk.Repository.create).parameters else [0]


def want(path, values):
    np.save(f"{out}/{len(cases)}.npy", np.asarray(values, order="C"))
    cases.append({"path": path, "want": f"{len(cases)}.npy"})


def draw(shape, dtype):
    return (random.standard_normal(shape) * 100).astype(dtype) if np.dtype(dtype).kind in "fc" else random.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)


def add(group, name):
    shape = tuple(int(n) for n in random.integers(1, 30, size=random.integers(0, 4)))
    chunks = tuple(int(random.integers(1, n + 1)) for n in shape)
    how = {"chunks": chunks, "dtype": pick("float32", "float64", "int16", "uint8", "int64", "complex64", "bool", "float16")}
    if shape and random.integers(4) == 0:
        how["shards"] = tuple(c * int(random.integers(1, 4)) for c in chunks)
    if random.integers(2):
        how["compressors"] = pick(None, GzipCodec(), ZstdCodec(), BloscCodec(cname="lz4"))
    if how["dtype"] != "bool":
        how["fill_value"] = pick(0, 7)
    array = group.create_array(name, shape=shape, dimension_names=pick(None, [f"d{i}" for i in range(len(shape))]), **how)
    edit(array)


def edit(array):
    if array.ndim == 0:
        array[...] = draw((), array.dtype)
        return
    from_ = [int(random.integers(n)) for n in array.shape]
    region = tuple(slice(a, int(random.integers(a + 1, n + 1))) for a, n in zip(from_, array.shape)) if random.integers(2) else (slice(None),) * array.ndim
    array[region] = draw(array[region].shape, array.dtype)


def virtual(store, k):
    """An array whose chunks lie in a file, some of them, and some are missing."""
    n, size = int(pick(3, 40)), 5
    values = draw((n * size,), "int16")
    file = f"{out}/a file of {k}.bin"
    values.tofile(file)
    array = zarr.create_array(store, name="virtual", shape=values.shape, chunks=(size,), dtype="int16", compressors=None, fill_value=3)
    for i in range(n):
        how = pick("written", "missing", "file", "file", "file")
        if how == "file":
            url = "file://" + file.replace(" ", "%20") if versions[-1] == 2 else "file://" + file
            store.set_virtual_ref(f"virtual/c/{i}", url, offset=2 * size * i, length=2 * size,
                                  checksum=pick(None, datetime.now(timezone.utc) + timedelta(days=1)))
        elif how == "written":
            array[i * size:(i + 1) * size] = values[i * size:(i + 1) * size]
        else:
            values[i * size:(i + 1) * size] = 3


k = 0
while len(cases) < files:
    k += 1
    config = icechunk.RepositoryConfig.default()
    config.inline_chunk_threshold_bytes = int(pick(0, 64, 512))
    if random.integers(2):
        split = icechunk.ManifestSplittingConfig.from_dict({icechunk.ManifestSplitCondition.AnyArray(): {icechunk.ManifestSplitDimCondition.Any(): int(random.integers(1, 5))}})
        config.manifest = icechunk.ManifestConfig(splitting=split)
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(f"file://{out}/", icechunk.local_filesystem_store(out)))
    version = pick(*versions)
    name = f"repo{k}" + pick("", ".icechunk", ".zarr")
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(f"{out}/{name}"), config=config, authorize_virtual_chunk_access={f"file://{out}/": None},
                                      **({"spec_version": version} if version else {}))
    refs, branches = [], ["main"]
    for commit in range(int(random.integers(1, 5))):
        branch = pick(*branches)
        session = repo.writable_session(branch)
        group = zarr.open_group(session.store, mode="a")
        arrays = [a for _, a in group.members(max_depth=None) if isinstance(a, zarr.Array)]
        for array in arrays:
            what = pick("edit", "edit", "leave", "delete", "append", "shrink")
            if what == "delete":
                del group[array.path]
            elif what in ("append", "shrink") and array.ndim and array.path != "virtual":
                array.resize((max(1, array.shape[0] + (7 if what == "append" else -5)),) + array.shape[1:])
            if what in ("edit", "append"):
                edit(group[array.path])
        for i in range(int(random.integers(1, 4))):
            add(group, pick("", "g/", "g/h/") + f"{commit}{i}")
        if "virtual" not in group and random.integers(3) == 0:
            virtual(session.store, f"{k}.{commit}")
        snapshot = session.commit(f"commit {commit}")
        refs.append(f"?snapshot={pick(str.lower, str.upper)(snapshot)}")
        if random.integers(3) == 0:
            repo.create_tag(f"v{commit}", snapshot_id=snapshot)
            refs.append(f"?tag=v{commit}")
        if random.integers(3) == 0:
            repo.create_branch(f"b {commit}", snapshot_id=snapshot)
            branches.append(f"b {commit}")
    refs += [f"?branch={b}" for b in branches] + [""]
    for ref in refs:
        kind, _, of = ref[1:].partition("=")
        of = of.upper() if kind == "snapshot" else of
        session = repo.readonly_session(**{{"snapshot": "snapshot_id", "": "branch"}.get(kind, kind): of or "main"})
        for path, array in zarr.open_group(session.store, mode="r").members(max_depth=None):
            if isinstance(array, zarr.Array):
                want(f"{name}{ref}#{path}", array[...])
    cases.append({"path": f"{name}?branch=none#a", "want": 'error: no branch "none": the repository has "'})
    cases.append({"path": f"{name}?tag=none#a", "want": 'error: no tag "none": the repository has '})
    cases.append({"path": f"{name}#none", "want": 'error: no array "none": the snapshot of branch "main" has "'})
json.dump(cases, open(out + "/cases.json", "w"))
