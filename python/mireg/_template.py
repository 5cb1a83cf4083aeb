"""``mireg template`` as a function."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from mireg._arguments import as_list, grid_name, refuse_file_options
from mireg._engine import Engine
from mireg._kinds import is_path, voxels_of
from mireg._listener import Progress, RunListener
from mireg._results import Template, checked
from mireg._run import run
from mireg._types import Path


def template(
    images: Iterable[Any],
    *,
    like: Any = None,
    rounds: int | None = None,
    unfinished: Path | None = None,
    fresh: bool = False,
    force: str | None = None,
    smooth: float | None = None,
    levels: Sequence[float] | None = None,
    iterations: int | Sequence[int] | None = None,
    series: str | None = None,
    volume: int | str | None = None,
    channel: int | str | None = None,
    backend: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | Progress | None = None,
    check: bool = True,
) -> Template:
    """Make the unbiased mean of two or more images in shape and intensity.

    Parameters
    ----------
    images : iterable of paths or images
        The images.
    like : path or image, optional
        The template is on the grid of this image; by default, on that of the first of ``images``.
    unfinished : path, optional
        The folder in which finished steps are kept, 12 bytes per voxel and image. Its name must end in
        ``.unfinished``. If a run is stopped, the same call continues from there, with the same results, and removes
        the folder at its end. The command line keeps the same steps in ``DIR.unfinished``, so either continues where
        the other was stopped. By default, a temporary folder is used.
    fresh : bool
        Begin anew, even if ``unfinished`` has finished steps.
    engine, progress, check
        As of :func:`mireg.register`.
    rounds, force, ...
        All other options are those of ``mireg template --help``.

    Returns
    -------
    Template
        The template, with a transform to each image.

    Raises
    ------
    UntrustedError, InputError, FileError, DeviceError
        As :func:`mireg.register`.

    Examples
    --------
    >>> found = mireg.template(["a.nii.gz", "b.nii.gz", "c.nii.gz"], unfinished="study.unfinished")
    >>> found.image.save("template.nii.gz")
    """
    given = as_list(images)
    options = {
        **{"rounds": rounds, "fresh": fresh, "force": force},
        **{"smooth": smooth, "levels": levels, "iterations": iterations},
        **{"series": series, "volume": volume, "channel": channel, "backend": backend, "threads": threads},
    }
    for number, image in enumerate(given):
        refuse_file_options(image, f"images[{number}]", options, ("series", "volume", "channel"))
    voxels = [None if is_path(image) else voxels_of(image, f"images[{number}]") for number, image in enumerate(given)]
    names = [os.fspath(image) if one is None else one.grid.name for image, one in zip(given, voxels)]
    held: dict[str, Any] = {"images": voxels}
    if like is not None:
        options["like"] = grid_name(like, "like", held)
    if unfinished is not None:
        held["unfinished"] = unfinished
    with RunListener(progress) as listener:
        made = run("template", names, options, held, engine=engine, listener=listener).template
    assert made is not None
    return checked(Template(*made, given[0] if like is None else like), check)
