"""Runs a command of the extension."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mireg import _mireg
from mireg._engine import Engine
from mireg._errors import InputError
from mireg._listener import RunListener, log_notes
from mireg._types import ImageTuple
from mireg._words import words


class Outcome(NamedTuple):
    """What a command returned. What it does not return is None or empty."""

    #: A registration, a deformation or a mesh.
    finished: _mireg.Finished | None
    #: The moved or resampled image.
    image: ImageTuple | None
    json: str | None
    notes: list[str]
    #: A template, with the transform of each image.
    template: tuple[_mireg.Averaged, list[_mireg.Transform]] | None


def run(
    command: str,
    names: Iterable[str],
    options: dict[str, Any],
    held: dict[str, Any],
    *,
    repeated: Sequence[str] = (),
    engine: Engine | None = None,
    listener: RunListener | None = None,
) -> Outcome:
    """Run a command, log its notes and return its outcome.

    Parameters
    ----------
    names
        The names of the images or transforms, as on the command line.
    options
        The options by name; None stands for the default.
    held
        The images, transforms and points in memory, which are used instead of files.
    repeated
        Words for options that may be given several times.
    """
    opened = _opened(engine, options)
    listener = RunListener() if listener is None else listener
    outcome = Outcome(*_mireg.run(words(command, names, options, repeated), held, opened, listener, listener.values))
    log_notes(outcome.notes)
    return outcome


def _opened(engine: Engine | None, options: dict[str, Any]) -> _mireg.Engine | None:
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
