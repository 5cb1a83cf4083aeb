"""Grids and voxels as the extension takes them: voxels indexed (i, j, k), grids in LPS mm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mireg import _mireg
from mireg._errors import InputError
from mireg._types import Array, ImageTuple, Rows, Vector

#: The 4x4 matrix from LPS to RAS, and from RAS to LPS.
FLIP = np.diag([-1.0, -1.0, 1.0, 1.0])


class Grid(NamedTuple):
    """A grid of voxels. The extension reads the fields by their names."""

    #: The name of the image in messages.
    name: str
    #: The number of voxels along i, j and k.
    size: tuple[int, int, int]
    #: The distance of voxels along i, j and k, mm.
    spacing: Vector
    #: The rows of the matrix whose columns are the unit vectors of i, j and k in LPS.
    direction: Rows
    #: The centre of the first voxel, LPS mm.
    origin: Vector

    def affine(self) -> Array:
        """Return the 4x4 matrix from index (i, j, k, 1) to LPS mm."""
        affine = np.eye(4)
        affine[:3, :3] = np.asarray(self.direction) * self.spacing
        affine[:3, 3] = self.origin
        return affine


class Voxels(NamedTuple):
    """An image on the host. The extension reads the fields by their names."""

    grid: Grid
    #: Indexed (i, j, k), in native byte order.
    voxels: np.ndarray[Any, Any]
    #: numpy's name of the type that voxels of a result have.
    dtype: str


class OnGpu(NamedTuple):
    """An image on a GPU. The extension reads the fields by their names."""

    grid: Grid
    #: Exports its voxels, indexed (i, j, k), by DLPack.
    tensor: Any
    #: Copies the voxels to the host.
    voxels: Callable[[], Voxels]


def grid_of_affine(name: str, shape: tuple[int, ...], affine: Any, to_lps: Any) -> Grid:
    """Return the grid of an array of this shape that is indexed (i, j, k).

    ``affine`` is the 4x4 matrix from index to mm in some frame, ``to_lps`` that from this frame to LPS.
    """
    matrix = np.asarray(affine, dtype=np.float64)
    if matrix.shape != (4, 4) or not np.array_equal(matrix[3], [0, 0, 0, 1]):
        raise InputError(f"{name}: its affine is no 4x4 matrix whose last row is 0 0 0 1; give one from index to mm")
    matrix = to_lps @ matrix
    spacing, direction = _mireg.axes(rows(matrix[:3, :3]))
    return Grid(name, size_of(name, shape), spacing, direction, vector(matrix[:3, 3]))


def grid_of_itk(name: str, size: Any, spacing: Any, direction: Any, origin: Any) -> Grid:
    """Return the grid of an image in ITK's convention: mm, LPS, direction as a matrix or its rows in one list."""
    axes = len(size)
    if axes > 3:
        raise InputError(f"{name}: has {axes} axes; take one volume of it")
    turn = np.eye(3)
    turn[:axes, :axes] = np.asarray(direction, dtype=np.float64).reshape(axes, axes)
    spacing, origin = [*spacing, 1.0][:3], [*origin, 0.0][:3]
    return Grid(name, size_of(name, tuple(size)), vector(spacing), rows(turn), vector(origin))


def size_of(name: str, shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the size along i, j and k of an image of two or three axes. Further axes of one voxel are left out."""
    if any(n != 1 for n in shape[3:]):
        raise InputError(f"{name}: has {len(shape)} axes ({'x'.join(map(str, shape))}); take one volume of it")
    if len(shape) < 2:
        raise InputError(f"{name}: has {len(shape)} axes; an image has two or three")
    i, j, k = (*map(int, shape[:3]), 1)[:3]
    return i, j, k


def voxels_of_array(grid: Grid, array: Any) -> Voxels:
    """Return the voxels of an array that is indexed (i, j, k) and lies on ``grid``."""
    array = np.asarray(array)
    if array.dtype.names:
        first, names = array.dtype.names[0], ", ".join(array.dtype.names)
        raise InputError(
            f"{grid.name}: has {names} in each voxel; "
            f"give one of them, such as array[{first!r}], or the path of its file"
        )
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise InputError(f"{grid.name}: its voxels are of type {array.dtype}; give it integers or floats")
    # Files hold no float16, and no bool.
    native = np.float32 if array.dtype == np.float16 else array.dtype.newbyteorder("=")
    voxels = np.require(array, dtype=native, requirements="A")
    voxels = voxels.view(np.uint8) if voxels.dtype == bool else voxels
    return Voxels(grid, voxels.reshape(grid.size, order="F"), voxels.dtype.name)


def array_and_grid(image: ImageTuple) -> tuple[np.ndarray[Any, Any], Grid]:
    """Return an image of the extension as an array that is indexed (i, j, k), without a copy, and its grid."""
    voxels, dtype, lies = image
    grid = Grid("image", *lies)
    return voxels.view(dtype).reshape(grid.size, order="F"), grid


def vector(numbers: Any) -> Vector:
    """Return three numbers as floats of Python."""
    x, y, z = map(float, numbers)
    return x, y, z


def rows(matrix: Any) -> Rows:
    """Return the rows of a 3x3 matrix as floats of Python."""
    x, y, z = map(vector, matrix)
    return x, y, z
