"""Writes files of comma-separated values, and what pandas has of their columns: read.py FOLDER SEED FILES."""
import json
import sys

import numpy as np
import pandas as pd

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []
for k in range(files):
    rows, sep = int(random.integers(1, 60)), str(random.choice([",", ";", "\t", "|"]))
    fields, header = {}, bool(random.random() < 0.8)
    for c in range(int(random.integers(2, 5))):
        kind = random.choice(["int", "float", "bool", "gap", "text", "mixed"], p=[0.3, 0.35, 0.1, 0.15, 0.05, 0.05])
        values = random.integers(-(2**62), 2**62, rows) >> int(random.integers(62))
        texts = {
            "int": lambda: [str(v) for v in values],
            "float": lambda: [repr(float(v)) for v in random.standard_normal(rows) * 10.0 ** random.integers(-300, 300)],
            "bool": lambda: [str(random.choice(["True", "False", "true", "FALSE"])) for _ in range(rows)],
            "gap": lambda: [str(v) if random.random() < 0.7 else str(random.choice(["", "NA", "nan", "null", "N/A"])) for v in values] + ["1"],
            "text": lambda: [f"a{sep}b{v}" for v in values],
            "mixed": lambda: ["True"] + [str(v) for v in values] + ["2"],
        }[kind]()[-rows:]
        name = f'{kind} {c}, "x"' if random.random() < 0.2 else f"{kind} {c}"
        quoted = random.random() < 0.3
        fields[name] = [f'"{t}"' if quoted or sep in t else t for t in texts]
    lines = [sep.join('"' + n.replace('"', '""') + '"' for n in fields)] if header else []
    lines += [sep.join(row) for row in zip(*fields.values())]
    name = f"{k}.tsv" if sep == "\t" else f"{k}.csv"
    with open(f"{out}/{name}", "w", newline="", encoding="utf-8-sig" if random.random() < 0.1 else "utf-8") as f:
        f.write(str(random.choice(["\n", "\r\n"])).join(lines) + str(random.choice(["", "\n"])))
    if not header and rows == 1 and all(len(v) == 1 for v in fields.values()) and sep not in "".join(lines):
        continue
    table = pd.read_csv(f"{out}/{name}", sep=sep, header=0 if header else None, float_precision="round_trip")
    name += "" if header else "?header=none"
    kept = []
    for c, column in enumerate(table.columns):
        values = table[column].to_numpy()
        want = "error: line" if values.dtype.kind not in "ifb" else f"{k}-{c}.npy"
        if want.endswith("npy"):
            np.save(f"{out}/{want}", values)
            kept.append(values)
        cases.append({"path": f"{name}#{column}", "want": want})
    if len(kept) == len(table.columns):
        np.save(f"{out}/{k}.npy", np.ascontiguousarray(np.stack([v.astype(np.result_type(*kept)) for v in kept], 1)))
    cases.append({"path": f"{name}#table", "want": f"{k}.npy" if len(kept) == len(table.columns) else "error: a table is of numbers alone"})
json.dump(cases, open(out + "/cases.json", "w"))
