"""The ground itself: skips under CI, exact versions, and the list of what a new machine lacks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import thin

ROOT = Path(__file__).parents[2]

SKIPS = {
    "mark": "import pytest\n@pytest.mark.skip(reason='no lamp')\ndef test_mark(): pass\n",
    "call": "import pytest\ndef test_call(): pytest.skip('no lamp')\n",
    "module": "import pytest\npytest.skip('no lamp', allow_module_level=True)\n",
    "doctest": "'''\n>>> 1 / 0  # doctest: +SKIP\n'''\n",
}
FINE = "import pytest\ndef test_a(): pass\n@pytest.mark.xfail(strict=True)\ndef test_b(): assert False\n"


PLUGINS = ("conftest", "real_engines", "seeded", "thin", "fuzz")


def run_pytest(
    folder: Path, source: str | dict[str, str], ci: str, workers: int = 0, *more: str, program: str = "pytest"
) -> subprocess.CompletedProcess[str]:
    """Run pytest on files that lie outside the conftest's folder, as doctests in src/ do."""
    (folder / "tests").mkdir(exist_ok=True)
    for name in ("conftest.py", *(f"tests/{name}.py" for name in PLUGINS)):
        (folder / name).write_text((ROOT / name).read_text())
    for name, text in (source if isinstance(source, dict) else {"it": source}).items():
        (folder / f"test_{name}.py").write_text(text)
    quick = "--import-mode=importlib --doctest-modules -p no:cacheprovider -p no:schemathesis"
    options = f"markers = slow\npythonpath = .\naddopts = {quick}"
    (folder / "pytest.ini").write_text(f"[pytest]\ntestpaths = tests .\n{options}\n")
    return subprocess.run(
        [sys.executable, "-m", program, *(["-n", str(workers)] if program == "pytest" else []), *more],
        cwd=folder,
        env={**os.environ, "CI": ci, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_skip_fails_under_ci_and_says_why(tmp_path: Path) -> None:
    """Every kind of skip, in a file of its own, in one run."""
    done = run_pytest(tmp_path, SKIPS, "true", 0, "--continue-on-collection-errors", "-rfE")
    assert done.returncode != 0
    told = dict.fromkeys(SKIPS, "")
    for block in re.split(r"^_{3,} ", done.stdout, flags=re.MULTILINE)[1:]:
        for kind in SKIPS:
            if f"test_{kind}" in block.splitlines()[0]:
                told[kind] += block
    print(done.stdout)
    for kind, text in told.items():
        assert "forbids skipping" in text, kind
        assert kind == "doctest" or "no lamp" in text, kind


def test_a_skip_fails_in_xdist_workers_too(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, SKIPS["call"], ci="true", workers=1).returncode == 1


def test_a_skip_is_a_skip_elsewhere(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, SKIPS["call"], ci="")
    assert done.returncode == 0
    assert "1 skipped" in done.stdout


def test_ci_lets_passes_and_expected_failures_be(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, FINE, ci="true")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 xfailed" in done.stdout


DRAWS = """
from hypothesis import given, strategies as st
from curador.local.devices.curador_device import Source
from curador.noise import SYSTEM
import random, numpy, pytest, threading

@pytest.fixture(scope="module")
def shared():
    return SYSTEM.bits(30)

def test_a(shared):
    assert (shared, SYSTEM.bits(30), Source().take(4), random.random(), numpy.random.random()) == WANTED

def test_b(shared):
    assert SYSTEM.bits(30) == shared

@given(st.integers(0, 1 << 40))
def test_c(x):
    assert (x, SYSTEM.bits(30)) == WANTED
"""


def seen(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What the tests say that they drew."""
    return sorted(set(re.findall(r"^E +assert (.*) ==", done.stdout, re.MULTILINE)))


def test_what_tests_draw_is_the_same_every_time(tmp_path: Path) -> None:
    source = DRAWS.replace("WANTED", "None")
    first = seen(run_pytest(tmp_path, source, "", 0))
    assert len(first) == 3
    assert seen(run_pytest(tmp_path, source, "", 2)) == first
    assert seen(run_pytest(tmp_path, source, "", 0, "-k", "test_c")) == [x for x in first if x.startswith("(0, ")]
    other = seen(run_pytest(tmp_path, source, "", 0, "--run-seed=7"))
    assert len(set(first) | set(other)) == 6


def test_what_fuzz_finds_is_replayed_by_what_it_prints(tmp_path: Path) -> None:
    """The test passes every time, and fails under any other seed but for a chance of 2**-64."""
    source = "from curador.noise import SYSTEM\ndef test_a(): assert SYSTEM.bits(64) == WANTED\n"
    value = seen(run_pytest(tmp_path, source.replace("WANTED", "None"), ""))[0]
    source = source.replace("WANTED", value)
    assert run_pytest(tmp_path, source, "").returncode == 0
    found = run_pytest(tmp_path, source, "", 0, "10", program="tests.fuzz")
    assert found.returncode == 1
    [line] = [line for line in found.stdout.splitlines() if "-m pytest --run-seed=" in line]
    again = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert seen(again) == seen(found) != [value]


def test_fuzz_ends_in_time_and_says_what_it_did(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "def test_a(): pass\n", "true", 0, "0", program="tests.fuzz")
    assert done.returncode == 0, done.stdout
    assert "1 skipped" in done.stdout
    assert "Nothing was found. Rounds: 1." in done.stdout


def test_tests_of_one_group_run_in_one_worker(tmp_path: Path) -> None:
    """Or there would be two Sparks: pytest-xdist 3.8 does not group under pytest 9.2 (its issue 1386)."""
    source = "import os, pytest\n@pytest.mark.xdist_group('g')\n@pytest.mark.parametrize('i', range(6))\n"
    source += "def test_a(i): assert os.environ['PYTEST_XDIST_WORKER'] == None\n"
    done = run_pytest(tmp_path, source, "", 2, "--dist", "loadgroup")
    assert len(set(re.findall(r"assert 'gw\d' == None", done.stdout))) == 1, done.stdout


class Listed:
    """A case of a test as pytest lists it, in a grid of 6 by 4."""

    def __init__(self, i: int, j: int) -> None:
        self.nodeid, self.callspec = f"a/test_x.py::test_a[{i}-{j}]", SimpleNamespace(indices={"i": i, "j": j})
        self.marks = {"thin": pytest.mark.thin(8).mark}

    def get_closest_marker(self, name: str) -> Any:
        return self.marks.get(name)

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks[mark.name] = mark.mark


def thinned(run: int | None, order: int = 1) -> set[tuple[int, int]]:
    items: list[Any] = [Listed(i, j) for i in range(6) for j in range(4)][::order]
    config: Any = SimpleNamespace(getoption=lambda name: run)
    thin.pytest_collection_modifyitems(config, items)
    return {tuple(item.callspec.indices.values()) for item in items if "slow" not in item.marks}


def test_a_thin_grid_shows_every_value_and_leaves_the_others_to_the_slow_tests() -> None:
    kept = thinned(None)
    assert len(kept) == 8
    assert [len({case[axis] for case in kept}) for axis in range(2)] == [6, 4]
    assert thinned(None, order=-1) == kept
    assert thinned(7) != kept


def test_the_systems_bytes_are_there_for_who_asks(tmp_path: Path) -> None:
    source = "import pytest\nfrom curador.noise import SYSTEM\n@pytest.mark.real_entropy\n"
    source += "def test_a(): assert SYSTEM.bits(64) == None\n"
    assert seen(run_pytest(tmp_path, source, "")) != seen(run_pytest(tmp_path, source, ""))


def normal(name: str) -> str:
    """A package name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_constraints_pin_every_dependency_and_name_no_host() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line)] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for extra in project["project"].get("optional-dependencies", {}).values():
        wanted += extra
    names = {normal(re.split(r"[\[<>=!~; ]", entry)[0]) for entry in wanted} | {"wheel"}  # what builds pyspark
    assert names - {normal(line.split("==")[0]) for line in lines} == set()


def test_every_dependency_has_a_floor() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(e for extra in project["optional-dependencies"].values() for e in extra)]
    assert [entry for entry in wanted if ">=" not in entry] == []


def test_ci_script_is_executable_and_parses() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_what_builds_the_packages_is_installed_before_them() -> None:
    """An empty machine has no wheel to build pyspark with, and a cache of pip's would not show that."""
    made = (ROOT / "Makefile").read_text()
    assert made.index("hatchling setuptools wheel") < made.index("--no-build-isolation")
    script = (ROOT / ".ci" / "run").read_text()
    emptied, used = script.index('rm -rf "$venv"'), [m.start() for m in re.finditer("\nmake ", script)]
    assert script.index("export PIP_NO_CACHE_DIR=1") < emptied < min(used)
    assert len(used) == script.count('make VENV="$venv" ')
