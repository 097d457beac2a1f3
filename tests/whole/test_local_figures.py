"""The script that draws the slides' figures: its quick form runs, and its table agrees with the formulas."""

from __future__ import annotations

import csv
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from curador.noise import SYSTEM

ROOT = Path(__file__).parents[2]
ADULT = ROOT / "data" / "adult_data.csv"
METHODS = {"laplace", "duchi", "piecewise", "hybrid"}

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("figures")]  # drawn once, for the whole file


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    into = tmp_path_factory.mktemp("figures")
    script = [str(ROOT / "examples" / "local_figures.py"), str(into), "--quick", "--lang", "es"]
    seeded = [sys.executable, "-m", "tests.seeded", str(SYSTEM.bits(64)), *script]
    settings = {**os.environ, "COLUMNS": "60"}
    done = subprocess.run(seeded, capture_output=True, text=True, check=False, env=settings, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return into, done.stdout


def rows(into: Path) -> list[dict[str, str]]:
    with (into / "local_figures.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_figures_and_table_are_there(made: tuple[Path, str]) -> None:
    into, printed = made
    names = {"means", "frequencies", "models", "central_local"}
    wanted = {f"{name}.{kind}" for name in names for kind in ("png", "svg")} | {"local_figures.csv"}
    assert {path.name for path in into.iterdir()} == wanted
    assert "piecewise" in printed
    shown = (into / "models.svg").read_text()
    for part in (
        "BR (sintética), lineal",
        "MX (sintética), SVM",
        "sin privacidad",
        "ε de cada persona",
        "inventadas",
        "2 repeticiones, muy pocas",
    ):
        assert part in shown


def test_the_table_is_printed_unabridged(made: tuple[Path, str]) -> None:
    into, printed = made
    shown = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if line.startswith("│")]
    assert shown == [list(row.values()) for row in rows(into)]


def test_every_method_is_measured_on_every_table(made: tuple[Path, str]) -> None:
    found = rows(made[0])
    tables = {"BR", "MX", *(["Adult"] if ADULT.is_file() else [])}
    for figure in ("means", "linear", "logistic", "svm"):
        seen = {(row["table"], row["method"], row["place"]) for row in found if row["figure"] == figure}
        assert {(t, m, e) for t in tables for m in METHODS for e in ("1", "4")} <= seen
    for figure in ("linear", "logistic", "svm"):
        level = {(row["table"], row["method"]): float(row["mean"]) for row in found if row["figure"] == figure}
        assert all(level[table, "open"] < level[table, "constant"] for table in tables)


@pytest.mark.parametrize(
    ("figure", "numbers"),
    [("means", {"BR": 6, "MX": 5, "Adult": 5}), ("frequencies", {"BR": 20, "MX": 24, "Adult": 10})],
)
def test_measured_errors_are_those_of_the_formulas(
    made: tuple[Path, str], figure: str, numbers: dict[str, int]
) -> None:
    """The mean of all ratios is 1 within six deviations; of m squared normal errors that is sqrt(2/m)."""
    some = [row for row in rows(made[0]) if row["figure"] == figure]
    ratios = [float(row["mean"]) / float(row["formula"]) for row in some]
    runs = 4
    deviation = math.sqrt(sum(2 / (runs * numbers[row["table"]]) for row in some)) / len(some)
    assert abs(sum(ratios) / len(ratios) - 1) < 6 * deviation < 0.5


def test_the_curator_errs_less_than_the_crowd(made: tuple[Path, str]) -> None:
    some = {(row["figure"], row["method"], row["place"]): row for row in rows(made[0])}
    for place in ("100", "1000"):
        central, local = (some["by people", way, place] for way in ("central", "local"))
        assert float(central["formula"]) < float(local["formula"])
        for row in (central, local):
            assert 0.2 < float(row["mean"]) / float(row["formula"]) < 3
    # One falls like 1/n, the other like 1/sqrt(n).
    ratio = {w: float(some["by people", w, "100"]["formula"]) / float(some["by people", w, "1000"]["formula"])
             for w in ("central", "local")}  # fmt: skip
    assert ratio["central"] == pytest.approx(10, rel=0.01)
    assert ratio["local"] == pytest.approx(math.sqrt(10), rel=0.02)
