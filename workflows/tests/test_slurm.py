"""The Slurm of this machine, started for the tests in a folder of their own. On Debian: apt install slurmctld slurmd slurm-client munge."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import WORKFLOWS, Study

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue"]

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not all(map(shutil.which, PROGRAMS)), reason=f"needs root and {', '.join(PROGRAMS)}"
)

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/ended.txt
# Enough for two tasks, whether or not the machine has it.
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=16384 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Slurm's list of the jobs that ended, while it runs."""
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "key").write_bytes(os.urandom(1024))
    (folder / "key").chmod(0o400)
    ports = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports.append(free.getsockname()[1])
    configuration = folder / "slurm.conf"
    configuration.write_text(CONFIGURATION.format(host=socket.gethostname().split(".")[0], ports=ports, folder=folder))
    os.environ["SLURM_CONF"] = str(configuration)
    munge = [f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("socket", "log-file", "pid-file", "seed-file")]
    daemons = [
        ["munged", "--foreground", "--force", f"--key-file={folder}/key", *munge],
        ["slurmctld", "-D"],
        ["slurmd", "-D"],
    ]
    running = []
    for daemon in daemons:
        log = open(folder / f"{daemon[0]}.out", "w")
        running.append(subprocess.Popen(daemon, stdout=log, stderr=subprocess.STDOUT))
        time.sleep(1)
    try:
        for _ in range(60):
            if "idle" in subprocess.run(["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True).stdout:
                break
            time.sleep(0.5)
        else:
            # This happens in containers that deny the daemons the permissions they need.
            pytest.skip("Slurm does not start here: " + " ".join(path.read_text() for path in folder.glob("*.out")))
        yield folder / "ended.txt"
    finally:
        for daemon in reversed(running):
            daemon.terminate()
            daemon.wait(30)


def submitted(study: Study) -> None:
    """Submits, and waits until no job is left."""
    done = study.run(WORKFLOWS / "slurm" / "submit.sh", "pairs.csv", "study", 2, "--", "--dof", "translation")
    assert done.returncode == 0, done.stderr
    for _ in range(120):
        if not study.run("squeue", "--noheader").stdout:
            return
        time.sleep(0.5)
    pytest.fail(study.run("squeue").stdout)


def states(ended: Path) -> list[str]:
    """How the jobs that ended since the last call ended: two tasks and the summary."""
    lines = ended.read_text().splitlines()
    ended.write_text("")
    return [word.removeprefix("JobState=") for line in lines for word in line.split() if word.startswith("JobState=")]


@pytest.mark.parametrize("study", [7], indirect=True)
def test_two_tasks_do_every_pair_once(study: Study, ended: Path) -> None:
    bad, *good = study.ids
    whole = study.damage(bad)
    submitted(study)
    shards = [list(study.summary(f"batch.{task}-of-2.tsv")) for task in (1, 2)]
    assert shards == [study.ids[::2], study.ids[1::2]]
    tasks = [next(study.folder.glob(f"mireg-*_{task}.log")).read_text() for task in (1, 2)]
    assert "4 of 4 done, 0 of them before" in tasks[0] and "3 of 3 done, 0 of them before" in tasks[1]
    assert study.summary() == {bad: "failed", **dict.fromkeys(good, "done")}
    assert sorted(states(ended)) == ["COMPLETED", "FAILED", "FAILED"]
    before = study.written()

    study.mend(bad, whole)
    submitted(study)
    assert study.summary() == dict.fromkeys(study.ids, "done")
    assert states(ended) == ["COMPLETED"] * 3
    after = study.written()
    assert after.pop(bad) > before.pop(bad) and after == before


@pytest.mark.parametrize("study", [1], indirect=True)
def test_a_wrong_table_is_refused_before_it_waits(study: Study) -> None:
    (study.folder / "sub-01-mr.nii.gz").unlink()
    done = study.run(WORKFLOWS / "slurm" / "submit.sh", "pairs.csv", "study", 2)
    assert done.returncode == 2 and "sub-01-mr.nii.gz: no such file" in done.stderr and not done.stdout
