"""Transforms, and the functions that apply them to images and points."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from mireg import _mireg
from mireg._arguments import as_list, grid_name, image_name, point_rows, refuse_file_options
from mireg._engine import Engine
from mireg._errors import InputError, UntrustedError
from mireg._grid import Grid, array_and_grid
from mireg._image import Frame, lps_matrix, lps_signs
from mireg._kinds import grid_of, image_like, is_path
from mireg._run import run
from mireg._types import Array, Path

Back = TypeVar("Back")


class Transform:
    """A map from points of the fixed image to points of the moving image, in mm.

    It is linear, a displacement field, a mesh, or a chain of these. Transforms are compared by value, and can be
    pickled.

    Examples
    --------
    >>> transform = mireg.Transform(matrix, frame="RAS")    # linear, from a 4x4 matrix of mm
    >>> transform = mireg.Transform.load("transform.tfm")
    >>> both = after @ transform                            # as for matrices: transform is applied first
    """

    __slots__ = ("_core",)
    __hash__ = None  # type: ignore[assignment]  # Compared by value, and large.
    __array_ufunc__ = None  # A product with an array is an error, not an array of objects.

    _core: _mireg.Transform

    def __init__(self, matrix: Any, frame: Frame) -> None:
        """Make a linear transform.

        Parameters
        ----------
        matrix : array_like, shape (4, 4)
            The matrix from points (x, y, z, 1) of the fixed image to points of the moving image, mm in ``frame``.
        frame : "RAS" or "LPS"
            The frame of the points.
        """
        given = np.asarray(matrix, dtype=np.float64)
        if given.shape != (4, 4):
            raise InputError(f"the matrix has shape {given.shape}; give 4x4")
        flip = lps_matrix(frame)
        x, y, z, last = (tuple(map(float, row)) for row in flip @ given @ flip)
        self._core = _mireg.Transform.of_matrix((x, y, z, last))

    @classmethod
    def _of(cls, core: _mireg.Transform) -> Transform:
        made = object.__new__(cls)
        made._core = core
        return made

    @classmethod
    def load(cls, path: Path, *, format: str | None = None, fixed: Any = None, moving: Any = None) -> Transform:
        """Read a file of any format that ``mireg convert`` reads.

        Parameters
        ----------
        path : path
            The file.
        format : str, optional
            The format, for files that do not say what they are; ``mireg convert --help`` lists the formats.
        fixed, moving : path or image, optional
            The images, for formats that need them: ``.mat`` of FSL, ``.aff12.1D`` of AFNI, ``.standard`` of RIRE.
        """
        return cls._of(_mireg.Transform.read(os.fspath(path), format, _grid(fixed, "fixed"), _grid(moving, "moving")))

    def save(self, path: Path, *, format: str | None = None, fixed: Any = None, moving: Any = None) -> None:
        """Write a file. ``.tfm`` has the bytes that the command line writes.

        Parameters
        ----------
        path : path
            The file.
        format : str, optional
            The format; by default, that of the file's extension. ``mireg convert --help`` lists the formats.
        fixed, moving : path or image, optional
            The images, for formats that need them: ``.mat`` of FSL, ``.aff12.1D`` of AFNI, ``.standard`` of RIRE and
            ``.lta`` of FreeSurfer need both, elastix's needs ``fixed``.
        """
        self._core.write(os.fspath(path), format, _grid(fixed, "fixed"), _grid(moving, "moving"))

    @property
    def is_linear(self) -> bool:
        """Whether the transform is linear. Only then it has a :meth:`matrix`."""
        return self._core.matrix() is not None

    def matrix(self, *, frame: Frame) -> Array:
        """Return the 4x4 matrix from points (x, y, z, 1) of the fixed image to points of the moving image.

        Points are in mm in ``frame``, ``"RAS"`` or ``"LPS"``.

        Raises :class:`mireg.InputError` if the transform is not linear.
        """
        flip, matrix = lps_matrix(frame), self._core.matrix()
        if matrix is None:
            raise InputError("the transform is not linear, so it has no matrix; use points() or apply()")
        # Adding 0 turns -0 into 0.
        turned: Array = flip @ np.asarray(matrix) @ flip + 0.0
        return turned

    def __matmul__(self, first: Transform) -> Transform:
        """Compose as matrices do: ``(a @ b).points(p)`` is ``a.points(b.points(p))``."""
        if not isinstance(first, Transform):
            return NotImplemented
        return self._of(first._core.then(self._core))

    def inverse(self, like: Any = None, *, check: bool = True) -> Transform:
        """Return the inverse, from points of the moving image to points of the fixed image.

        Parameters
        ----------
        like : path or image, optional
            The moving image. The inverse of a transform that is not linear is a displacement field on its grid; by
            default, on the grid of the transform's first field.
        check : bool
            A field that folds has no unique inverse. False returns the inverse all the same, instead of raising
            :class:`mireg.UntrustedError`, which has it as ``result``.
        """
        return self._checked_for_folds(self._of(self._core.inverse(_grid(like, "like"))), check)

    def field(self, like: Any) -> Transform:
        """Return the transform as one displacement field on the grid of ``like``, the fixed image (path or image)."""
        return self._of(self._core.to_field(grid_of(like, "like")))

    def displacements(self, *, frame: Frame) -> Array:
        """Return the vectors of a displacement field, mm in ``frame``: an array indexed (i, j, k, axis).

        Raises :class:`mireg.InputError` if the transform is no displacement field; :meth:`field` makes one of it.
        """
        parts = self._core.parts()
        if len(parts) != 1 or parts[0][0] != "field":
            raise InputError("the transform is no displacement field; field(like) makes one of it")
        (size, *_), vectors = parts[0][1]
        turned: Array = np.moveaxis(vectors.reshape(3, *size, order="F"), 0, -1) * lps_signs(frame)
        return turned

    def points(self, xyz: Any, *, frame: Frame, invert: bool = False, check: bool = True) -> Array:
        """Map points of the fixed image to the moving image, mm in ``frame``; with ``invert``, the other way round.

        ``xyz`` has the shape (3,) or (n, 3), or (2,) or (n, 2) in 2-D. See :func:`mireg.points`.
        """
        signs, rows = lps_signs(frame), point_rows(xyz, "points")
        moved = self._core.points(rows * signs, invert) * signs
        shape = np.shape(xyz)
        if shape[-1] == 2 and (np.abs(moved[:, 2]) > 1e-6).any():
            raise InputError("the transform takes points with two coordinates out of the plane; give them three")
        found: Array = moved[:, : shape[-1]].reshape(shape) + 0.0
        return self._checked_for_folds(found, check) if invert else found

    def _checked_for_folds(self, back: Back, check: bool) -> Back:
        """Return ``back``, a result of the inverse. Raises UntrustedError if a field folds and ``check`` is True."""
        if check and (count := self._core.folds()):
            line = f"a field folds at {count} of its voxels, so that the way back is not unique"
            raise UntrustedError(f"{line}; look at .result of this error", back)
        return back

    def apply(self, image: Any, *, like: Any, **options: Any) -> Any:
        """Resample ``image``, the moving image, on the grid of ``like``: see :func:`mireg.apply` and its options."""
        return apply(image, like=like, transform=self, **options)

    def to_sitk(self) -> Any:
        """Return the transform as one of SimpleITK, which must be installed: in LPS mm, with the same parameters.

        A mesh cannot be converted; its :meth:`field` can.
        """
        sitk: Any = import_module("SimpleITK")
        made = [_to_sitk(sitk, *part) for part in self._core.parts()]
        if len(made) == 1:
            return made[0]
        # ITK applies the last one of a composite first.
        return sitk.CompositeTransform(list(reversed(made))) if made else sitk.Transform()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Transform) and self._core == other._core

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_parts, (self._core.parts(),)

    def __repr__(self) -> str:
        kinds = [kind for kind, _ in self._core.parts()]
        if not self.is_linear:
            return f"<mireg.Transform: {', then '.join(kinds)}>"
        lines = np.array2string(self.matrix(frame="RAS"), precision=4, suppress_small=True)
        return f"<mireg.Transform: {', then '.join(kinds) or 'identity'}; RAS mm, fixed to moving:\n{lines}>"


def _grid(image: Any, name: str) -> Grid | None:
    """Return the grid of an image or of a file, if there is one."""
    return None if image is None else grid_of(image, name)


def _of_parts(parts: list[tuple[str, tuple[Any, ...]]]) -> Transform:
    """Return the transform that has these parts. Pickles name this function."""

    def one(kind: str, numbers: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
        return (kind, (Grid("field", *numbers[0]), numbers[1])) if kind == "field" else (kind, numbers)

    return Transform._of(_mireg.Transform.of_parts([one(*part) for part in parts]))


def _to_sitk(sitk: Any, kind: str, numbers: tuple[Any, ...]) -> Any:
    """Return one part of a transform as a transform of SimpleITK."""
    if kind == "field":
        (size, spacing, direction, origin), vectors = numbers
        axes = 2 if size[2] == 1 and origin[2] == 0 else 3
        voxels = vectors.astype(np.float64).reshape(*reversed(size), 3)
        field = sitk.GetImageFromArray(voxels[0, :, :, :2] if axes == 2 else voxels, isVector=True)
        field.SetSpacing(spacing[:axes])
        field.SetOrigin(origin[:axes])
        field.SetDirection([number for row in direction[:axes] for number in row[:axes]])
        return sitk.DisplacementFieldTransform(field)
    if kind == "mesh":
        raise InputError("SimpleITK has no meshes; field(like).to_sitk() is the same as a displacement field")
    axes, parameters, centre = numbers
    if kind == "translation":
        return sitk.TranslationTransform(axes, parameters)
    if kind == "affine":
        made = sitk.AffineTransform(axes)
    else:
        name = {"rigid": f"Euler{axes}DTransform", "similarity": f"Similarity{axes}DTransform"}[kind]
        made = getattr(sitk, name)()
    made.SetCenter(centre[:axes])
    made.SetParameters(parameters)
    return made


def as_transform(transform: Any, name: str, format: str | None = None) -> Transform:
    """Return a transform as it is, or read it from a file; ``name`` is for error messages."""
    if isinstance(transform, Transform):
        return transform
    if is_path(transform):
        return Transform.load(transform, format=format)
    raise TypeError(
        f"{name} is a {type(transform).__name__}; "
        "give a path or a mireg.Transform, such as mireg.Transform(matrix, frame='RAS')"
    )


def apply(
    image: Any,
    *,
    like: Any,
    transform: Any = (),
    from_: str | None = None,
    invert: bool = False,
    interpolation: str | None = None,
    labels: bool = False,
    outside: float | None = None,
    spacing: float | Sequence[float] | None = None,
    series: str | None = None,
    volume: int | str | None = None,
    channel: int | str | None = None,
    backend: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> Any:
    """Resample an image on the grid of another.

    Parameters
    ----------
    image : path or image
        The moving image. Its type of voxel is kept: integers are rounded and clamped.
    like : path or image
        The fixed image, on whose grid ``image`` is resampled.
    transform : Transform, path, or list of these, optional
        From points of ``like`` to points of ``image``. Those of a list are applied in this order. By default, the
        images lie where their headers place them.
    engine : Engine, optional
        Used instead of ``backend`` and ``threads``.
    invert, labels, ...
        All other options are those of ``mireg apply --help``.

    Returns
    -------
    image
        An image of the same kind as ``like``, or a :class:`mireg.Image` if that is a path.

    Examples
    --------
    >>> labels = mireg.apply("labels.nii.gz", like="ct.nii.gz", transform="transform.tfm", labels=True)
    """
    transforms = [] if transform is None else as_list(transform)
    options = {
        **{"from": from_, "invert": invert, "interpolation": interpolation, "labels": labels, "outside": outside},
        **{"spacing": spacing, "series": series, "volume": volume, "channel": channel},
        **{"backend": backend, "threads": threads},
    }
    refuse_file_options(image, "image", options, ("series", "volume", "channel"))
    held: dict[str, Any] = {}
    names = [image_name(image, "image", held)]
    options["like"] = grid_name(like, "like", held)
    if all(map(is_path, transforms)):
        given = [f"--transform={os.fspath(path)}" for path in transforms]
    else:
        cores = [as_transform(one, "transform", from_)._core for one in transforms]
        del options["from"]
        held["transform"] = reduce(_mireg.Transform.then, cores)
        given = ["--transform=transform"]
    resampled = run("apply", names, options, held, repeated=given, engine=engine).image
    assert resampled is not None
    array, grid = array_and_grid(resampled)
    return image_like(like, array, None if spacing is None else grid, grid)


def points(xyz: Any, transform: Any, *, frame: Frame, invert: bool = False, check: bool = True) -> Array:
    """Map points of the fixed image to the moving image.

    The command ``mireg points`` does this for files of landmarks.

    Parameters
    ----------
    xyz : array_like, shape (3,) or (n, 3), in 2-D (2,) or (n, 2)
        The points, mm in ``frame``.
    transform : Transform, path, or list of these
        From points of the fixed image to points of the moving image. Those of a list are applied in this order.
    frame : "RAS" or "LPS"
        The frame of the points.
    invert : bool
        Map points of the moving image to the fixed image instead.
    check : bool
        As of :meth:`mireg.Transform.inverse`.

    Returns
    -------
    ndarray
        The points in the shape of ``xyz``, mm in ``frame``.

    Raises
    ------
    UntrustedError
        With ``invert``, if a displacement field folds and ``check`` is True.

    Examples
    --------
    >>> mireg.points([[10.0, -20.0, 30.0]], "transform.tfm", frame="RAS")
    """
    transforms = [as_transform(one, "transform") for one in as_list(transform)]
    found = np.asarray(xyz, dtype=np.float64)
    for one in reversed(transforms) if invert else transforms:
        found = one.points(found, frame=frame, invert=invert, check=False)
    for one in transforms if invert else ():
        found = one._checked_for_folds(found, check)
    return found
