"""Hostile statements: each is answered, or refused in our own words, and soon; what is answered is what DuckDB says."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from curador.errors import CuradorError
from tests.steps import at_most
from tests.whole.sql.hostile import BY_HAND, mutated
from tests.whole.sql.judge import Case, Judge, NotJudged, sections
from tests.whole.sql.worlds import world

LEGAL = [
    case.text for cases in sections(Path(__file__).with_name("corpus.sql")).values() for case in cases if not case.own
]
STEPS = 50_000_000


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    found = Judge(world(2026, strange=False))
    yield found
    found.close()


def outcome(judge: Judge, text: str) -> str:
    """What becomes of a statement; anything but an answer or a refusal of ours is raised."""
    print(repr(text[:2000]))  # shown if it fails
    refused = None
    with at_most(STEPS):
        try:
            judge.ours(text)
        except CuradorError as refusal:
            refused = refusal
    if refused is None:
        return "answered"
    assert refused.what
    assert refused.fix
    assert len(str(refused)) < 3000
    return "refused"


@pytest.mark.parametrize("part", range(3))
def test_statements_by_hand(judge: Judge, part: int) -> None:
    for text in BY_HAND[part::3]:
        outcome(judge, text)


def test_mutated_statements(judge: Judge, request: pytest.FixtureRequest) -> None:
    seen: Counter[str] = Counter()
    for _ in range(5000 if request.config.getoption("--fuzz-until") else 500):
        text = mutated(random.Random(random.getrandbits(64)), random.choice(LEGAL))
        found = outcome(judge, text)
        seen[found] += 1
        if found == "answered":
            seen[judged(judge, text)] += 1
    assert seen["answered"] > 0.03 * seen["refused"] > 0, seen
    assert seen["as DuckDB"] > 0.5 * seen["answered"], seen


def judged(judge: Judge, text: str) -> str:
    """A statement that DuckDB reads as well must mean the same there.

    Names that nobody gave may differ, and so may decimals, which are compared on the grid of a column.
    """
    if any(8 % Fraction(number).denominator for number in re.findall(r"\d*\.\d+", text)):
        return "not judged"
    try:
        wrong = judge.difference(Case(text))
    except (NotJudged, duckdb.Error):
        return "not judged"
    if wrong is not None and wrong.startswith("columns"):
        return "not judged"
    assert wrong is None, f"{wrong}\n{text}"
    return "as DuckDB"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("SELECT town,, COUNT(*) AS n FROM visits GROUP BY town", "Line 1, column 13: Something is missing after ,"),
        ("SELECT , COUNT(*) AS n FROM visits", "missing after SELECT"),
        ("SELECT SUM(LEAST(, age)) AS n FROM visits", "missing after ("),
        ("SELECT COUNT(*) AS n FROM visits GROUP BY", "missing after GROUP BY"),
        ("SELECT COUNT(*) AS n FROM visits OFFSET", "missing after OFFSET"),
        ("SELECT COUNT(*) AS , SUM(age) AS s FROM visits", "missing after AS"),
        ("SELECT FLOOR(cost AS g, COUNT(*) AS n FROM visits GROUP BY g", "Brackets are opened and not closed"),
        ("SELECT COUNT(*) AS n FROM visits WHERE town = 'Lugo' 'Vigo'", "A text follows a text."),
        ("SELECT COUNT(*) AS n FROM visits WHERE ok = age > 3", "A comparison stands beside another."),
        ("SELECT COUNT(*) AS n FROM visits WHERE 1 < age < 30", "A comparison stands beside another."),
        ("SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY ALL", "ALL is not in the grammar."),
    ],
)
def test_what_a_parser_passes_over_is_refused(judge: Judge, text: str, what: str) -> None:
    with pytest.raises(CuradorError) as refusal:
        judge.ours(text)
    assert what in refusal.value.what
