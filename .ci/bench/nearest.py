#!/usr/bin/env python3
"""nearest.py FOLDER GONBEXT [ROWS [TURNS [PYTHON [PEERS]]]]: the 20 largest products of each of ROWS vectors of 512
float32 with all of them (200,000), file to file, by turns: gonbext inside 512 MiB, FAISS's flat index, and NumPy in
blocks of 4,096 rows. FAISS and NumPy have all memory. Seconds of the whole process, and of its processors; then
medians, and the median of gonbext's ratio to FAISS in a turn. PYTHON has numpy and faiss-cpu; the start of Python
and its imports is not counted."""
import os, resource, statistics, subprocess, sys, time

PEERS = {
    "faiss": """
import sys, time, os, numpy as np, faiss
faiss.omp_set_num_threads(2)
t, c = time.time(), time.process_time()
x = np.load(sys.argv[1])
index = faiss.IndexFlatIP(x.shape[1]); index.add(x)
np.save(sys.argv[2], index.search(x, 20)[1])
print(time.time() - t, time.process_time() - c)
""",
    "numpy": """
import sys, time, numpy as np
t, c = time.time(), time.process_time()
x = np.load(sys.argv[1]); out = np.empty((len(x), 20), np.int64)
for i in range(0, len(x), 4096):
    p = x[i:i+4096] @ x.T
    top = np.argpartition(p, -20, 1)[:, -20:]
    out[i:i+4096] = np.take_along_axis(top, np.argsort(-np.take_along_axis(p, top, 1), 1, kind="stable"), 1)
np.save(sys.argv[2], out)
print(time.time() - t, time.process_time() - c)
""",
}


def main(folder, gonbext, rows=200_000, turns=3, python=sys.executable, peers="faiss,numpy"):
    rows, turns, peers = int(rows), int(turns), [p for p in peers.split(",") if p]
    path, out = os.path.join(folder, f"vectors-{rows}.npy"), os.path.join(folder, "nearest-%s.npy")
    if not os.path.exists(path):
        subprocess.run([python, "-c", "import sys, numpy as np; n = int(sys.argv[2]); "
                        "np.save(sys.argv[1], np.random.default_rng(1).standard_normal((n, 512), np.float32))", path, str(rows)], check=True)
    env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    seconds = {}
    for turn in range(turns):
        for name in ["gonbext", *peers]:
            if name == "gonbext":
                before, t = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
                subprocess.run([gonbext, "compute", "argtopk(matmul(x, transpose(x)), 20, 1)", "x=" + path, "-o", out % name,
                                "--memory", "512MiB", "--fresh"], check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                took = time.time() - t, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            else:
                took = tuple(map(float, subprocess.run([python, "-c", PEERS[name], path, out % name], check=True, env=env,
                                                       capture_output=True, text=True).stdout.split()))
            seconds.setdefault(name, []).append(took)
            print(f"turn {turn + 1} {name}: {took[0]:.1f} s, {took[1]:.1f} s of processors", flush=True)
    for name, all in seconds.items():
        print(f"{name}: median {statistics.median(t for t, _ in all):.1f} s, {statistics.median(c for _, c in all):.1f} s of processors")
    for name in peers:
        for i, what in enumerate(["seconds", "seconds of processors"]):
            ratio = statistics.median(g[i] / p[i] for g, p in zip(seconds["gonbext"], seconds[name]))
            print(f"gonbext to {name}, {what}: {ratio:.2f}")
    for name in peers:
        subprocess.run([python, "-c", "import sys, numpy as np; a, b = map(np.load, sys.argv[1:]); "
                        "print(f'{(a == b).mean():.6f} of the positions are those of', sys.argv[2])", out % "gonbext", out % name], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
