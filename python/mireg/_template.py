"""``mireg template`` as a function."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from mireg import _mireg
from mireg._arguments import engine_of, files_alone, listed, placed
from mireg._engine import Engine
from mireg._kinds import is_path, voxels_of
from mireg._listener import Progress, RunListener
from mireg._results import Template, checked
from mireg._types import Path
from mireg._words import words


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

    >>> found = mireg.template(["a.nii.gz", "b.nii.gz", "c.nii.gz"], unfinished="study.unfinished")
    >>> found.image.save("template.nii.gz")

    ``images`` are paths or images, and so is ``like``, on whose grid the template is. Finished steps are kept in the
    folder ``unfinished``, whose name must end in ``.unfinished``. If a run is stopped, the same call goes on from
    there, with the same results, and removes the folder at its end; ``fresh`` begins anew. The command line keeps the
    same steps in ``DIR.unfinished``, so either goes on where the other was stopped. Without ``unfinished``, a temporary
    folder is used. The folder takes 12 bytes per voxel and image.

    The options are those of ``mireg template --help``; see :func:`mireg.register` for the others, and for what it raises.
    """
    given = listed(images)
    options = {
        **{"rounds": rounds, "fresh": fresh, "force": force, "smooth": smooth, "levels": levels, "iterations": iterations},
        **{"series": series, "volume": volume, "channel": channel, "backend": backend, "threads": threads},
    }
    for number, image in enumerate(given):
        files_alone(image, f"images[{number}]", options, ("series", "volume", "channel"))
    voxels = [None if is_path(image) else voxels_of(image, f"images[{number}]") for number, image in enumerate(given)]
    names = [os.fspath(image) if one is None else one.grid.name for image, one in zip(given, voxels)]
    held: dict[str, Any] = {"images": voxels}
    if like is not None:
        options["like"] = placed(like, "like", held)
    if unfinished is not None:
        held["unfinished"] = unfinished
    opened = engine_of(engine, options)
    with RunListener(progress) as listener:
        found = _mireg.run(words("template", names, options), held, opened, listener, listener.values)[4]
    assert found is not None
    return checked(Template(*found, given[0] if like is None else like), check)
