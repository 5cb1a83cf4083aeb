"""The kinds of image of other packages. None of these is imported here: whoever has such an image has done so."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mireg import _mireg
from mireg._errors import InputError
from mireg._grid import FLIP, Grid, OnGpu, Voxels, grid_of_affine, grid_of_itk, voxels_of_array
from mireg._image import Image, as_array

Array = np.ndarray[Any, Any]


class Kind(NamedTuple):
    """How images of a package are recognised, read and made."""

    is_one: Callable[[Any], bool]
    grid: Callable[[Any, str], Grid]
    #: Returns the voxels, indexed (i, j, k), and (i, j) in 2-D.
    array: Callable[[Any, str], Array]
    #: Returns an image with these voxels where another image lies, or on a grid.
    like: Callable[[Any, Array, "Grid | None"], Any]


def is_path(image: Any) -> bool:
    """Return whether it is a path."""
    return isinstance(image, (str, os.PathLike))


def is_image(image: Any) -> bool:
    """Return whether it is an image, in memory or as a path."""
    return is_path(image) or any(kind.is_one(image) for kind in KINDS)


def kind_of(image: Any, name: str) -> Kind:
    """Return the kind of an image."""
    for kind in KINDS:
        if kind.is_one(image):
            return kind
    what = f"{type(image).__module__}.{type(image).__qualname__}"
    if any(hasattr(image, way) for way in ("__array__", "__array_interface__", "__dlpack__")):
        raise TypeError(
            f"{name} is an array ({what}), which does not say where its voxels lie; "
            "give mireg.Image(array, affine, frame='RAS'), with the 4x4 matrix from voxel index to mm"
        )
    raise TypeError(f"{name} is a {what}; give a path, an image of nibabel, SimpleITK, itk or ANTsPy, or a mireg.Image")


def voxels_of(image: Any, name: str) -> Voxels:
    """Return the voxels of an image in memory."""
    kind = kind_of(image, name)
    voxels = voxels_of_array(kind.grid(image, name), kind.array(image, name))
    # nibabel returns scaled integers as float64. They are no more precise than float32.
    scaled = kind is NIBABEL and voxels.dtype == "float64" and image.get_data_dtype().kind in "iu"
    return voxels._replace(dtype="float32") if scaled else voxels


def voxels_in_place(image: Any, name: str) -> Voxels | OnGpu:
    """Return the voxels of an image in memory. Those on a GPU stay there."""
    if not isinstance(image, Image) or image._tensor is None:
        return voxels_of(image, name)
    return OnGpu(image._place(name), image._tensor, lambda: voxels_of(image, name))


def grid_of(image: Any, name: str) -> Grid:
    """Return the grid of an image in memory or in a file."""
    if is_path(image):
        return Grid(os.fspath(image), *_mireg.grid(os.fspath(image)))
    return kind_of(image, name).grid(image, name)


def image_like(fixed: Any, array: Array, grid: Grid | None, read: Grid) -> Any:
    """Return an image of the same kind as ``fixed``, with the voxels ``array``, indexed (i, j, k).

    It lies on ``grid``, or where ``fixed`` lies if that is None. If ``fixed`` is a path, the result is a mireg.Image,
    and ``read`` is the grid of the file.
    """
    if is_path(fixed):
        return Image._on(grid or read, array)
    return kind_of(fixed, "fixed").like(fixed, array, grid)


def _shaped(array: Array, shape: tuple[int, ...], grid: Grid | None) -> Array:
    """Return an array in the shape of the image that it is made like, which may have more or fewer axes of one voxel.

    On another ``grid`` it keeps its own shape.
    """
    return array.reshape(shape, order="F") if grid is None else array


# nibabel --------------------------------------------------------------------------------------------------------------


def _nibabel_is(image: Any) -> bool:
    nibabel = sys.modules.get("nibabel")
    return nibabel is not None and isinstance(image, nibabel.spatialimages.SpatialImage)


def _nibabel_grid(image: Any, name: str) -> Grid:
    nibabel, name = sys.modules["nibabel"], image.get_filename() or name
    if isinstance(image, nibabel.AnalyzeImage) and not isinstance(image, nibabel.Nifti1Pair):
        raise InputError(
            f"{name}: is Analyze 7.5, which does not say where left is; "
            "give nibabel.Nifti1Image(image.dataobj, affine) with an affine that you have checked"
        )
    if image.affine is None:
        raise InputError(f"{name}: has no affine; set one")
    # Rounded to 32 bits as in a file, and again as when that is read.
    affine = np.asarray(image.affine, dtype=np.float32).astype(np.float64)
    affine[:3] = np.float32(affine[:3] * _millimetres(image.header))
    return grid_of_affine(name, image.shape, affine, FLIP)


def _millimetres(header: Any) -> float:
    """Return the mm in the unit of length of a NIfTI header."""
    units = int(header["xyzt_units"]) if hasattr(header, "get_xyzt_units") else 0
    return {1: 1e3, 3: 1e-3}.get(units & 7, 1.0)


def _nibabel_array(image: Any, name: str) -> Array:
    return as_array(np.asanyarray(image.dataobj), name).reshape(image.shape[:3])


def _nibabel_like(image: Any, array: Array, grid: Grid | None) -> Any:
    affine = image.affine if grid is None else FLIP @ grid.affine()
    header = image.header.copy()
    if grid is not None and _millimetres(header) != 1:
        header.set_xyzt_units("mm")
    try:
        header.set_data_dtype(array.dtype)
    except Exception:  # A type that such files do not hold.
        array = array.astype(np.float32)
        header.set_data_dtype(np.float32)
    if "cal_max" in getattr(header, "keys", tuple)():  # Not all headers are mappings: MINC's are not.
        header["cal_max"] = header["cal_min"] = 0
    return type(image)(_shaped(array, image.shape, grid), affine, header)


# SimpleITK ------------------------------------------------------------------------------------------------------------


def _one_number(image: Any, count: int, name: str) -> None:
    if count != 1:
        raise InputError(f"{name}: has {count} numbers per voxel; take one of them")


def _simpleitk_is(image: Any) -> bool:
    sitk = sys.modules.get("SimpleITK")
    return sitk is not None and isinstance(image, sitk.Image)


def _simpleitk_grid(image: Any, name: str) -> Grid:
    return grid_of_itk(name, image.GetSize(), image.GetSpacing(), image.GetDirection(), image.GetOrigin())


def _simpleitk_array(image: Any, name: str) -> Array:
    _one_number(image, image.GetNumberOfComponentsPerPixel(), name)
    sitk = sys.modules["SimpleITK"]
    runs = image.GetPixelIDTypeAsString().startswith("label")  # A LabelMap, which has no buffer.
    array: Array = sitk.GetArrayFromImage(sitk.LabelMapToLabel(image)) if runs else sitk.GetArrayViewFromImage(image)
    return array.T


def _simpleitk_like(image: Any, array: Array, grid: Grid | None) -> Any:
    size = image.GetSize()
    made = sys.modules["SimpleITK"].GetImageFromArray(_shaped(array, size, grid).T)
    if grid is None:
        made.CopyInformation(image)
    else:
        made.SetSpacing(grid.spacing)
        made.SetOrigin(grid.origin)
        made.SetDirection([number for row in grid.direction for number in row])
    return made


# itk ------------------------------------------------------------------------------------------------------------------


def _itk_is(image: Any) -> bool:
    module = type(image).__module__
    return module.startswith("itk.") and hasattr(image, "GetLargestPossibleRegion")


def _itk_grid(image: Any, name: str) -> Grid:
    itk = sys.modules["itk"]
    size = tuple(image.GetLargestPossibleRegion().GetSize())
    direction = itk.array_from_matrix(image.GetDirection())
    return grid_of_itk(name, size, image.GetSpacing(), direction, _itk_first(image))


def _itk_first(image: Any) -> Any:
    """Return the position of the first voxel. The origin is that of index 0, which a part of an image need not have."""
    first = image.GetLargestPossibleRegion().GetIndex()
    return image.TransformIndexToPhysicalPoint(first) if any(first) else image.GetOrigin()


def _itk_array(image: Any, name: str) -> Array:
    _one_number(image, image.GetNumberOfComponentsPerPixel(), name)
    there, whole = (list(region.GetSize()) for region in (image.GetBufferedRegion(), image.GetLargestPossibleRegion()))
    if there != whole or 0 in there:
        raise InputError(
            f"{name}: holds not all of its voxels; call Update() of the filter or the reader that makes it"
        )
    array: Array = sys.modules["itk"].array_view_from_image(image)
    return array.T


def _itk_like(image: Any, array: Array, grid: Grid | None) -> Any:
    itk = sys.modules["itk"]
    size = tuple(image.GetLargestPossibleRegion().GetSize())
    made = itk.image_from_array(np.ascontiguousarray(_shaped(array, size, grid).T))
    if grid is None:
        made.SetSpacing(image.GetSpacing())
        made.SetOrigin(_itk_first(image))
        made.SetDirection(image.GetDirection())
    else:
        made.SetSpacing(grid.spacing)
        made.SetOrigin(grid.origin)
        made.SetDirection(itk.matrix_from_array(np.asarray(grid.direction)))
    return made


# ANTsPy ---------------------------------------------------------------------------------------------------------------

_ANTS_TYPES = ("uint8", "uint32", "float32", "float64")


def _ants_is(image: Any) -> bool:
    return type(image).__name__ == "ANTsImage" and type(image).__module__.startswith("ants.")


def _ants_grid(image: Any, name: str) -> Grid:
    return grid_of_itk(name, image.shape, image.spacing, image.direction, image.origin)


def _ants_array(image: Any, name: str) -> Array:
    _one_number(image, image.components, name)
    array: Array = image.numpy()
    return array


def _ants_like(image: Any, array: Array, grid: Grid | None) -> Any:
    ants = sys.modules["ants"]
    array = _shaped(array if array.dtype.name in _ANTS_TYPES else array.astype(np.float32), image.shape, grid)
    place = image if grid is None else grid
    return ants.from_numpy(
        array, origin=tuple(place.origin), spacing=tuple(place.spacing), direction=np.asarray(place.direction)
    )


# mireg ----------------------------------------------------------------------------------------------------------------


def _own_like(image: Image, array: Array, grid: Grid | None) -> Image:
    if grid is None:
        return Image(array.reshape(image.shape, order="F"), image.affine, image.frame, image._grid)
    return Image._on(grid, array)


def _own_is(image: Any) -> bool:
    return isinstance(image, Image)


def _own_grid(image: Image, name: str) -> Grid:
    return image._place(name)


def _own_array(image: Image, _: str) -> Array:
    return image._volume()


NIBABEL = Kind(_nibabel_is, _nibabel_grid, _nibabel_array, _nibabel_like)
KINDS = (
    Kind(_own_is, _own_grid, _own_array, _own_like),
    NIBABEL,
    Kind(_simpleitk_is, _simpleitk_grid, _simpleitk_array, _simpleitk_like),
    Kind(_ants_is, _ants_grid, _ants_array, _ants_like),
    Kind(_itk_is, _itk_grid, _itk_array, _itk_like),
)
