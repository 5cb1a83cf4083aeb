"""Converts arguments of functions to words of a command line, and to objects in memory.

Functions put what is in memory into a dict, ``held``, which is passed to the extension beside the words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from mireg._errors import InputError
from mireg._image import lps_signs
from mireg._kinds import grid_of, is_image, is_path, voxels_in_place, voxels_of
from mireg._types import Array


def as_list(given: Any) -> list[Any]:
    """Return one or several images, paths or transforms as a list."""
    one = is_image(given) or not isinstance(given, Iterable)
    return [given] if one else list(given)


def image_name(image: Any, name: str, held: dict[str, Any]) -> str:
    """Return the name of an image on the command line. An image in memory is put into ``held`` as ``name``.

    A fixed or moving image that is on a GPU stays there.
    """
    if is_path(image):
        return str(os.fspath(image))
    voxels = (voxels_in_place if name in ("fixed", "moving") else voxels_of)(image, name)
    held[name] = voxels
    return voxels.grid.name


def grid_name(image: Any, name: str, held: dict[str, Any]) -> str:
    """Return the name of an image of which only the grid is needed. The grid is put into ``held``."""
    if is_path(image):
        return str(os.fspath(image))
    grid = grid_of(image, name)
    held["grid"] = grid
    return grid.name


def extra_words(images: Any, which: str, held: dict[str, Any]) -> list[str]:
    """Return the words for extra images: one, several or None. Images in memory are put into ``held``."""
    given = [] if images is None else as_list(images)
    held[which] = [None if is_path(image) else voxels_of(image, which) for image in given]
    return [f"--{which.replace('_', '-')}={os.fspath(image) if is_path(image) else which}" for image in given]


def refuse_file_options(image: Any, which: str, options: dict[str, Any], names: tuple[str, ...]) -> None:
    """Raise InputError if one of the options ``names``, which are for files, is given for an image in memory."""
    for name in names:
        if options.get(name) is not None and not is_path(image):
            raise InputError(f"{name} is for files; take that part of the image itself, such as {which}[..., 0]")


def points_words(given: dict[str, Any], frame: str | None, held: dict[str, Any]) -> dict[str, Any]:
    """Return the options for points, and for their frame if there are files. Arrays are put into ``held``.

    ``given`` has paths or arrays of shape (n, 3), mm in ``frame``, or None, by the names of the options.
    """
    given = {name: points for name, points in given.items() if points is not None}
    if frame and not given:
        raise InputError("frame is that of points, and there are none; leave it out")
    files = any(map(is_path, given.values()))
    for name, points in given.items():
        if not is_path(points):
            held[name.removeprefix("fixed_")] = _lps_rows(points, name, frame)
            given[name] = name
    return {**given, "frame": frame.lower()} if files and frame else given


def point_rows(points: Any, name: str) -> Array:
    """Return points of shape (3,), (n, 3), (2,) or (n, 2) as rows of three numbers, with z = 0 in 2-D."""
    given = np.asarray(points, dtype=np.float64)
    if given.ndim not in (1, 2) or given.shape[-1] not in (2, 3):
        raise InputError(f"{name} has shape {given.shape}; give (3,) or (n, 3), or (2,) or (n, 2) in 2-D")
    given = np.atleast_2d(given)
    wrong = ~np.isfinite(given).all(axis=1)
    if wrong.any():
        row = wrong.argmax()
        raise InputError(f"{name} has {given[row].tolist()} in row {row}, which is no point; leave it out")
    rows = np.zeros((len(given), 3))
    rows[:, : given.shape[1]] = given
    return rows


def _lps_rows(points: Any, name: str, frame: str | None) -> list[list[float]]:
    """Return points, mm in ``frame``, as rows of LPS mm."""
    if frame is None:
        raise InputError(f"{name} is an array, which does not say its frame; give frame='RAS' or frame='LPS'")
    rows: list[list[float]] = (point_rows(points, name) * lps_signs(frame)).tolist()
    return rows
