import os
import re
import shutil
import sys

import pytest
from conftest import WORKFLOWS, Study

DASK = [sys.executable, WORKFLOWS / "dask" / "batch.py", "--workers", "2"]


@pytest.mark.parametrize("study", [6], indirect=True)
def test_two_workers_write_the_bytes_of_single_registrations(study: Study) -> None:
    bad, *good = study.ids
    whole = study.damage(bad)
    first = study.run(*DASK, "pairs.csv", "--out", "study", "--", "--dof", "translation")
    assert first.returncode == 1, first.stderr
    assert study.summary() == {bad: "failed", **dict.fromkeys(good, "done")}
    before = study.written()

    study.mend(bad, whole)
    mended = study.run(*DASK, "pairs.csv", "--out", "study", "--", "--dof", "translation")
    assert mended.returncode == 0, mended.stderr
    after = study.written()
    assert after.pop(bad) > before.pop(bad) and after == before
    assert sorted(path.name for path in study.out.iterdir()) == ["batch.tsv", "index.html", *study.ids]

    for name in study.ids:
        images = [f"{name}-ct.nii.gz", f"{name}-mr.nii.gz"]
        alone = study.run("mireg", "register", *images, "--out", f"alone/{name}", "--dof", "translation")
        assert alone.returncode == 0, alone.stderr
        for file in ("transform.tfm", "moved.nii.gz"):
            assert (study.out / name / file).read_bytes() == (study.folder / "alone" / name / file).read_bytes()
    # The command line finds that everything is done.
    again = study.run("mireg", "batch", "pairs.csv", "--out", "study", "--", "--dof", "translation")
    assert "6 of 6 done, 6 of them before" in again.stdout


@pytest.mark.parametrize("study", [4], indirect=True)
def test_each_worker_sees_a_gpu_of_its_own(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    # This wrapper records which GPU mireg would see, and then calls mireg.
    wrapper = study.folder / "bin" / "mireg"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\necho "$CUDA_VISIBLE_DEVICES" >> {study.folder}/gpus\nexec {shutil.which("mireg")} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    ended = study.run(sys.executable, WORKFLOWS / "dask" / "batch.py", "pairs.csv", "--out", "study", "--gpus", "0,3")
    assert ended.returncode == 0, ended.stderr
    # The first and the last call only check the table and write the summary.
    first, *pairs, last = (study.folder / "gpus").read_text().splitlines()
    assert first == last == "" and set(pairs) == {"0", "3"} and len(pairs) == 4


@pytest.mark.parametrize("study", [1], indirect=True)
def test_a_wrong_table_is_an_error(study: Study) -> None:
    (study.folder / "sub-01-mr.nii.gz").unlink()
    ended = study.run(*DASK, "pairs.csv", "--out", "study")
    assert ended.returncode == 2 and "sub-01-mr.nii.gz: no such file" in ended.stderr


@pytest.mark.parametrize("study", [1], indirect=True)
def test_the_program_of_the_readme_runs(study: Study) -> None:
    [program] = re.findall(r"```python\n(.*?)```", (WORKFLOWS / "README.md").read_text(), re.DOTALL)
    program = program.replace("ct.nii.gz", "sub-01-ct.nii.gz").replace("mr.nii.gz", "sub-01-mr.nii.gz")
    (study.folder / "program.py").write_text(program)
    ended = study.run(sys.executable, "program.py")
    assert ended.stdout == "['passed']\n", ended.stderr
