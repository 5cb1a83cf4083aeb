"""Transforms, and what they do to images and points."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from mireg import _mireg
from mireg._arguments import engine_of, files_alone, listed, name_of, placed, rows_of
from mireg._engine import Engine
from mireg._errors import InputError, UntrustedError
from mireg._grid import Grid, array_of
from mireg._image import Frame, frame_of
from mireg._kinds import grid_of, is_path, like as like_of
from mireg._listener import RunListener, log_notes
from mireg._types import Array, Path
from mireg._words import words

Back = TypeVar("Back")


class Transform:
    """A map from points of the fixed image to points of the moving image.

    It is linear, a displacement field, a mesh, or a chain of these.

    >>> transform = mireg.Transform(matrix, frame="RAS")    # linear, from a 4x4 matrix of mm
    >>> transform = mireg.Transform.load("transform.tfm")
    >>> both = after @ transform                            # as for matrices: transform is applied first

    Transforms are compared by value, and can be pickled.
    """

    __slots__ = ("_core",)
    __hash__ = None  # type: ignore[assignment]  # Compared by value, and large.
    __array_ufunc__ = None  # A product with an array is an error, not an array of objects.

    _core: _mireg.Transform

    def __init__(self, matrix: Any, frame: Frame) -> None:
        given = np.asarray(matrix, dtype=np.float64)
        if given.shape != (4, 4):
            raise InputError(f"the matrix has shape {given.shape}; give 4x4")
        flip = frame_of(frame)
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

        ``fixed`` and ``moving``, images or paths, are for formats that need them, such as that of FSL. ``format`` is
        for files that do not say what they are; ``mireg convert --help`` lists the formats.
        """
        return cls._of(_mireg.Transform.read(os.fspath(path), format, _grid(fixed, "fixed"), _grid(moving, "moving")))

    def save(self, path: Path, *, format: str | None = None, fixed: Any = None, moving: Any = None) -> None:
        """Write a file. Its extension gives the format, unless ``format`` does.

        ``.tfm`` has the bytes that the command line writes. ``.mat`` of FSL, ``.lta`` and ``.aff12.1D`` need ``fixed``
        and ``moving``, images or paths.
        """
        self._core.write(os.fspath(path), format, _grid(fixed, "fixed"), _grid(moving, "moving"))

    @property
    def is_linear(self) -> bool:
        """Whether the transform is linear, and so has a matrix."""
        return self._core.matrix() is not None

    def matrix(self, *, frame: Frame) -> Array:
        """Return the 4x4 matrix from points of the fixed image to points of the moving image.

        ``frame`` is that of its mm: ``"RAS"`` or ``"LPS"``.
        """
        flip, matrix = frame_of(frame), self._core.matrix()
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
        """Return the inverse.

        That of a transform that is not linear is a displacement field on the grid of ``like``, the moving image; by
        default, on the grid of the transform's own field. With ``check=False`` the inverse of a field that folds is
        returned, instead of raising :class:`mireg.UntrustedError`, which has it as ``result``.
        """
        return self._unfolded(self._of(self._core.inverse(_grid(like, "like"))), check)

    def field(self, like: Any) -> Transform:
        """Return the transform as one displacement field, on the grid of ``like``, the fixed image."""
        return self._of(self._core.to_field(grid_of(like, "like")))

    def displacements(self, *, frame: Frame) -> Array:
        """Return the displacements of a displacement field, mm in ``frame``, indexed (i, j, k, axis)."""
        parts = self._core.parts()
        if len(parts) != 1 or parts[0][0] != "field":
            raise InputError("the transform is no displacement field; field(like) makes one of it")
        placed, vectors = parts[0][1]
        turned: Array = vectors.reshape(3, *placed[0], order="F") * frame_of(frame).diagonal()[:3].reshape(3, 1, 1, 1)
        return np.moveaxis(turned, 0, -1)

    def points(self, xyz: Any, *, frame: Frame, invert: bool = False, check: bool = True) -> Array:
        """Map points of the fixed image to the moving image, mm in ``frame``; with ``invert``, the other way round.

        ``xyz`` has the shape (3,) or (n, 3), or two numbers per point in 2-D. ``check`` is as for :meth:`inverse`.
        """
        flip, rows = frame_of(frame).diagonal()[:3], rows_of(xyz, "points")
        moved = self._core.points(rows * flip, invert) * flip
        shape = np.shape(xyz)
        if shape[-1] == 2 and (np.abs(moved[:, 2]) > 1e-6).any():
            raise InputError("the transform takes points with two coordinates out of the plane; give them three")
        found: Array = moved[:, : shape[-1]].reshape(shape) + 0.0
        return self._unfolded(found, check) if invert else found

    def _unfolded(self, back: Back, check: bool) -> Back:
        """Return a result of the inverse. Raises UntrustedError if a field folds, unless ``check`` is False."""
        if check and (count := self._core.folds()):
            line = f"a field folds at {count} of its voxels, so that the way back is not unique; look at .result of this error"
            raise UntrustedError(line, back)
        return back

    def apply(self, image: Any, *, like: Any, **options: Any) -> Any:
        """Resample ``image``, a moving image, on the grid of ``like``: see :func:`mireg.apply`."""
        return apply(image, like=like, transform=self, **options)

    def to_sitk(self) -> Any:
        """Return a transform of SimpleITK, which must be installed, with the same parameters.

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
    return None if image is None else grid_of(image, name)


def _of_parts(parts: list[tuple[str, tuple[Any, ...]]]) -> Transform:
    def one(kind: str, numbers: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
        return (kind, (Grid("field", *numbers[0]), numbers[1])) if kind == "field" else (kind, numbers)

    return Transform._of(_mireg.Transform.of_parts([one(*part) for part in parts]))


def _to_sitk(sitk: Any, kind: str, numbers: tuple[Any, ...]) -> Any:
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
    name = {"rigid": f"Euler{axes}DTransform", "similarity": f"Similarity{axes}DTransform", "affine": "AffineTransform"}[kind]
    made = getattr(sitk, name)(*([axes] if kind == "affine" else []))
    made.SetCenter(centre[:axes])
    made.SetParameters(parameters)
    return made


def of(transform: Any, name: str, fixed: Grid | None = None, moving: Grid | None = None, format: str | None = None) -> Transform:
    """Return a transform as it is, or read it from a file; ``fixed`` and ``moving`` are the grids of the images."""
    if isinstance(transform, Transform):
        return transform
    if isinstance(transform, (str, os.PathLike)):
        return Transform._of(_mireg.Transform.read(os.fspath(transform), format, fixed, moving))
    raise TypeError(
        f"{name} is a {type(transform).__name__}; give a path or a mireg.Transform, such as mireg.Transform(matrix, frame='RAS')"
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
    """Resample ``image`` on the grid of ``like``, and return an image of the same kind as ``like``.

    >>> labels = mireg.apply("labels.nii.gz", like="ct.nii.gz", transform="transform.tfm", labels=True)

    ``transform`` is a :class:`mireg.Transform`, a path, or a list of these, which are applied to a point of ``like`` in
    this order. Integers are rounded and clamped. The options are those of ``mireg apply --help``.
    """
    transforms = [] if transform is None else listed(transform)
    options = {
        **{"from": from_, "invert": invert, "interpolation": interpolation, "labels": labels, "outside": outside},
        **{"spacing": spacing, "series": series, "volume": volume, "channel": channel},
        **{"backend": backend, "threads": threads},
    }
    files_alone(image, "image", options, ("series", "volume", "channel"))
    held: dict[str, Any] = {}
    names = [name_of(image, "image", held)]
    options["like"] = placed(like, "like", held)
    if all(map(is_path, transforms)):
        given = [f"--transform={os.fspath(path)}" for path in transforms]
    else:
        chain = [of(one, "transform", format=from_)._core for one in transforms]
        options.pop("from", None)
        held["transform"] = chain[0]
        for following in chain[1:]:
            held["transform"] = held["transform"].then(following)
        given = ["--transform=transform"]
    opened = engine_of(engine, options)
    line = words("apply", names, options)
    found = _mireg.run([*line[:2], *given, *line[2:]], held, opened, RunListener(), False)
    log_notes(found[3])
    assert found[1] is not None
    array, grid = array_of(found[1])
    return like_of(like, array, None if spacing is None else grid, grid)


def points(
    xyz: Any, transform: Any, *, frame: Frame, invert: bool = False, check: bool = True
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Map points of the fixed image to the moving image, mm in ``frame``; with ``invert``, the other way round.

    >>> mireg.points([[10.0, -20.0, 30.0]], "transform.tfm", frame="RAS")

    ``xyz`` has the shape (3,) or (n, 3), or (2,) or (n, 2) in 2-D. ``transform`` is as for :func:`mireg.apply`, and
    ``check`` as for :meth:`mireg.Transform.inverse`. The command ``mireg points`` transforms files of landmarks.
    """
    transforms = [of(one, "transform") for one in listed(transform)]
    found = np.asarray(xyz, dtype=np.float64)
    for one in reversed(transforms) if invert else transforms:
        found = one.points(found, frame=frame, invert=invert, check=False)
    for one in transforms if invert else ():
        found = one._unfolded(found, check)
    return found
