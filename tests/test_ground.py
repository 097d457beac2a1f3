"""The ground itself: skips under CI, exact versions, and the list of what a new machine lacks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

SKIPS = {
    "mark": "import pytest\n@pytest.mark.skip(reason='no lamp')\ndef test_a(): pass\n",
    "call": "import pytest\ndef test_a(): pytest.skip('no lamp')\n",
    "module": "import pytest\npytest.skip('no lamp', allow_module_level=True)\n",
    "doctest": "'''\n>>> 1 / 0  # doctest: +SKIP\n'''\n",
}
FINE = "import pytest\ndef test_a(): pass\n@pytest.mark.xfail(strict=True)\ndef test_b(): assert False\n"


def run_pytest(folder: Path, source: str, ci: str, workers: int = 0) -> subprocess.CompletedProcess[str]:
    """Run pytest on one file that lies outside the conftest's folder, as doctests in src/ do."""
    (folder / "tests").mkdir()
    for name in ("conftest.py", "real_engines.py"):
        (folder / "tests" / name).write_text((ROOT / "tests" / name).read_text())
    (folder / "test_it.py").write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = tests .\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--doctest-modules", "-p", "no:cacheprovider", "-n", str(workers)],
        cwd=folder,
        env={**os.environ, "CI": ci, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("kind", SKIPS)
def test_a_skip_fails_under_ci_and_says_why(kind: str, tmp_path: Path) -> None:
    done = run_pytest(tmp_path, SKIPS[kind], ci="true")
    assert done.returncode != 0
    assert "forbids skipping" in done.stdout
    assert kind == "doctest" or "no lamp" in done.stdout


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
