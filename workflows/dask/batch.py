"""Registers the pairs of a table on the workers of a Dask cluster, a pair per task, with the files and bytes of `mireg batch`."""

import argparse
import csv
import os
import subprocess
import sys
from pathlib import Path

from dask.distributed import Client, LocalCluster, get_worker, wait


def main() -> int:
    # As with mireg, options of the command for all pairs follow after --.
    typed = sys.argv[1:]
    end = typed.index("--") if "--" in typed else len(typed)
    asked = parser().parse_args(typed[:end])
    options, out = typed[end:], asked.out.resolve()
    gpus = asked.gpus.split(",") if asked.gpus else []
    batch = ["mireg", "batch", str(asked.table.resolve()), "--out", str(out), "--command", asked.command, "--quiet"]

    # This checks the table and prints the status of each pair.
    looked = subprocess.run([*batch, "--merge", *options], stderr=subprocess.PIPE, text=True)
    if looked.returncode not in (0, 1):
        sys.stderr.write(looked.stderr)
        return looked.returncode
    with open(out / "batch.tsv", newline="") as summary:
        pairs = list(csv.DictReader(summary, delimiter="\t"))
    to_do = ["waiting", "failed"] if asked.retry_failed else ["waiting"]
    shards = {pair["id"]: f"{place}/{len(pairs)}" for place, pair in enumerate(pairs, 1) if pair["status"] in to_do}

    workers = len(gpus) or asked.workers
    cluster, threads = asked.scheduler, asked.threads
    if not cluster:
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1)
        threads = threads or max(1, (os.cpu_count() or 1) // workers)
    one = [*batch, "--retry-failed", "--backend", asked.backend, *(["--threads", str(threads)] if threads else [])]
    with Client(cluster) as client:
        registered = client.map(register, shards.values(), key=list(shards), command=one, options=options, out=out, gpus=gpus)
        wait(registered)
        faults = [f"{id}: {future.exception()}" for id, future in zip(shards, registered) if future.status != "finished"]

    for fault in faults:
        print(fault, file=sys.stderr)
    merged = subprocess.run([*batch, "--merge", *options])
    return 2 if faults else merged.returncode


def parser() -> argparse.ArgumentParser:
    usage = "%(prog)s TABLE --out DIR [--workers N | --gpus 0,1,... | --scheduler ADDRESS] [...] [-- OPTION...]"
    made = argparse.ArgumentParser(usage=usage, description=__doc__)
    made.add_argument("table", type=Path)
    made.add_argument("--out", type=Path, metavar="DIR", required=True)
    made.add_argument("--workers", type=int, default=1, metavar="N", help="on this machine (default: 1)")
    made.add_argument("--gpus", metavar="0,1,...", help="a worker for each of these GPUs of this machine")
    made.add_argument("--scheduler", metavar="ADDRESS", help="workers of a cluster that is there, such as tcp://host:8786")
    threads = "of each pair (default: the cores of its machine, divided among the workers that this starts)"
    made.add_argument("--threads", type=int, metavar="N", help=threads)
    made.add_argument("--backend", default="auto", help="as of mireg batch (default: auto)")
    made.add_argument("--command", default="register", help="as of mireg batch (default: register)")
    made.add_argument("--retry-failed", action="store_true", help="try pairs again that failed in an earlier run")
    return made


def register(shard: str, command: list[str], options: list[str], out: Path, gpus: list[str]) -> None:
    """Registers one pair, as a shard of its own, in a process of its own: what kills it does not kill the worker."""
    environment = dict(os.environ)
    if gpus:
        environment["CUDA_VISIBLE_DEVICES"] = gpus[get_worker().name]
    ended = subprocess.run([*command, "--shard", shard, *options], env=environment, stderr=subprocess.PIPE, text=True)
    # The summary of a single pair is contained in that of all pairs.
    for name in ("batch.{}.tsv", "index.{}.html"):
        (out / name.format(shard.replace("/", "-of-"))).unlink(missing_ok=True)
    # Exit code 1 means that a pair failed or should not be used, which the summary shows.
    if ended.returncode not in (0, 1):
        raise RuntimeError(ended.stderr.strip() or f"mireg ended with {ended.returncode}")


if __name__ == "__main__":
    sys.exit(main())
