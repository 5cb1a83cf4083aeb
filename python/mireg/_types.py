"""Types that the extension takes and returns."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mireg._mireg import Averaged, Finished, Transform

Array = np.ndarray[Any, np.dtype[np.float64]]
Vector = tuple[float, float, float]
#: The rows of a 3x3 matrix.
Rows = tuple[Vector, Vector, Vector]
#: A row of a matrix.
Row = tuple[float, ...]
#: A grid: size along i, j and k, spacing in mm, rows of the direction, origin in LPS mm.
GridTuple = tuple[tuple[int, int, int], Vector, Rows, Vector]
#: An image: its voxels along one axis with i fastest, the name of their type, its grid.
ImageTuple = tuple[np.ndarray[Any, Any], str, GridTuple]
#: A registration, the moved or resampled image, JSON, notes, and a template with its transforms.
OutcomeTuple = tuple[
    "Finished | None", ImageTuple | None, str | None, list[str], "tuple[Averaged, list[Transform]] | None"
]
#: Called with the kind of what a run reports, and with what it reports.
Listener = Callable[..., object]
Path = str | os.PathLike[str]
