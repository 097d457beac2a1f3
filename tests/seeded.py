"""The same bytes every time: what a test draws depends on its name and on the seed of the run, and on nothing else.

So no test passes or fails by chance.  Loaded by conftest.py at the root, so that doctests in src/ are covered too.
``--run-seed=N`` chooses other bytes and other examples of Hypothesis; ``make fuzz`` does so with fresh seeds.  A
process that a test starts has the system's bytes, so what the test asserts of them must hold but for a chance below
1e-12; or it is a script that was started by ``python -m tests.seeded SEED SCRIPT ...``.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import runpy
import shlex
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
import pytest
from hypothesis import register_random, settings

from curador.local.devices import curador_device
from curador.noise import entropy

REAL = entropy._fresh
SERVERS = {"postgres_url", "spark_session"}

# A deadline measures the machine, not the code; pytest-timeout stops what really hangs.
# Examples that are the same every time find nothing new: where a test does not say how many, they are half as many as
# Hypothesis takes, and fuzz takes all, fresh ones.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("fuzz", deadline=None, derandomize=False, database=None, print_blob=True, max_examples=100)


def examples(n: int, **more: Any) -> settings:
    """So many examples in ``make fuzz``, and half as many of those that are the same every time."""
    return settings(max_examples=n * settings().max_examples // 100, **more)


def digest(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest(), "big")


def plain(nodeid: str) -> str:
    """Without the group that xdist adds, after an @."""
    return re.sub(r"@\w+$", "", nodeid)


def short(nodeid: str) -> str:
    """A test's name from its file's on: a file that is moved keeps its bytes."""
    file, *names = plain(nodeid).split("::")
    return "::".join([file.rpartition("/")[2], *names])


class Stream:
    """Bytes for one test after the other; for threads too, and other ones in each child of a fork.

    Hypothesis rewinds it before each example, so that an example is the same when it is tried again.
    """

    def __init__(self, run: int) -> None:
        self._run, self._name, self._forks = run, "", 0
        self._lock = Lock()
        self._source: np.random.Generator | None = None
        self.real = False
        os.register_at_fork(after_in_parent=self._forked, after_in_child=self._child)

    def __call__(self, n: int) -> bytes:
        if self.real:
            return REAL(n)
        with self._lock:
            if self._source is None:
                self._source = np.random.Generator(np.random.Philox(digest(self._run, self._name)))
            return self._source.bytes(n)

    def seed(self, value: int) -> None:
        self._name, self._source = f"{self._name} {value}", None

    def getstate(self) -> tuple[str, np.random.Generator | None]:
        return self._name, self._source

    def setstate(self, state: tuple[str, np.random.Generator | None]) -> None:
        self._name, self._source = state

    @contextmanager
    def named(self, name: str, real: bool = False) -> Iterator[None]:
        before = *self.getstate(), self.real
        self._name, self._source, self.real = name, None, real
        try:
            yield
        finally:
            self._name, self._source, self.real = before

    def _forked(self) -> None:
        self._forks += 1

    def _child(self) -> None:
        self._lock, self._name, self._source = Lock(), f"{self._name} child {self._forks}", None


class Seeded:
    """Gives each test its bytes, and so each fixture that several tests share, whichever of them comes first."""

    def __init__(self, run: int) -> None:
        self._run, self.stream = run, Stream(run)
        register_random(self.stream)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        with self.stream.named(short(collector.nodeid)):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        name = short(item.nodeid)
        random.seed(digest(self._run, name))
        np.random.seed(digest(self._run, name) % (1 << 32))  # noqa: NPY002  for libraries that draw from it
        with self.stream.named(name, real=item.get_closest_marker("real_entropy") is not None):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
        if fixturedef.scope == "function":
            return (yield)
        name = f"{short(fixturedef.baseid)} {fixturedef.argname} {getattr(request, 'param_index', 0)}"
        with self.stream.named(name, real=self.stream.real):
            return (yield)


class Fuzz:
    """Files in another order in each run, no servers, and nothing that begins after the time is up."""

    def __init__(self, run: int, until: float) -> None:
        self._run, self._until = run, until

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        def waits(item: pytest.Item) -> bool:
            engine = getattr(getattr(item, "callspec", None), "params", {}).get("engine_name", "duckdb")
            return engine != "duckdb" or not SERVERS.isdisjoint(getattr(item, "fixturenames", ()))

        config.hook.pytest_deselected(items=[item for item in items if waits(item)])
        items[:] = sorted((i for i in items if not waits(i)), key=lambda i: digest(self._run, i.nodeid.split("::")[0]))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if time.time() > self._until:
            pytest.skip("the time is up")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("curador")
    group.addoption("--run-seed", type=int, help="other bytes and other examples than every time, from this seed")
    group.addoption("--fuzz-until", type=float, help="begin no test after this time, in seconds since 1970; no servers")


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its option
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "real_entropy: draws the system's bytes, not the ones of the run's seed")
    run, until = config.getoption("--run-seed"), config.getoption("--fuzz-until")
    settings.load_profile("same" if run is None else "fuzz")
    if run is not None:
        config.option.hypothesis_seed = str(run)
    seeded = Seeded(run or 0)
    config.pluginmanager.register(seeded, "seeded")
    entropy._fresh = seeded.stream
    curador_device.Source.__init__.__defaults__ = (seeded.stream,)
    if until is not None:
        config.pluginmanager.register(Fuzz(run or 0, until), "fuzz")


def pytest_unconfigure() -> None:
    entropy._fresh = REAL
    curador_device.Source.__init__.__defaults__ = (os.urandom,)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    run = config.getoption("--run-seed")
    bad = [report.nodeid for kind in ("failed", "error") for report in terminalreporter.stats.get(kind, ())]
    if run is not None and bad:
        terminalreporter.section(f"run seed {run}: replay each with")
        hashes = f"PYTHONHASHSEED={os.environ['PYTHONHASHSEED']} " if "PYTHONHASHSEED" in os.environ else ""
        for nodeid in dict.fromkeys(bad):
            python, test = os.path.relpath(sys.executable), shlex.quote(plain(nodeid))
            terminalreporter.write_line(f"{hashes}{python} -m pytest --run-seed={run} {test}")


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    entropy._fresh = Stream(int(sys.argv.pop(0)))
    sys.path.insert(0, os.path.dirname(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
