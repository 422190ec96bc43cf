#!/usr/bin/env python3
"""Times a model of 20 GB in float16 to Q4_K_M by the command in a memory cgroup of 512 MiB, beside llama.cpp's own quantizer and cp without a limit.

  quantize.py FOLDER GONBEXT LLAMA_QUANTIZE [ROUNDS [LAYERS]]
Run as root by a Python that has gguf; prints seconds of wall and of processors a round, and the tensors whose bits differ

None of the model is in the page cache when a contender starts, and its result is synced before its clock stops. The quantizer
is built from the sources of llama-cpp-python: cmake -B BUILD -DCMAKE_BUILD_TYPE=Release; cmake --build BUILD --target llama-quantize."""
import os
import subprocess
import sys
import time

import gguf
import numpy as np

folder, gonbext, quantizer = sys.argv[1:4]
rounds, layers = int((sys.argv + ["3"])[4] if len(sys.argv) > 4 else 3), int(sys.argv[5]) if len(sys.argv) > 5 else 31
HIDDEN, WIDE, WORDS = 5120, 13824, 32000
MODEL, OUT, THEIRS, COPY = (f"{folder}/{name}.gguf" for name in ("model", "out", "theirs", "copy"))
LIMIT = "/sys/fs/cgroup/memory" if os.path.isdir("/sys/fs/cgroup/memory") else "/sys/fs/cgroup"


def tensors():
    yield "token_embd.weight", (WORDS, HIDDEN)
    for i in range(layers):
        for name in ("q", "k", "v", "output"):
            yield f"blk.{i}.attn_{name}.weight", (HIDDEN, HIDDEN)
        for name in ("gate", "up", "down"):
            yield f"blk.{i}.ffn_{name}.weight", (HIDDEN, WIDE) if name == "down" else (WIDE, HIDDEN)
        for name in ("attn", "ffn"):
            yield f"blk.{i}.{name}_norm.weight", (HIDDEN,)
    yield "output_norm.weight", (HIDDEN,)
    yield "output.weight", (WORDS, HIDDEN)


def make():
    if os.path.exists(MODEL):
        return
    rng = np.random.default_rng(0)
    pool = (rng.standard_normal(1 << 28, "f4") * 0.02).astype("f2")
    w = gguf.GGUFWriter(MODEL + ".part", "llama")
    w.add_block_count(layers)
    w.add_context_length(4096)
    w.add_embedding_length(HIDDEN)
    w.add_feed_forward_length(WIDE)
    w.add_head_count(40)
    w.add_head_count_kv(40)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_vocab_size(WORDS)
    w.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    for name, shape in tensors():
        dtype = np.dtype("f2" if len(shape) == 2 else "f4")
        w.add_tensor_info(name, shape, dtype, int(np.prod(shape)) * dtype.itemsize)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_ti_data_to_file()
    for name, shape in tensors():
        n = int(np.prod(shape))
        at = rng.integers(0, pool.size - n)
        w.write_tensor_data(pool[at : at + n].reshape(shape) if len(shape) == 2 else np.ones(shape, "f4"))
    w.close()
    os.rename(MODEL + ".part", MODEL)


def timed(name, command, result, limit=None):
    """Runs a command with cold files until its result is on the disk."""
    if os.path.exists(result):
        os.remove(result)
    subprocess.run(["sync"], check=True)
    with open("/proc/sys/vm/drop_caches", "w") as f:
        f.write("1")
    group, inside = f"{LIMIT}/quantize{os.getpid()}", []
    if limit:
        os.mkdir(group)
        of = "memory.limit_in_bytes" if LIMIT.endswith("memory") else "memory.max"
        with open(f"{group}/{of}", "w") as f:
            f.write(str(limit))
        inside = ["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh"]
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(inside + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = os.times()
    subprocess.run(["sync"], check=True)
    seconds = time.perf_counter() - start
    if limit:
        time.sleep(0.2)
        os.rmdir(group)
    if done.returncode:
        sys.exit(f"{name} ended with {done.returncode}: {done.stderr[-1000:]}")
    print(f"{name}: {seconds:.1f} s, of processors {after.children_user - before.children_user:.1f} s and the kernel's {after.children_system - before.children_system:.1f} s", flush=True)


def compare():
    ours, theirs = ({t.name: t for t in gguf.GGUFReader(path).tensors} for path in (OUT, THEIRS))
    assert set(ours) == set(theirs)
    differ = [n for n in ours if ours[n].tensor_type != theirs[n].tensor_type or not np.array_equal(ours[n].data, theirs[n].data)]
    types = sorted({t.tensor_type.name for t in ours.values()})
    print(f"{len(ours)} tensors in {', '.join(types)}: {len(differ)} differ", *differ[:5])


os.makedirs(folder, exist_ok=True)
make()
for _ in range(rounds):
    timed("cp", ["cp", MODEL, COPY], COPY)
    os.remove(COPY)
    timed("gonbext", [gonbext, "convert", MODEL, OUT, "--codec", "q4_k_m", "--memory", "512MiB", "--fresh"], OUT, 512 << 20)
    timed("llama-quantize", [quantizer, MODEL, THEIRS, "Q4_K_M", str(os.cpu_count())], THEIRS)
compare()
