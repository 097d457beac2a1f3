"""The oldest scikit-learn that pyproject.toml allows runs every estimator, as the newest does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("oldest.py")


def floor() -> str:
    """The version that pyproject.toml names."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["learn"]
    (found,) = (m[1] for line in declared if (m := re.fullmatch(r"scikit-learn>=([\d.]+)", line)))
    return found if found.count(".") == 2 else f"{found}.0"


def run(python: Path | str) -> str:
    done = subprocess.run(
        [python, "-m", "tests.seeded", "14", SCRIPT],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()[-1]


@pytest.mark.slow
def test_the_oldest_scikit_learn_runs_every_estimator(tmp_path: Path) -> None:
    """In an environment of its own that holds it alone; all else is found in this one, behind it."""
    home = tmp_path / "oldest"
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    wanted = f"scikit-learn=={floor()}"
    installed = subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wanted],
        capture_output=True,
        text=True,
        check=False,
    )
    assert installed.returncode == 0, installed.stderr[-2000:]
    own = next(home.glob("lib/python*/site-packages"))
    (own / "zz-behind.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n{ROOT / 'src'}\n")
    assert run(python) == floor()
