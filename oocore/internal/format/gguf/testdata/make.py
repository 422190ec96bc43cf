"""Writes a file with a tensor of each type that is read, and what the gguf package makes of them.

python3 make.py all.gguf all.f32, with NumPy and gguf 0.19: the elements as float32, one tensor after the other.
Blocks are random bytes, with scales that are numbers.
"""
import sys
import gguf
import numpy as np

rng = np.random.default_rng(24)
w = gguf.GGUFWriter(sys.argv[1], "llama")
w.add_uint32("llama.block_count", 2)
w.add_string("general.name", "made for tests")
w.add_uint32("general.file_type", 15)
w.add_array("tokenizer.ggml.tokens", ["<s>", "</s>", "ä"])
w.add_array("tokenizer.ggml.scores", [0.5, -1.0, 2.0])
w.add_bool("made", True)
w.add_float32("llama.rope.freq_base", 10000.0)
T = gguf.GGMLQuantizationType
halves = {T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q8_0: [0], T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208],
          T.Q2_K: [80, 82], T.Q3_K: [108], T.TQ1_0: [52], T.TQ2_0: [64], T.MXFP4: [], T.NVFP4: [], T.IQ4_NL: [0], T.IQ4_XS: [0],
          T.IQ2_XXS: [0], T.IQ2_XS: [0], T.IQ2_S: [0], T.IQ3_XXS: [0], T.IQ3_S: [0], T.IQ1_S: [0], T.IQ1_M: []}
expected = []
for number, (t, at) in enumerate(halves.items()):
    block, size = gguf.GGML_QUANT_SIZES[t]
    raw = rng.integers(0, 256, (3, 512 // block, size), dtype=np.uint8)
    for a in at:
        raw[..., a:a + 2] = (rng.standard_normal((3, 512 // block, 1)) / 8).astype(np.float16).view(np.uint8)
    if t == T.IQ1_M:
        raw[..., 55] = raw[..., 55] & 0x3f  # so that the scale's exponent is not that of infinity
    raw = raw.reshape(3, -1)
    w.add_tensor(f"blk.{number}.{t.name}.weight", raw, raw_dtype=t)
    expected.append(gguf.dequantize(raw, t))
x = rng.standard_normal((2, 3, 5)).astype(np.float32)
w.add_tensor("f32", x)
w.add_tensor("f16", x.astype(np.float16))
bf16 = gguf.quantize(x, T.BF16)
w.add_tensor("bf16", bf16, raw_dtype=T.BF16)
expected += [x, x.astype(np.float16).astype(np.float32), gguf.dequantize(bf16, T.BF16)]
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()
with open(sys.argv[2], "wb") as f:
    for e in expected:
        f.write(e.astype("<f4").tobytes())
