"""Grids and voxels as the extension takes them: i fastest, LPS mm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mireg import _mireg
from mireg._errors import InputError
from mireg._types import Numbers, Rows, Vector

#: Converts LPS to RAS, and RAS to LPS.
FLIP = np.diag([-1.0, -1.0, 1.0, 1.0])


class Grid(NamedTuple):
    """A grid. The columns of ``direction`` are unit vectors in LPS; ``origin`` is the centre of the first voxel."""

    name: str
    size: tuple[int, int, int]
    spacing: Vector
    direction: Rows
    origin: Vector

    def affine(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the matrix from index to LPS mm."""
        affine = np.eye(4)
        affine[:3, :3] = np.asarray(self.direction) * self.spacing
        affine[:3, 3] = self.origin
        return affine


class Voxels(NamedTuple):
    """An image: native numbers on a grid, indexed (i, j, k). ``dtype`` is the type that the voxels had."""

    grid: Grid
    voxels: np.ndarray[Any, Any]
    dtype: str


class OnGpu(NamedTuple):
    """An image whose voxels are a tensor on a GPU, exported by DLPack. ``voxels`` copies them to the host."""

    grid: Grid
    tensor: Any
    voxels: Callable[[], Voxels]


def of_affine(name: str, shape: tuple[int, ...], affine: Any, to_lps: Any) -> Grid:
    """Return the grid of an array that is indexed (i, j, k). ``affine`` maps index to mm, ``to_lps`` these to LPS."""
    matrix = np.asarray(affine, dtype=np.float64)
    if matrix.shape != (4, 4) or not np.array_equal(matrix[3], [0, 0, 0, 1]):
        raise InputError(f"{name}: its affine is no 4x4 matrix whose last row is 0 0 0 1; give one from index to mm")
    matrix = to_lps @ matrix
    spacing, direction = _mireg.axes(rows(matrix[:3, :3]))
    return Grid(name, size_of(name, shape), spacing, direction, vector(matrix[:3, 3]))


def of_itk(name: str, size: Any, spacing: Any, direction: Any, origin: Any) -> Grid:
    """Return the grid of an image of ITK, of two or three axes."""
    axes = len(size)
    turn = np.eye(3)
    turn[:axes, :axes] = np.asarray(direction, dtype=np.float64).reshape(axes, axes)
    filled = [*map(float, spacing), 1.0][:3], [*map(float, origin), 0.0][:3]
    return Grid(name, size_of(name, tuple(size)), vector(filled[0]), rows(turn), vector(filled[1]))


def size_of(name: str, shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the size along i, j and k of an image of two or three axes. Further axes of one voxel are left out."""
    if any(n != 1 for n in shape[3:]):
        raise InputError(f"{name}: has {len(shape)} axes ({'x'.join(map(str, shape))}); take one volume of it")
    if len(shape) < 2:
        raise InputError(f"{name}: has {len(shape)} axes; an image has two or three")
    i, j, k = (*map(int, shape[:3]), 1)[:3]
    return i, j, k


def of_array(grid: Grid, array: Any) -> Voxels:
    """Return the voxels of an array that is indexed (i, j, k)."""
    array = np.asarray(array)
    dtype = "uint8" if array.dtype == bool else "float32" if array.dtype == np.float16 else array.dtype.name
    if array.dtype.names:
        first, names = array.dtype.names[0], ", ".join(array.dtype.names)
        raise InputError(f"{grid.name}: has {names} in each voxel; give one of them, such as array[{first!r}], or the path of its file")
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise InputError(f"{grid.name}: its voxels are of type {array.dtype}; give it integers or floats")
    native = np.require(array, dtype="float32" if array.dtype == np.float16 else array.dtype.newbyteorder("="), requirements="A")
    return Voxels(grid, (native.view(np.uint8) if native.dtype == bool else native).reshape(grid.size, order="F"), dtype)


def array_of(image: Numbers) -> tuple[np.ndarray[Any, Any], Grid]:
    """Return an image of the extension as an array that is indexed (i, j, k), without a copy."""
    numbers, dtype, placed = image
    grid = Grid("image", *placed)
    return numbers.view(dtype).reshape(grid.size, order="F"), grid


def vector(numbers: Any) -> Vector:
    x, y, z = map(float, numbers)
    return x, y, z


def rows(matrix: Any) -> Rows:
    x, y, z = map(vector, matrix)
    return x, y, z
