"""The house may only shrink: each size is within its limit, and a limit that rises names the decision behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.whole.sizes import LIMITS, SRC, asked_files, files, import_chain, lines, measured, stages

DECISIONS = SRC.parent / "docs" / "decisions"


def value(entry: Any) -> int:
    return int(entry["value"] if isinstance(entry, dict) else entry)


def unexplained(history: Sequence[Any]) -> list[int]:
    """The values above the lowest before them that name no page of decisions."""
    found = []
    for i, entry in enumerate(history[1:], 1):
        page = entry.get("because", "") if isinstance(entry, dict) else ""
        known = page.startswith("docs/decisions/") and (SRC.parent / page).is_file()
        if value(entry) > min(map(value, history[:i])) and not known:
            found.append(value(entry))
    return found


def every_limit() -> list[tuple[str, Sequence[Any]]]:
    rooms = {name: LIMITS[name] for name in ("house", "prose")} | LIMITS.get("rooms", {})
    return [(f"{room} {name}", history) for room, sizes in rooms.items() for name, history in sizes.items()]


def test_the_house_is_within_its_limits(capsys: pytest.CaptureFixture[str]) -> None:
    now = measured()
    with capsys.disabled():
        print(f"\none question asked in Python runs through {stages(asked_files())}")
    limits = {name: value(history[-1]) for name, history in LIMITS["house"].items()}
    assert set(limits) == {*now, "test_cases"}
    assert {n: (size, f"limit {limits[n]}") for n, size in now.items() if size > limits[n]} == {}


def test_new_rooms_are_within_theirs() -> None:
    for room, sizes in LIMITS.get("rooms", {}).items():
        assert len(files(room)) <= value(sizes["files"][-1]), room
        assert lines(room) <= value(sizes["lines"][-1]), room


def test_the_cases_of_a_run_are_within_their_limit(request: pytest.FixtureRequest) -> None:
    """Each worker collects all cases of a run; a run of some files has fewer."""
    if "slow" not in request.config.option.markexpr or "not slow" in request.config.option.markexpr:
        assert len(request.session.items) <= value(LIMITS["house"]["test_cases"][-1])


def test_a_limit_that_rises_names_a_decision() -> None:
    assert {name: unexplained(history) for name, history in every_limit() if unexplained(history)} == {}


@pytest.mark.parametrize(
    ("history", "found"),
    [
        ([112], []),
        ([112, 100], []),
        ([112, 100, 101], [101]),
        ([112, 100, {"value": 101}], [101]),
        ([112, 100, {"value": 101, "because": "docs/decisions/no-such-page.md"}], [101]),
        ([112, 100, {"value": 101, "because": "README.md"}], [101]),
        ([112, 100, 100, {"value": 112, "because": "docs/decisions/" + sorted(DECISIONS.glob("*.md"))[0].name}], []),
    ],
)
def test_what_a_history_must_explain(history: list[Any], found: list[int]) -> None:
    assert unexplained(history) == found


def test_the_question_is_really_followed_and_the_chain_is_one() -> None:
    assert "query/plan/plan.py" in asked_files()
    chain = import_chain()
    assert chain[0] == "curador.errors"
    assert len(set(chain)) == len(chain)
