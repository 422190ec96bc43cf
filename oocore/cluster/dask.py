"""What gonbext asks of a Dask scheduler: submit, state, forget. It is run by the user's own Python, which takes requests as lines of JSON, several a line."""
import argparse, json, os, signal, subprocess, sys


def element(script, index, job, args, env, *before):
    """Runs the script of one element on a worker, and returns its exit status."""
    if args["ok"] and any(before):
        return 3
    env = {**os.environ, **env, "DASK_JOB": job, "DASK_ELEMENT": str(index), "GONBEXT_PYTHON": sys.executable}
    folder = os.path.dirname(args["log"])
    status = 3  # as of what would fail again: the run has ended, or this machine does not see its folder
    for attempt in range(3 if os.path.isdir(folder) else 0):
        with open(args["log"].replace("%a", str(index)), "ab", buffering=0) as log:  # the shell becomes gonbext, which ends with this worker
            status = subprocess.run(["sh", "-c", script], cwd=args["dir"], env=env, stdout=log, stderr=log).returncode
            if status in (0, 3, 126, 127):
                break
            log.write(f"attempt {attempt + 1}: exit status {status}\n".encode())
    if not os.path.exists(os.path.join(folder, "run.json")):
        from distributed import get_client
        client = get_client()
        for name in sorted(client.list_datasets(), key=job.__eq__):  # this job last: until then it is started again where it is killed
            if name.rpartition("-")[0] == job.rpartition("-")[0]:
                client.unpublish_dataset(name)
    return status


held = {}  # the futures of jobs that this process has submitted


def submit(client, args, script):
    workers = client.scheduler_info(n_workers=-1)["workers"]
    if not workers:
        sys.exit("the scheduler has no workers")
    least = min(w["memory_limit"] // w["nthreads"] or args.memory << 20 for w in workers.values())
    if least < args.memory << 20:
        sys.exit(f"a thread of its workers has {least >> 20} MiB, and the plan needs {args.memory} MiB: give --memory less, or the workers more")
    before = [f for j in (args.ok or args.after).split(",") if j for f in held.get(j) or client.get_dataset(j)]
    env = {k: v for k, v in os.environ.items() if k.startswith("GONBEXT_")}
    threads = [address for address, w in workers.items() for _ in range(w["nthreads"])]
    few = args.elements <= 2 * len(threads)  # which the scheduler would give to the worker of those before, to have them stolen by others later
    futures = [client.submit(element, script, i, args.job, {"ok": args.ok != "", "log": args.log, "dir": args.dir}, env, *before, key=(args.job, i),
                             retries=3, pure=False, workers=threads[i % len(threads)] if few else None, allow_other_workers=few)
               for i in range(args.elements)]
    client.publish_dataset(**{args.job: futures})  # which holds them when this client has gone
    held[args.job] = futures
    return args.job


def state(client, args, _):
    return "\n".join(f"{job} RUNNING" for job in client.run_on_scheduler(unfinished, args.jobs.split(",")))


def unfinished(jobs, dask_scheduler):
    """Returns those of some jobs that have an element which has not ended."""
    ended = ("memory", "erred", "released", "forgotten")
    return [j for j in jobs if any(t.state not in ended for k, t in dask_scheduler.tasks.items() if k[0] == j)]


def forget(client, args, _):
    for job in set(args.jobs.split(",")) & set(client.list_datasets()):
        client.cancel(held.pop(job, None) or client.get_dataset(job), force=True)
        client.unpublish_dataset(job)


def answer(client, words, text):
    p = argparse.ArgumentParser()
    p.error = sys.exit
    p.add_argument("do", choices=["submit", "state", "forget"])
    for name in ("--job", "--log", "--dir", "--ok", "--after", "--jobs"):
        p.add_argument(name, default="")
    p.add_argument("--memory", type=int, default=0)
    p.add_argument("--elements", type=int, default=1)
    args = p.parse_args(words)
    return {"submit": submit, "state": state, "forget": forget}[args.do](client, args, text)


def lost(why):
    """Answers the first line with why there will be no other answer."""
    sys.stdin.readline()
    print(json.dumps({"lost": why}), flush=True)
    os._exit(1)  # a client that has no scheduler takes its time to end


def main(address):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which is for gonbext
    try:
        from distributed import Client
        client = Client(address, timeout="10s", set_as_default=False)
    except ImportError as e:
        lost(f"{sys.executable} cannot import the package distributed ({e}): pip install distributed, or name another Python in GONBEXT_PYTHON")
    except Exception as e:
        lost(f"no Dask scheduler answers at {address} ({' '.join(str(e).split()) or type(e).__name__}): see whether one runs, which dask scheduler starts, and whether host and port are its own")
    with client:
        for line in sys.stdin:
            try:
                said = {"out": [answer(client, request["words"], request["in"]) or "" for request in json.loads(line)]}
            except SystemExit as e:
                said = {"error": e.code}
            except Exception as e:
                said = {"error": f"{type(e).__name__}: {e}"}
            print(json.dumps(said), flush=True)


try:
    main(sys.argv[1])
except Exception as e:
    sys.exit(f"{type(e).__name__}: {e}")
