"""A study of tiny made-up heads."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import nibabel
import numpy as np
import pytest

WORKFLOWS = Path(__file__).parents[1]
SHAPE, MM = (40, 40, 28), 4.0

# mireg and the engines are those of the Python that runs the tests.
os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def head(path: Path, shift: np.ndarray, invert: bool) -> None:
    """A scan of an ellipsoid with folds in it, which lies `shift` mm beside the middle."""
    index = np.stack(np.meshgrid(*map(np.arange, SHAPE), indexing="ij"), axis=-1)
    x, y, z = np.moveaxis((index - (np.array(SHAPE) - 1) / 2) * MM - shift, -1, 0)
    inside = (x / 60) ** 2 + (y / 50) ** 2 + (z / 40) ** 2 < 1
    tissue = 500 + 200 * np.sin(x / 9) + 150 * np.cos(y / 8) + 100 * np.sin(z / 11)
    voxels = np.where(inside, 1200 - tissue if invert else tissue, 0).astype(np.int16)
    nibabel.save(nibabel.Nifti1Image(voxels, np.diag([MM, MM, MM, 1.0])), path)


class Study:
    """A table of pairs in a folder of its own, and what became of them in `study/`."""

    def __init__(self, folder: Path, pairs: int) -> None:
        self.folder, self.out = folder, folder / "study"
        self.ids = [f"sub-{number:02}" for number in range(1, pairs + 1)]
        shifts = np.random.default_rng(1).uniform(-6, 6, (pairs, 3))
        for name, shift in zip(self.ids, shifts):
            head(folder / f"{name}-ct.nii.gz", np.zeros(3), False)
            head(folder / f"{name}-mr.nii.gz", shift, True)
        rows = [[name, f"{name}-ct.nii.gz", f"{name}-mr.nii.gz"] for name in self.ids]
        with open(folder / "pairs.csv", "w", newline="") as table:
            csv.writer(table).writerows([["id", "fixed", "moving"], *rows])

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        """A command in the folder."""
        return subprocess.run([*map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=300)

    def damage(self, name: str) -> bytes:
        """Cuts the moving image of a pair short; returns what it was."""
        path = self.folder / f"{name}-mr.nii.gz"
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        return whole

    def mend(self, name: str, whole: bytes) -> None:
        (self.folder / f"{name}-mr.nii.gz").write_bytes(whole)

    def summary(self, name: str = "batch.tsv") -> dict[str, str]:
        """The status of each pair."""
        with open(self.out / name, newline="") as summary:
            return {row["id"]: row["status"] for row in csv.DictReader(summary, delimiter="\t")}

    def written(self) -> dict[str, int]:
        """When each pair's record was written."""
        return {name: (self.out / name / "batch.json").stat().st_mtime_ns for name in self.ids}


@pytest.fixture
def study(tmp_path: Path, request: pytest.FixtureRequest) -> Study:
    return Study(tmp_path, request.param)
