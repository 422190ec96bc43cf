"""What gonbext asks of a Dask scheduler, which runs it: submit, state, forget."""
import argparse, json, os, subprocess, sys


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


async def submit(client, scheduler, args, script, env, held):
    workers = scheduler.workers.values()
    if not workers:
        sys.exit("the scheduler has no workers")
    least = min(w.memory_limit // w.nthreads or args.memory << 20 for w in workers)
    if least < args.memory << 20:
        sys.exit(f"a thread of its workers has {least >> 20} MiB, and the plan needs {args.memory} MiB: give --memory less, or the workers more")
    before = [f for j in (args.ok or args.after).split(",") if j for f in held.get(j) or await client.get_dataset(j)]
    threads = [w.address for w in workers for _ in range(w.nthreads)]
    few = args.elements <= 2 * len(threads)  # which the scheduler would give to the worker of those before, to have them stolen by others later
    held[args.job] = [client.submit(element, script, i, args.job, {"ok": args.ok != "", "log": args.log, "dir": args.dir}, env, *before, key=(args.job, i),
                                    retries=3, pure=False, workers=threads[i % len(threads)] if few else None, allow_other_workers=few)
                      for i in range(args.elements)]
    await client.publish_dataset(**{args.job: held[args.job]})  # which holds them when this client has gone
    return args.job


def unfinished(scheduler, jobs):
    """Returns those of some jobs that have an element which has not ended."""
    ended = ("memory", "erred", "released", "forgotten")
    return [j for j in jobs if any(t.state not in ended for k, t in scheduler.tasks.items() if k[0] == j)]


async def forget(client, jobs):
    for job in set(jobs) & set(await client.list_datasets()):
        await client.cancel(await client.get_dataset(job), force=True)
        await client.unpublish_dataset(job)


async def answer(requests, env, dask_scheduler):
    """Returns what each request prints, or why one is rejected, as JSON: a text is one object to pickle."""
    from distributed import Client
    p = argparse.ArgumentParser()
    p.error = sys.exit
    p.add_argument("do", choices=["submit", "state", "forget"])
    for name in ("--job", "--log", "--dir", "--ok", "--after", "--jobs"):
        p.add_argument(name, default="")
    p.add_argument("--memory", type=int, default=0)
    p.add_argument("--elements", type=int, default=1)
    said, held = [], {}
    try:
        async with Client(dask_scheduler.address, security=dask_scheduler.security, asynchronous=True, timeout="10s", set_as_default=False) as client:
            for request in requests:
                args = p.parse_args(request["words"])
                jobs = args.jobs.split(",")
                if args.do == "submit":
                    said.append(await submit(client, dask_scheduler, args, request["in"], env, held))
                elif args.do == "state":
                    said.append("\n".join(f"{job} RUNNING" for job in unfinished(dask_scheduler, jobs)))
                else:
                    said.append(await forget(client, jobs) or "")
    except SystemExit as e:
        return json.dumps({"error": e.code})
    except Exception as e:
        return json.dumps({"error": f"{type(e).__name__}: {e}"})
    return json.dumps({"out": said})
