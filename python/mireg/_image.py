"""mireg's own image: an array, and where its voxels lie."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mireg import _mireg
from mireg._errors import InputError
from mireg._grid import FLIP, Grid, array_and_grid, grid_of_affine, size_of, voxels_of_array
from mireg._types import Array, Path

Frame = Literal["RAS", "LPS"]


def lps_matrix(frame: str) -> Array:
    """Return the 4x4 matrix from ``frame`` to LPS, which is also that from LPS to ``frame``."""
    if frame not in ("RAS", "LPS"):
        raise InputError(f"{frame!r} is no frame; say 'RAS' (nibabel, NIfTI) or 'LPS' (DICOM, ITK)")
    return FLIP if frame == "RAS" else np.eye(4)


def lps_signs(frame: str) -> Array:
    """Return the signs of x, y and z by which a point or vector in ``frame`` is one in LPS, and back."""
    signs: Array = lps_matrix(frame).diagonal()[:3]
    return signs


@dataclass(frozen=True, eq=False)
class Image:
    """Voxels and where they lie: an array with its affine.

    Examples
    --------
    >>> image = mireg.Image(voxels, affine, frame="RAS")
    >>> image.save("image.nii.gz")
    """

    array: Any
    """The voxels, indexed (i, j, k), or (i, j) in 2-D: a numpy array, or anything with ``__array_interface__`` or
    DLPack, such as a tensor of torch. A tensor on a GPU stays there, and must not be written to; ``array`` is then its
    read-only copy on the host, which is made when it is first used.
    """
    affine: Any
    """The 4x4 matrix from index (i, j, k, 1) to mm in ``frame``, a read-only copy of the one that was given.
    ``dataclasses.replace(image, affine=other)`` returns the image with another one.
    """
    frame: Frame
    """``"RAS"``, as in nibabel and NIfTI, or ``"LPS"``, as in ITK and DICOM."""
    #: The grid of the file, to the last bit, if the image is of a file.
    _grid: Grid | None = field(default=None, repr=False)
    #: The tensor on a GPU, if ``array`` was one.
    _tensor: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        lps_matrix(self.frame)
        if on_gpu(self.array):
            object.__setattr__(self, "_tensor", exportable(self.array))
            object.__delattr__(self, "array")
        else:
            object.__setattr__(self, "array", as_array(self.array))
        affine = np.array(self.affine, dtype=np.float64)
        affine.setflags(write=False)
        object.__setattr__(self, "affine", affine)
        self._place("image")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name != "array" or self._tensor is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            array = as_array(self._tensor).view()
            array.setflags(write=False)
            object.__setattr__(self, "array", array)
            return array

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, with the voxels on the host."""
        return {**self.__dict__, "array": self.array, "_tensor": None}

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of voxels along each axis."""
        return tuple(map(int, (self.array if self._tensor is None else self._tensor).shape))

    @classmethod
    def load(
        cls, path: Path, *, series: str | None = None, volume: int | str | None = None, channel: int | str | None = None
    ) -> Image:
        """Read a file of any format that the command line reads, or a folder of DICOM files.

        Parameters
        ----------
        path : path
            The file or folder.
        series, volume, channel
            Choose one of several, as ``--fixed-series``, ``--fixed-volume`` and ``--fixed-channel`` of
            ``mireg register`` do.

        Returns
        -------
        Image
            The image. Its affine is in RAS mm.
        """
        text = [None if one is None else str(one) for one in (volume, channel)]
        array, grid = array_and_grid(_mireg.read(os.fspath(path), series, text[0], text[1]))
        return cls._on(grid._replace(name=os.fspath(path)), array)

    def save(self, path: Path) -> None:
        """Write a file. Its extension gives the format, such as ``.nii.gz``, ``.mha`` or ``.nrrd``.

        The file is written whole or not at all.
        """
        _mireg.write(os.fspath(path), voxels_of_array(self._place("image"), self._volume()))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.array, dtype=dtype) if copy else np.asarray(self.array, dtype=dtype)

    @classmethod
    def _on(cls, grid: Grid, array: np.ndarray[Any, Any]) -> Image:
        """Return the image of an array on a grid."""
        return cls(array, FLIP @ grid.affine(), "RAS", grid)

    def _place(self, name: str) -> Grid:
        """Return the grid of the image; ``name`` is for error messages."""
        grid, to_lps = self._grid, lps_matrix(self.frame)
        if grid is not None and tuple(grid.size) == size_of(name, self.shape):
            if np.array_equal(grid.affine(), to_lps @ self.affine):
                return grid
        # The image is of no file, or was given another affine or array.
        return grid_of_affine(name, self.shape, self.affine, to_lps)

    def _volume(self) -> np.ndarray[Any, Any]:
        """Return the voxels with three axes."""
        return np.asarray(self.array).reshape(self._place("image").size, order="F")


def on_gpu(array: Any) -> bool:
    """Return whether an array lies on an NVIDIA GPU and can be exported by DLPack."""
    ways = ("__dlpack__", "__dlpack_device__", "shape")
    return all(hasattr(array, way) for way in ways) and array.__dlpack_device__()[0] == 2  # kDLCUDA


def exportable(array: Any) -> Any:
    """Return the array without its gradients, since torch exports no tensor that has them."""
    return array.detach() if hasattr(array, "detach") else array


def as_array(array: Any, name: str = "array") -> np.ndarray[Any, Any]:
    """Return an array on the host, without a copy if it is there already."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array, whose mask would be lost; give array.filled(np.nan) for no data there, "
            "array.filled(0), or array.data beside a mask that is an image"
        )
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        array = exportable(array)
        if array.__dlpack_device__()[0] == 1:  # kDLCPU
            return np.from_dlpack(array)
        for to_host in ("cpu", "get"):  # torch and cupy
            if hasattr(array, to_host):
                return np.asarray(getattr(array, to_host)())
        return np.from_dlpack(array, device="cpu")
    if hasattr(array, "__array_interface__") or hasattr(array, "__array__"):
        return np.asarray(array)
    raise TypeError(
        f"{name} is a {type(array).__name__}; give a numpy array, or one with __array_interface__ or DLPack"
    )
