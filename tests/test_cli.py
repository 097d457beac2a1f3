"""The command line as a person meets it."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from curador import __version__
from curador.accounting.events import event_from_json
from curador.accounting.profiles import pure_epsilon
from curador.cli import app
from curador.demo import SHARES, dashboard


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from curador.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_demo_shows_every_statistic_its_error_its_share_and_the_meaning() -> None:
    shown = CliRunner().invoke(app, ["demo"], env={"COLUMNS": "100"})
    assert shown.exit_code == 0, shown.output
    for part in ("people", "paid above 100,000", "mean salary", "median salary", "10 bins", "total", "made up"):
        assert part in shown.output
    for share in SHARES.values():
        assert f" {share / 100:g} " in shown.output
    assert "26.8%" in shown.output  # 1 / (1 + e), the adversary's least error at even odds
    assert shown.output.count("–") >= 10


def test_demo_as_json_accounts_for_exactly_what_was_asked() -> None:
    for epsilon in ("1", "1/3", "0.05"):
        shown = run("demo", "--json", "--epsilon", epsilon)
        assert shown.returncode == 0, shown.stderr
        board = json.loads(shown.stdout)
        assert pure_epsilon(event_from_json(board["event"])) == Fraction(epsilon)
        assert len(board["histogram"]) == 10
        assert all(line["reach"] > 0 for line in board["statistics"])


def test_the_dashboard_is_right_about_its_errors() -> None:
    # 300 runs at 95 %: each interval misses at most 15 + 6·√(300·.05·.95) ≈ 37 times (false alarm 1e-8).
    runs = [dashboard(1, 0.95) for _ in range(300)]
    for i, name in enumerate(["people", "above", "mean"]):
        missed = sum(abs(b.lines[i].released - b.lines[i].exact) > b.lines[i].reach for b in runs)
        assert missed <= 37, name
    # and they are not wider than need be: some miss
    assert any(abs(b.lines[0].released - b.lines[0].exact) > b.lines[0].reach for b in runs)


@pytest.mark.parametrize("bad", ["x", "0", "-1", "nan", "inf", ""])
def test_bad_epsilon_is_one_clear_message_and_exit_code_1(bad: str) -> None:
    shown = run("demo", f"--epsilon={bad}")
    assert shown.returncode == 1
    assert "epsilon" in shown.stderr
    assert "To do" in shown.stderr
    assert "nothing was drawn" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_version_and_help() -> None:
    assert __version__ in run("--version").stdout
    assert "demo" in run("--help").stdout
    assert "Example" in run("demo", "--help").stdout
