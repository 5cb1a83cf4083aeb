"""Logs what a run reports, and shows its progress."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Any

log = logging.getLogger("mireg")

#: Called with the number of the level, from 0, and the best value of the metric so far.
Progress = Callable[[int, float], object]


class RunListener:
    """Receives what a run reports, on the thread that called the run.

    ``progress`` is True for a bar, or a function that is called with each value of the metric.
    """

    def __init__(self, progress: bool | Progress | None = None) -> None:
        self._level = 0
        self._drawn = 0.0
        self._call = progress if callable(progress) else None
        self._bar = _bar() if progress is True else None

    @property
    def values(self) -> bool:
        """Whether each value of the metric is wanted."""
        return self._call is not None or self._bar is not None

    def __call__(self, kind: str, *what: Any) -> None:
        """Receive a ``value`` of the metric, the start of a ``level``, a ``note`` or the name of a ``stage``."""
        if kind == "value":
            self._evaluated(*what)
        elif kind == "level":
            self._level_started(*what)
        elif kind == "note":
            log.info("%s", what[0])
        else:
            log.debug("%s", what[0])
            if self._bar is not None:
                self._bar.set_description(what[0])

    def _level_started(self, number: int, of: int, spacing: list[float]) -> None:
        self._level = number
        text = f"level {number + 1} of {of}, {' x '.join(f'{mm:.1f}' for mm in spacing)} mm"
        log.debug("%s", text)
        if self._bar is not None:
            self._bar.total = of
            self._bar.n = number
            self._bar.set_description(text)

    def _evaluated(self, evaluations: int, best: float) -> None:
        if self._call is not None:
            self._call(self._level, best)
        if self._bar is not None and monotonic() - self._drawn > 0.1:
            self._drawn = monotonic()
            self._bar.set_postfix_str(f"{evaluations} evaluations, best {best:.5f}")

    def __enter__(self) -> RunListener:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            if error is None:
                self._bar.n = self._bar.total
            self._bar.close()


def log_notes(notes: list[str]) -> None:
    """Log the notes of a command."""
    for note in notes:
        log.info("%s", note)


def _bar() -> Any:
    """Return a bar of tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True shows tqdm's bar; pip install tqdm, or give a function") from error
    return tqdm(total=1, bar_format="{desc} |{bar}| {elapsed} {postfix}")
