"""Runs under way: stopping, threads, processes, progress, logging."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from conftest import SHIFT, Pair, oblique, scan

import mireg

LONG = {"iterations": 100000, "levels": [2.4, 1.2], "linear": "none", "backend": "cpu", "check": False}


def one(_: int = 0) -> bytes:
    """Register the pair; at the top level, for other processes."""
    return pickle.dumps(mireg.register(*Pair().images(), init="header", backend="cpu", threads=1).transform)


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def test_the_package_is_imported_in_no_time():
    code = "import sys, mireg; assert 'numpy' not in sys.modules; mireg.register; assert 'SimpleITK' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Files of a pair that is deformed for many seconds."""
    shape, folder = (130, 120, 100), tmp_path_factory.mktemp("large")
    affine = oblique(0.1, (1.2, 1.2, 1.2), shape)
    paths = [folder / name for name in ("fixed.mha", "moving.mha")]
    for path, shift, invert in zip(paths, (0, SHIFT), (False, True)):
        mireg.Image(scan(affine, shape, shift, invert), affine, frame="LPS").save(path)
    return paths


@pytest.fixture
def heard():
    """Ctrl-C raises, also in a shell's background jobs: there it is ignored, and Python leaves it so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_ctrl_c_stops_a_run(large):
    images = [mireg.Image.load(path) for path in large]
    took = []
    for _ in range(3):
        at = []

        def interrupt():
            at.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.6, interrupt)
        timer.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                mireg.deform(*images, **LONG)
            took.append(time.monotonic() - at[0])
        finally:
            timer.cancel()
    assert min(took) < 0.2, took


def test_an_exception_in_the_callback_stops_the_run(pair):
    class Enough(Exception):
        pass

    def stop(level, value):
        raise Enough

    with pytest.raises(Enough):
        mireg.register(*pair.images(), progress=stop, backend="cpu")


def test_a_callback_hears_of_levels_and_values_on_the_thread_that_called(pair):
    heard = []
    found = mireg.register(
        *pair.images(), progress=lambda *what: heard.append((*what, threading.get_ident())), backend="cpu"
    )
    levels, values, idents = zip(*heard)
    assert set(idents) == {threading.get_ident()}
    assert set(levels) <= set(range(len(found.report["levels"]))) and max(levels) == len(found.report["levels"]) - 1
    assert values[-1] == pytest.approx(found.report["levels"][-1]["value"])


def test_a_bar_is_shown(pair, capsys):
    pytest.importorskip("tqdm")
    mireg.register(*pair.images(), progress=True, backend="cpu")
    assert "level" in capsys.readouterr().err


def test_logging_has_stages_and_warnings(pair, caplog):
    fixed, moving = pair.images()
    noise = mireg.Image(np.random.default_rng(1).normal(size=moving.shape), moving.affine, frame="LPS")
    with caplog.at_level(logging.DEBUG, logger="mireg"):
        mireg.register(fixed, noise, levels=[8], backend="cpu", check=False)
    assert {"DEBUG", "WARNING"} <= {record.levelname for record in caplog.records if record.name == "mireg"}


def test_runs_that_were_stopped_leave_nothing_behind(pair):
    fixed, moving = pair.images()

    def stopped():
        def stop(level, value):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            mireg.register(fixed, moving, progress=stop, backend="cpu")

    for _ in range(10):
        stopped()
    before, memory = threads(), resident()
    for _ in range(int(os.environ.get("MIREG_STOPPED", "60"))):
        stopped()
    assert threads() <= before
    assert resident() - memory < 8e6


def resident() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def test_threads_share_an_engine(pair, found):
    engine = mireg.Engine("cpu", threads=1)
    assert engine.backend == "cpu" and "1 thread" in engine.device
    with ThreadPoolExecutor(4) as pool:
        all_found = list(pool.map(lambda _: mireg.register(*pair.images(), engine=engine), range(8)))
    assert all(one.transform == found.transform for one in all_found)
    again = pickle.loads(pickle.dumps(engine))
    assert repr(again) == repr(engine) == "mireg.Engine(backend='cpu', threads=1)"
    assert repr(mireg.Engine("cpu", threads=np.float32(2))) == "mireg.Engine(backend='cpu', threads=2)"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_other_processes_find_the_same(method):
    here = one()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert set(pool.map(one, range(4))) == {here}


def ends_well(child):
    """Wait for a child process, a minute at most."""
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_what_is_parallel_works_after_a_fork(large):
    def everything():
        """Of a size that is spread over threads."""
        fixed, moving = (mireg.Image.load(path) for path in large)
        mireg.Transform([[1, 0, 0, 4], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], frame="RAS").field(fixed)
        found = mireg.register(fixed, moving, init="header", levels=[8], check=False)
        return len(found.page()) > 1000

    assert everything()
    child = os.fork()
    if child == 0:
        os._exit(0 if everything() else 1)
    ends_well(child)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_another_thread_registers(pair):
    engine = mireg.Engine("cpu")
    mireg.register(*pair.images(), init="header", engine=engine)
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            mireg.register(*pair.images(), init="header", engine=engine)

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                found = mireg.register(*pair.images(), init="header", engine=engine)
                os._exit(0 if found.trust else 1)
            ends_well(child)
    finally:
        stop.set()
        thread.join()


def test_the_interpreter_ends_beside_a_daemon_thread(large):
    """One that is within a long run, and one that has many short ones."""
    code = """
import sys, threading, time, mireg
transform = mireg.Transform([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], frame="RAS")
def deform():
    mireg.deform(*sys.argv[1:], iterations=100000, linear="none", backend="cpu", threads=1, check=False, progress=lambda *_: told.set())
def points():
    while True:
        transform.points([0, 0, 0], frame="RAS")
told = threading.Event()
for run in (deform, points):
    threading.Thread(target=run, daemon=True).start()
told.wait()
"""
    ran = subprocess.run([sys.executable, "-c", code, *map(str, large)], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_finds_the_same(backend):
    joblib = pytest.importorskip("joblib")
    results = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(one)(n) for n in range(4))
    assert set(results) == {one()}


@pytest.mark.parametrize("other", ["numpy", "nibabel", "SimpleITK", "itk", "ants", "torch"])
def test_it_is_imported_beside_others_in_either_order(other):
    pytest.importorskip(other)
    use = "a = mireg.Transform([[1,0,0,1],[0,1,0,2],[0,0,1,3],[0,0,0,1]], frame='RAS'); a.inverse().points([1,2,3], frame='RAS')"
    for order in (f"import mireg; {use}; import {other}; {use}", f"import {other}; import mireg; {use}"):
        subprocess.run([sys.executable, "-c", order], check=True, timeout=120, capture_output=True)


def test_the_command_is_stopped_by_ctrl_c_and_leaves_nothing(large, tmp_path):
    line = [sys.executable, "-m", "mireg._command", "deform", *large, "--out", tmp_path / "out", "--linear=none"]
    process = subprocess.Popen([*line, "--iterations=100000", "--levels=2.4,1.2", "--backend=cpu"], stderr=subprocess.PIPE, text=True)
    for _ in range(100):
        if os.listdir(tmp_path):
            break
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130 and "Traceback" not in said
    assert os.listdir(tmp_path) == []
