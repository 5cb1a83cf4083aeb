"""Engines: devices that are opened once for many runs."""

from __future__ import annotations

from operator import index
from typing import Any

from mireg import _mireg
from mireg._errors import InputError
from mireg._listener import RunListener
from mireg._words import whole


class Engine:
    """A device with its threads, for any number of runs, from any thread.

    Results do not depend on the engine. Without one, calls with the same ``backend`` and ``threads`` share one.

    A pickled engine, or one in a process that was forked, opens its device anew; a GPU that was opened before a fork
    cannot be used after it.

    Parameters
    ----------
    backend : "auto", "cpu", "cuda" or "emulated"
        With auto, runs are on the CPU until opening a GPU saves time, which it does for long runs and after several
        short ones.
    threads : int
        The number of CPU threads; 0 is one per core.

    Examples
    --------
    >>> engine = mireg.Engine(backend="cpu", threads=2)
    >>> found = mireg.register("ct.nii.gz", "mr.nii.gz", engine=engine)
    """

    def __init__(self, backend: str = "auto", threads: int = 0) -> None:
        count = index(whole(threads))
        if count < 0:
            raise InputError(f"{threads} threads are too few; 0 stands for one per core")
        self._asked = backend, count
        self._engine = _mireg.Engine(str(backend), count, RunListener())

    @property
    def backend(self) -> str:
        """The backend of long runs: cpu, cuda or emulated. With auto, a GPU is opened to find out, if there is one."""
        return self._engine.backend(RunListener())

    @property
    def device(self) -> str:
        """The device of this backend: the name of the GPU, or the number of threads."""
        return self._engine.device(RunListener())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._asked

    def __repr__(self) -> str:
        backend, threads = self._asked
        return f"mireg.Engine(backend={backend!r}, threads={threads})"
