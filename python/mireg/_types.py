"""Types that the extension takes and returns."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mireg._mireg import Averaged, Finished, Transform

Vector = tuple[float, float, float]
Rows = tuple[Vector, Vector, Vector]
Row = tuple[float, ...]
#: Size, spacing, rows of the direction, origin.
Placed = tuple[tuple[int, int, int], Vector, Rows, Vector]
#: Numbers along one axis, their type, their grid.
Numbers = tuple[np.ndarray[Any, Any], str, Placed]
#: A registration with the moved image, an image, JSON; notes; a template with its transforms.
Returned = tuple["Finished | None", Numbers | None, str | None, list[str], "tuple[Averaged, list[Transform]] | None"]
#: Called with the kind of what is told, and with that.
Hears = Callable[..., object]
Path = str | os.PathLike[str]
