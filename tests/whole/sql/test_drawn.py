"""Random legal statements: plain DuckDB finds what we find.  ``make fuzz`` draws other ones, and more of them."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from curador.errors import CuradorError
from tests.whole.sql.drawn import KINDS, RULES, Drawn
from tests.whole.sql.judge import Case, Judge, NotJudged
from tests.whole.sql.shrink import shrunk
from tests.whole.sql.worlds import world


def differs(judge: Judge, text: str) -> str | None:
    try:
        return judge.difference(Case(text))
    except Exception:  # noqa: BLE001  a smaller statement may be none
        return None


def compared(worlds: int, statements: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for _ in range(worlds):
        seed = random.getrandbits(32)
        judge, drawn = Judge(world(seed)), Drawn(random.Random(seed), deep=random.choice([2, 3, 3, 4]))
        for _ in range(statements):
            text = drawn.statement()
            try:
                wrong = judge.difference(Case(text))
            except NotJudged:
                seen["not judged"] += 1
            except CuradorError as refusal:
                print(f"{refusal}\n{text}")  # shown if there are too many
                seen["refused"] += 1
            else:
                seen["judged"] += 1
                if wrong is not None:
                    small = shrunk(text, lambda smaller, judge=judge: differs(judge, smaller) is not None)  # type: ignore[misc]
                    pytest.fail(f"world({seed}): {wrong}\n{text}\n\nsmaller: {differs(judge, small)}\n{small}")
        judge.close()
    return seen


def test_drawn_statements_find_what_duckdb_finds(request: pytest.FixtureRequest) -> None:
    seen = compared(8, 150) if request.config.getoption("--fuzz-until") else compared(2, 40)
    assert seen["judged"] >= 0.85 * seen.total(), seen


@pytest.mark.slow
def test_many_drawn_statements_find_what_duckdb_finds() -> None:
    seen = compared(40, 150)
    assert seen["judged"] >= 0.85 * seen.total(), seen


def test_the_grammar_has_what_it_names() -> None:
    used = {name for listed in RULES.values() for text in listed for name in re.findall(r"<([a-z]+)>", text)}
    assert used | set(KINDS) == set(RULES)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("SELECT SUM(age) AS s FROM visits", "SELECT SUM(age) + 1 AS s FROM visits"),
        (
            "SELECT town, COUNT(*) AS n FROM visits GROUP BY town",
            "SELECT UPPER(town) AS town, COUNT(*) AS n FROM visits GROUP BY 1",
        ),
        (
            "SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY town",
            "SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY town DESC",
        ),
        ("SELECT COUNT(*) AS n FROM visits HAVING n > 0", "SELECT COUNT(*) AS n FROM visits HAVING n < 0"),
        ("SELECT MEDIAN(age) AS m FROM visits", "SELECT LIST(age // 2) AS m FROM visits"),
        ("SELECT SUM(pay) AS s FROM nobody", "SELECT 1 AS s"),
        (
            "SELECT device, COUNT(DISTINCT pid) AS units FROM visits GROUP BY device",
            "SELECT 'none' AS device, 2 AS units",
        ),
        (
            "SELECT town, COUNT(*) > 3 AS n FROM visits GROUP BY town",
            "SELECT town, COUNT(*) < 3 AS n FROM visits GROUP BY town",
        ),
    ],
)
def test_the_judge_sees_differences(ours: str, theirs: str) -> None:
    judge = Judge(world(1, 60))
    assert judge.difference(Case(ours, theirs)) is not None
    judge.close()


def test_a_wrong_statement_is_shrunk() -> None:
    text = (
        "SELECT town, COUNT(*) AS n, SUM(age + 7 // level) AS s FROM visits WHERE ok GROUP BY town HAVING COUNT(*) > 1"
    )
    assert shrunk(text, lambda smaller: "7 // level" in smaller) == "SELECT 7 // level AS s FROM visits GROUP BY town"
