"""Packs the repositories v1 and v2, which icechunk of version 2 writes, into archives beside it: fixtures.py."""
import os
import shutil
import tempfile
from datetime import datetime, timezone

import icechunk
import numpy as np
import zarr

here = os.path.dirname(os.path.abspath(__file__))
for version in (1, 2):
    root = f"{tempfile.mkdtemp()}/v{version}"
    config = icechunk.RepositoryConfig.default()
    config.inline_chunk_threshold_bytes = 30
    config.manifest = icechunk.ManifestConfig(splitting=icechunk.ManifestSplittingConfig.from_dict(
        {icechunk.ManifestSplitCondition.path_matches("grp/a$"): {icechunk.ManifestSplitDimCondition.Any(): 2}}))
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer("file:///data/", icechunk.local_filesystem_store("/data")))
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(root), config=config, spec_version=version)
    session = repo.writable_session("main")
    group = zarr.group(session.store, attributes={"title": "small"})
    a = group.create_array("grp/a", shape=(6, 8), chunks=(2, 4), dtype="f4", dimension_names=("y", "x"), compressors=None, attributes={"units": "K"})
    a[:] = np.arange(48).reshape(6, 8)
    group.create_array("grp/x", shape=(8,), chunks=(8,), dtype="i2", dimension_names=("x",), compressors=None)[:] = np.arange(8) * 10
    group.create_array("scalar", shape=(), dtype="f8")[...] = 3.5
    s = group.create_array("shards", shape=(40,), chunks=(5,), shards=(20,), dtype="i4")
    s[:] = np.arange(40)
    v = group.create_array("virtual", shape=(4,), chunks=(2,), dtype="u1", compressors=None, fill_value=9)
    session.store.set_virtual_ref("virtual/c/0", "file:///data/none.bin", offset=3, length=2, checksum=datetime(2026, 1, 1, tzinfo=timezone.utc))
    first = session.commit("one")
    repo.create_tag("v1", snapshot_id=first)
    repo.create_branch("dev", snapshot_id=first)
    session = repo.writable_session("dev")
    array = zarr.open_array(session.store, path="grp/a")
    array.resize((8, 8))
    array[0:2, 0:4] = -1
    session.commit("two")
    for unread in ("transactions", "overwritten"):
        shutil.rmtree(f"{root}/{unread}", ignore_errors=True)
    shutil.make_archive(f"{here}/v{version}", "zip", root)
    shutil.rmtree(os.path.dirname(root))
