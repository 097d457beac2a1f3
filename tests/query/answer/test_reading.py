"""An answer that says nothing says so: by the declarations and the noised numbers, hence for free."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from curador import Curator, PureDP, Release, Table
from tests.cli import test_cli
from tests.cli.test_cli import Invoke

invoke = test_cli.invoke  # the fixture: an empty folder, and commands in it

COLUMNS: dict[str, dict[str, Any]] = {
    "who": {"type": "text", "keys": ["F", "M", "nobody"]},
    "pay": {"type": "real", "bounds": [0, 5000], "step": 0.5},
    "age": {"type": "integer", "bounds": [0, 120]},
    "day": {"type": "date", "bounds": ["2025-01-01", "2025-12-31"]},
    "same": {"type": "integer", "bounds": [7, 7]},
}


def rows(point: str) -> str:
    """Pays with a decimal point, or with another sign, with which they are read as NULL."""
    made = (f'{"FM"[i % 2]},"{i * 37 % 5000}{point}5",{i % 90},2025-0{1 + i % 9}-1{i % 9},7' for i in range(2000))
    return "\n".join(["who,pay,age,day,same", *made]) + "\n"


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    for name, point in (("bad", ","), ("good", ".")):
        (tmp_path / f"{name}.csv").write_text(rows(point))
    tables = {name: Table(tmp_path / f"{name}.csv", columns=COLUMNS) for name in ("bad", "good")}
    return Curator(tables, budget=PureDP(1000))


def said(release: Release) -> list[str]:
    return [str(note["code"]) for note in release.remarks if str(note["code"]).startswith("nothing-learned")]


ALL = "AVG(pay) AS m, MEDIAN(pay) AS q, STDDEV(pay) AS s, MIN(pay) AS low"


def test_a_column_without_one_readable_value_says_that_nothing_was_learned(curator: Curator) -> None:
    bad, good = (curator.ask(f"SELECT {ALL} FROM {table}", epsilon=1) for table in ("bad", "good"))
    (note,) = [one for one in bad.remarks if one["code"] == "nothing-learned"]
    assert note["outputs"] == "m, q, s, low"
    assert "next to nothing" in str(bad)  # beside the numbers, wherever they are printed
    assert "next to nothing" in bad.report().html
    assert said(good) == []
    assert "next to nothing" not in str(good)


def test_groups_of_which_nothing_was_learned_are_counted(curator: Curator) -> None:
    found = curator.ask("SELECT who, AVG(pay) AS m FROM good GROUP BY who", epsilon=1)
    (note,) = [one for one in found.remarks if one["code"] == "nothing-learned-in"]
    assert {k: note[k] for k in ("output", "n", "rows")} == {"output": "m", "n": 1, "rows": 3}
    assert Release.from_dict(found.to_dict()).notes == found.notes


@pytest.mark.parametrize("asked", ["COUNT(*)", "SUM(pay)", "AVG(same)", "COUNT(DISTINCT who)"])
def test_what_has_no_ends_or_one_value_is_not_judged(curator: Curator, asked: str) -> None:
    assert said(curator.ask(f"SELECT {asked} AS x FROM bad", epsilon="0.01")) == []


def test_dates_are_judged_as_dates(curator: Curator) -> None:
    found = [curator.ask("SELECT MEDIAN(day) AS d FROM good", epsilon=e) for e in ("0.0001", 1)]
    assert [bool(said(one)) for one in found] == [True, False]


def test_saying_so_is_free_and_said_again_with_another_confidence(curator: Curator) -> None:
    asked = "SELECT AVG(pay) AS m FROM bad"
    first = curator.ask(asked, epsilon=1)
    again = curator.ask(asked, epsilon=1, confidence=0.8, language="es")
    assert again.charge == first.charge
    assert "casi nada" in str(again)


def test_a_count_below_zero_says_how_to_read_it(curator: Curator) -> None:
    found = [
        curator.ask(f"SELECT who, COUNT(*) AS n FROM good WHERE age > 2000 + {k} GROUP BY who", epsilon="0.01")
        for k in range(6)
    ]
    for one in found:
        below = any(int(str(x)) < 0 for x in one["n"])
        assert ("below-zero" in [note["code"] for note in one.remarks]) == below
        assert ("Read it as 0 up to" in str(one)) == below
    assert any("below-zero" in [note["code"] for note in one.remarks] for one in found)


@pytest.mark.parametrize(
    ("asked", "epsilon", "named"),
    [
        ("AVG(pay) AS m", 50, "m"),
        ("SUM(pay) AS s", 50, "s"),
        ("AVG(pay) AS m, AVG(age) AS a, SUM(age) AS s", 200, "m"),
        ("AVG(pay) AS m, SUM(pay) AS s", 1, ""),  # the noise is more than what rounding takes away
        ("AVG(fine) AS m, SUM(fine) AS s", 50, ""),
        ("AVG(whole) AS m", 200, "m"),
        ("AVG(age * 0.5) AS h, AVG(age) AS a, MEDIAN(pay) AS q", 200, ""),  # nothing was rounded as it was read
    ],
)
def test_an_interval_finer_than_the_step_that_was_read_says_so(asked: str, epsilon: int, named: str) -> None:
    """Reals are rounded down as they are read, so that their mean is too low by about half a step, noise or not."""
    pay = [i * 37 % 5000 + 0.49 for i in range(2000)]
    columns = {"pay": COLUMNS["pay"], "fine": {**COLUMNS["pay"], "step": 0.001}, "age": COLUMNS["age"]}
    columns["whole"] = {**COLUMNS["pay"], "step": 1}
    frame = pd.DataFrame({"pay": pay, "fine": pay, "whole": pay, "age": [i % 90 for i in range(2000)]})
    curator = Curator({"t": Table(frame, columns=columns)}, budget=PureDP(1000))
    found = curator.ask(f"SELECT {asked} FROM t", epsilon=epsilon, because="to see", override=True)
    notes = [one for one in found.remarks if one["code"] == "step-is-coarse"]
    assert [(one["outputs"], one["step"]) for one in notes] == (
        [(named, "1" if "whole" in asked else "0.5")] if named else []
    )
    assert ("a smaller step" in " ".join(str(found).split())) == bool(named)
    truths = {"m": sum(pay) / 2000} | ({"s": sum(pay)} if "SUM(age)" not in asked else {})
    covered = {
        name: ends[0][0] <= truths[name] <= ends[0][1] for name, ends in found.intervals.items() if name in truths
    }
    assert all(inside or name in named for name, inside in covered.items())
    assert not named or not all(covered.values())


def test_the_command_line_says_it_too(invoke: Invoke) -> None:
    Path("bad.csv").write_text(rows(","))
    Path("study.toml").write_text(
        '[tables.bad]\nsource = "bad.csv"\nunit = "row"\n[tables.bad.columns]\n'
        'pay = { type = "real", bounds = [0, 5000], step = 0.5 }\n[budget]\nepsilon = 5\n'
    )
    assert "next to nothing" in " ".join(invoke("ask", "SELECT AVG(pay) AS m FROM bad", "--epsilon", "1").split())
