"""A checkpoint of a language model in bfloat16 and FP8, as sharded safetensors, with a LoRA
adapter of rank 64, and what its users write to convert and merge it, a shard at a time.
checkpoint.py make|check.JOB|JOB FOLDER"""
import json
import os
import random
import sys

import gguf
import ml_dtypes
import numpy as np
from safetensors.numpy import load_file, save_file

from sizes import LAYERS

job, work = sys.argv[1:3]
MODEL, ADAPTER = os.path.join(work, "checkpoint"), os.path.join(work, "adapter")
INDEX, OUT, GGUF = (os.path.join(work, name) for name in ("checkpoint/model.safetensors.index.json", "out.safetensors.index.json", "out.gguf"))
BF16, FP8 = np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e4m3fn)
NAMES = {BF16: "BF16", FP8: "F8_E4M3", np.dtype("f2"): "F16", np.dtype("f4"): "F32"}
HIDDEN, WIDE, RANK, ALPHA = 2048, 10752, 64, 128  # with 200 layers 20 GB
PER_SHARD = 5
Q8_0 = gguf.GGMLQuantizationType.Q8_0


def layer(i):
    """Names, types and shapes: ten tensors and 100 MB."""
    for name in "qkvo":
        yield f"model.layers.{i}.self_attn.{name}_proj.weight", BF16, (HIDDEN, HIDDEN)
    for name in ("gate", "up", "down"):
        shape = (HIDDEN, WIDE) if name == "down" else (WIDE, HIDDEN)
        yield f"model.layers.{i}.mlp.{name}_proj.weight", FP8, shape
        yield f"model.layers.{i}.mlp.{name}_proj.weight_scale_inv", np.dtype("f4"), (shape[0] // 128, shape[1] // 128)


def make():
    if os.path.exists(INDEX):
        return
    for folder in (MODEL, ADAPTER):
        os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(0)
    pool = rng.integers(0, 1 << 16, 1 << 26, dtype="u2")
    bits = {BF16: (pool & 0x83FF) | 0x3C00, FP8: pool.view("u1") & 0xBF, np.dtype("f4"): rng.random(1 << 16, "f4")}
    files, size, factors = {}, 0, {}
    shards = [range(i, min(i + PER_SHARD, LAYERS)) for i in range(0, LAYERS, PER_SHARD)]
    for n, layers in enumerate(shards):
        tensors = {}
        for i in layers:
            for name, dtype, shape in layer(i):
                begin = rng.integers(0, bits[dtype].size - np.prod(shape))
                tensors[name] = bits[dtype][begin : begin + np.prod(shape)].view(dtype).reshape(shape)
                if dtype == BF16:
                    module = "base_model.model." + name.removesuffix(".weight")
                    for side, of in (("A", (RANK, HIDDEN)), ("B", (HIDDEN, RANK))):
                        factors[f"{module}.lora_{side}.weight"] = rng.standard_normal(of, "f4") / 32
        file = f"model-{n + 1:05}-of-{len(shards):05}.safetensors"
        save_file(tensors, os.path.join(MODEL, file))
        files |= dict.fromkeys(tensors, file)
        size += sum(t.nbytes for t in tensors.values())
    save_file(factors, os.path.join(ADAPTER, "adapter_model.safetensors"))
    with open(os.path.join(ADAPTER, "adapter_config.json"), "w") as f:
        json.dump({"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA}, f)
    write_index(INDEX, files, size)


def write_index(path, files, size):
    with open(path, "w") as f:
        json.dump({"metadata": {"total_size": size}, "weight_map": files}, f)


class Model:
    """The tensors of a checkpoint, mapped."""

    def __init__(self, index):
        with open(index) as f:
            self.folder, self.files = os.path.dirname(index), json.load(f)["weight_map"]

    def __getitem__(self, name):
        path = os.path.join(self.folder, self.files[name])
        with open(path, "rb") as f:
            length = int.from_bytes(f.read(8), "little")
            of = json.loads(f.read(length))[name]
        dtype = next(t for t, text in NAMES.items() if text == of["dtype"])
        return np.memmap(path, dtype, "r", 8 + length + of["data_offsets"][0], tuple(of["shape"]))


def merged(name, w, factors):
    module = "base_model.model." + name.removesuffix(".weight")
    if (a := factors.get(module + ".lora_A.weight")) is None:
        return w
    delta = (factors[module + ".lora_B.weight"] @ a) * np.float32(ALPHA / RANK)
    return w + delta.astype(w.dtype)


def shards(change):
    """Writes each shard anew, with what change makes of its tensors."""
    model, size = Model(INDEX), 0
    for file in sorted(set(model.files.values())):
        tensors = {name: change(name, model[name]) for name in model.files if model.files[name] == file}
        size += sum(t.nbytes for t in tensors.values())
        save_file(tensors, os.path.join(work, "out-" + file))
    write_index(OUT, {name: "out-" + file for name, file in model.files.items()}, size)


def float16():
    shards(lambda name, t: t.astype("f2"))


def lora():
    factors = load_file(os.path.join(ADAPTER, "adapter_model.safetensors"))
    shards(lambda name, t: merged(name, t, factors))


def quantized(t):
    t = np.asarray(t, "f4")
    return gguf.quants.quantize(t, Q8_0) if t.shape[-1] % 32 == 0 else t


def q8_0():
    model = Model(INDEX)
    w = gguf.GGUFWriter(GGUF, "llama")
    for name in model.files:
        t = model[name]
        if t.shape[-1] % 32:
            w.add_tensor_info(name, t.shape, np.dtype("f4"), 4 * t.size)
        else:
            w.add_tensor_info(name, (*t.shape[:-1], t.shape[-1] // 32 * 34), np.dtype("u1"), t.size // 32 * 34, Q8_0)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_ti_data_to_file()
    for name in model.files:
        w.write_tensor_data(quantized(model[name]))
    w.close()


def check():
    """Compares sampled tensors bit by bit; sums of products may be rounded to a neighbour."""
    kind = job.removeprefix("check.")
    model = Model(INDEX)
    of = random.Random(1)
    layers = {0, LAYERS - 1, of.randrange(LAYERS), of.randrange(LAYERS)}
    names = [name for i in layers for name, _, _ in layer(i)]
    if kind == "q8_0":
        read = gguf.GGUFReader(GGUF)
        got = {t.name: t for t in read.tensors}
        assert len(got) == len(model.files)
        for name in names:
            np.testing.assert_array_equal(np.asarray(got[name].data).view("u1").ravel(), quantized(model[name]).view("u1").ravel(), name)
        return
    out = Model(OUT)
    assert set(out.files) == set(model.files)
    factors = load_file(os.path.join(ADAPTER, "adapter_model.safetensors"))
    for name in names:
        got, w = out[name], model[name]
        if kind == "float16":
            np.testing.assert_array_equal(got, w.astype("f2"), name)
            continue
        want = merged(name, w, factors)
        assert got.dtype == want.dtype
        bits = f"u{want.dtype.itemsize}"
        off = got.view(bits) != want.view(bits)
        was, got, want = (x[off].astype("f4") for x in (w, got, want))
        # What is added may be rounded to its neighbour, and nearly cancel.
        assert off.mean() < 1e-3 and (np.abs(got - want) <= 2.0**-7 * (np.abs(was) + np.abs(want))).all(), name


{"make": make, "float16": float16, "lora": lora, "q8_0": q8_0}.get(job, check)()
