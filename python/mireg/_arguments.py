"""Converts the arguments of functions to words of a command line and to objects in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from mireg import _mireg
from mireg._engine import Engine
from mireg._errors import InputError
from mireg._image import frame_of
from mireg._kinds import grid_of, is_image, is_path, voxels_in_place, voxels_of
from mireg._types import Array


def extra_words(images: Any, which: str, held: dict[str, Any]) -> list[str]:
    """Return the words for extra images, one or a list. Images in memory are put into ``held``."""
    given = list(images) if isinstance(images, (list, tuple)) else [images]
    held[which] = [None if is_path(image) else voxels_of(image, which) for image in given]
    return [f"--{which.replace('_', '-')}={os.fspath(image) if is_path(image) else which}" for image in given]


def listed(given: Any) -> list[Any]:
    """Return one or several of what is asked for as a list."""
    one = is_image(given) or not isinstance(given, Iterable)
    return [given] if one else list(given)


def name_of(image: Any, name: str, held: dict[str, Any]) -> str:
    """Return the name of an image on the command line. An image in memory is put into ``held``.

    A fixed or moving image that is on a GPU stays there.
    """
    if is_path(image):
        return str(os.fspath(image))
    voxels = (voxels_in_place if name in ("fixed", "moving") else voxels_of)(image, name)
    held[name] = voxels
    return voxels.grid.name


def placed(image: Any, name: str, held: dict[str, Any]) -> str:
    """Return the name of an image on the command line, if only its grid is needed. That is put into ``held``."""
    if is_path(image):
        return str(os.fspath(image))
    grid = grid_of(image, name)
    held["grid"] = grid
    return grid.name


def files_alone(image: Any, which: str, options: dict[str, Any], names: tuple[str, ...]) -> None:
    """Refuse options that are for files if the image is in memory."""
    for name in names:
        if options.get(name) is not None and not is_path(image):
            raise InputError(f"{name} is for files; take that part of the image itself, such as {which}[..., 0]")


def engine_of(engine: Engine | None, options: dict[str, Any]) -> _mireg.Engine | None:
    """Return the engine that was given, if any. As everywhere in the package, 0 threads are one per core."""
    if options.get("threads") == 0:
        options["threads"] = None
    if engine is None:
        return None
    if not isinstance(engine, Engine):
        raise TypeError(f"engine is a {type(engine).__name__}; give a mireg.Engine, or backend and threads instead")
    if options.get("backend") is not None or options.get("threads") is not None:
        raise InputError("backend and threads are those of the engine; leave them out")
    return engine._engine


def rows_of(points: Any, name: str) -> Array:
    """Return points as rows of three numbers, with z = 0 in 2-D."""
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


def points_of(points: Any, name: str, frame: str | None) -> list[list[float]]:
    """Return points as rows, LPS mm."""
    if frame is None:
        raise InputError(f"{name} is an array, which does not say its frame; give frame='RAS' or frame='LPS'")
    turned: list[list[float]] = (rows_of(points, name) * frame_of(frame).diagonal()[:3]).tolist()
    return turned


def points_words(given: dict[str, Any], frame: str | None, held: dict[str, Any]) -> dict[str, Any]:
    """Return the words for points, and for their frame if there are files. Arrays are put into ``held``."""
    given = {name: points for name, points in given.items() if points is not None}
    if frame and not given:
        raise InputError("frame is that of points, and there are none; leave it out")
    said = any(map(is_path, given.values()))
    for name, points in given.items():
        if not is_path(points):
            held[name.removeprefix("fixed_")] = points_of(points, name, frame)
            given[name] = name
    return {**given, "frame": frame.lower()} if said and frame else given
