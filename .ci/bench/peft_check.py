"""Compares gonbext with torch and PEFT on a small checkpoint that they write, tensor by tensor:
merged adapters of several types and scalings, and conversions. It needs torch and peft, which
.ci/requirements.txt leaves out for their 6 GB. peft_check.py GONBEXT FOLDER"""
import copy
import os
import subprocess
import sys

import peft
import torch
from safetensors.torch import load_file, save_file

command, work = sys.argv[1:3]
os.makedirs(work, exist_ok=True)
BASE, OUT, ADAPTER = (os.path.join(work, name) for name in ("base.safetensors", "out.safetensors", "adapter"))
SHAPES = [(512, 384), (96, 512), (1000, 64), (64, 777)]  # out and in
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32}


def gonbext(*words):
    if os.path.exists(OUT):
        os.remove(OUT)
    subprocess.run([command, *words, "--fresh"], check=True, stdout=subprocess.DEVNULL)
    return load_file(OUT)


def spacing(x):
    """The distance of a float's neighbours."""
    x = x.abs().clamp_min(torch.finfo(x.dtype).smallest_normal)
    return torch.ldexp(torch.tensor(torch.finfo(x.dtype).eps, dtype=torch.float64), torch.frexp(x.double()).exponent - 1)


def compare(what, got, want):
    """Prints how many elements differ, and by how much of the spacing of floats where they do."""
    assert got.keys() == want.keys(), (what, got.keys() ^ want.keys())
    count = other = 0
    most = 0.0
    for name, w in want.items():
        g = got[name]
        assert g.dtype == w.dtype and g.shape == w.shape, (what, name)
        bits = BITS[w.element_size()]
        off = g.view(bits) != w.view(bits)
        if w.is_floating_point():
            off &= ~(g.isnan() & w.isnan())
        count, other = count + off.numel(), other + int(off.sum())
        if off.any():
            most = max(most, float(((g[off].double() - w[off].double()).abs() / spacing(w[off].to(torch.float64 if w.element_size() == 1 else w.dtype))).max()))
    print(f"{what}: {other} of {count} elements differ" + (f", by {most:.2g} of the spacing of floats there at most" if other else ""))
    return other, count, most


def merges():
    """Sums of products differ by their order: of float32 in the last bits, of 16 bits now and then in the last."""
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for rank, options in ((64, {}), (8, {"use_rslora": True, "lora_alpha": 3}), (16, {"alpha_pattern": {"layers.1": 5}, "rank_pattern": {"layers.2": 4}})):
            torch.manual_seed(rank)
            model = torch.nn.Module()
            model.layers = torch.nn.ModuleList(torch.nn.Linear(i, o, dtype=dtype) for o, i in SHAPES)
            save_file(model.state_dict(), BASE)
            adapted = peft.get_peft_model(copy.deepcopy(model), peft.LoraConfig(r=rank, target_modules=["0", "1", "2"], **({"lora_alpha": 128} | options)), autocast_adapter_dtype=False)
            with torch.no_grad():
                for name, p in adapted.named_parameters():
                    if "lora_" in name:
                        p.copy_(torch.randn(p.shape) / 32)
            adapted.save_pretrained(ADAPTER)
            want = adapted.merge_and_unload().state_dict()
            assert all(torch.equal(w, model.state_dict()[name]) == (name == "layers.3.weight" or name.endswith("bias")) for name, w in want.items())
            other, count, most = compare(f"merge of {dtype}, rank {rank} {options or ''}", gonbext("merge", BASE, "--lora", ADAPTER, "-o", OUT), want)
            assert most <= (64 if dtype == torch.float32 else 2) and (dtype == torch.float32 or other < count / 500)


def conversions():
    """These have one result."""
    torch.manual_seed(1)
    patterns = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16)
    floats = {torch.float16: patterns.view(torch.float16), torch.bfloat16: patterns.view(torch.bfloat16),
              torch.float32: torch.randint(-(1 << 31), 1 << 31, (1 << 20,)).to(torch.int32).view(torch.float32)}
    for source in (torch.float8_e4m3fn, torch.float8_e5m2):
        floats[source] = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(source)
    for source, x in floats.items():
        save_file({"x": x, "y": x[:9].clone()}, BASE)  # one alone would lose its name
        for to in (torch.float16, torch.bfloat16, torch.float32):
            if to == source:
                continue
            other, _, _ = compare(f"{source} to {to}", gonbext("convert", BASE, OUT, "--dtype", str(to).removeprefix("torch.")), {"x": x.to(to), "y": x[:9].to(to)})
            assert not other


merges()
conversions()
