"""Scans of one head-like body, whose position in each scan is known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mireg

#: The position of the body in the moving scan less that in the fixed scan, LPS mm.
SHIFT = np.array([5.0, -3.0, 2.0])
FLIP = np.diag([-1.0, -1.0, 1.0, 1.0])


def oblique(turn: float, spacing: tuple[float, float, float], shape: tuple[int, int, int]) -> np.ndarray:
    """Return the 4x4 matrix from index to LPS mm of a grid centred at the origin and rotated about two axes; exact in float32."""
    c, s = np.cos(turn), np.sin(turn)
    rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    affine = np.eye(4)
    affine[:3, :3] = rotation * spacing
    affine[:3, 3] = -affine[:3, :3] @ ((np.array(shape) - 1) / 2)
    return affine.astype(np.float32).astype(np.float64)


def scan(affine: np.ndarray, shape: tuple[int, int, int], shift: np.ndarray, invert: bool) -> np.ndarray:
    """Return the body on a grid, int16. ``affine`` is from index to LPS mm, ``shift`` the position of the body, LPS mm."""
    index = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    x, y, z = np.moveaxis(index @ affine[:3, :3].T + affine[:3, 3] - shift, -1, 0)
    inside = (x / 60) ** 2 + (y / 50) ** 2 + (z / 40) ** 2 < 1
    tissue = 500 + 200 * np.sin(x / 9) + 150 * np.cos(y / 8) + 100 * np.sin(z / 11)
    return np.where(inside, 1200 - tissue if invert else tissue, 0).astype(np.int16)


class Pair:
    """A fixed and a moving scan, each on its own oblique grid."""

    shapes = (44, 40, 26), (40, 46, 24)
    affines = oblique(0.2, (3.0, 3.0, 4.5), shapes[0]), oblique(-0.1, (3.5, 2.5, 5.0), shapes[1])

    def __init__(self) -> None:
        shifts = np.zeros(3), SHIFT
        of = zip(self.affines, self.shapes, shifts, (False, True))
        self.arrays = [scan(*one) for one in of]

    def images(self) -> list[mireg.Image]:
        return [mireg.Image(a, m, frame="LPS") for a, m in zip(self.arrays, self.affines)]

    def files(self, folder: Path) -> list[str]:
        import nibabel

        paths = [str(folder / f"{name}.nii.gz") for name in ("fixed", "moving")]
        for path, array, affine in zip(paths, self.arrays, self.affines):
            image = nibabel.Nifti1Image(array, FLIP @ affine)
            image.set_sform(image.affine, code=1)
            nibabel.save(image, path)
        return paths


@pytest.fixture(scope="session")
def pair() -> Pair:
    return Pair()


@pytest.fixture(scope="session")
def files(pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return pair.files(tmp_path_factory.mktemp("pair"))


@pytest.fixture(scope="session")
def found(pair: Pair) -> mireg.Registration:
    return mireg.register(*pair.images(), backend="cpu")


def command(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    line = [sys.executable, "-m", "mireg._command", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=cwd)
