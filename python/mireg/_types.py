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
Rows = tuple[Vector, Vector, Vector]
Row = tuple[float, ...]
#: Size, spacing, rows of the direction, origin.
Placed = tuple[tuple[int, int, int], Vector, Rows, Vector]
#: An image: its numbers along one axis, their type, its grid.
Numbers = tuple[np.ndarray[Any, Any], str, Placed]
#: A registration, the moved or resampled image, JSON, notes, and a template with its transforms.
Returned = tuple["Finished | None", Numbers | None, str | None, list[str], "tuple[Averaged, list[Transform]] | None"]
#: Called with the kind of what a run reports, and with what it reports.
Listener = Callable[..., object]
Path = str | os.PathLike[str]
