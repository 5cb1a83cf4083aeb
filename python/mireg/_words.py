"""Converts options to words of a command line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def words(command: str, names: Iterable[str], options: Mapping[str, Any], repeated: Sequence[str] = ()) -> list[str]:
    """Return a command line. An option that is None or False is left out; a list is joined by commas.

    ``repeated`` are the words for options that may be given several times.
    """
    given = [word for name, value in options.items() for word in _option(name, value)]
    return ["mireg", command, *repeated, *given, "--", *names]


def _option(name: str, value: Any) -> list[str]:
    flag = f"--{name.rstrip('_').replace('_', '-')}"
    if value is None or value is False:
        return []
    return [flag] if value is True else [f"{flag}={_text(value)}"]


def _text(value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Iterable):
        return ",".join(map(_text, value))
    return str(whole(value))


def whole(value: Any) -> Any:
    """Return 32 for 32.0, also for floats of numpy, and everything else as it is."""
    return int(value) if hasattr(value, "is_integer") and value.is_integer() else value
