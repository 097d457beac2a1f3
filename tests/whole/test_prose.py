"""Docstrings begin with a noun or a verb, and riddles in prose only become fewer: see tests/whole/limits.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.whole.prose import check, counts, findings
from tests.whole.sizes import LIMITS


@pytest.mark.parametrize("kind", ["first_lines", "riddles"])
def test_the_prose_is_within_its_limits(kind: str) -> None:
    found = [finding for finding in findings() if finding.kind == kind]
    limit = LIMITS["prose"][kind][-1]
    assert len(found) <= limit, f"{len(found)} against {limit}; python -m tests.whole.prose prints them"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('"""Return the stored row."""', {}),
        ('"""What is stored."""', {"first_lines": 1}),
        ('def f():\n    """The one that is stored."""', {"first_lines": 1}),
        (f'"""Return the {"very " * 20}long row."""', {"first_lines": 1}),
        ('"""Return the row.\n\nWhat is stored is returned."""', {}),
        ("x = 1  # for whoever reads it\n", {"riddles": 1}),
        ('x = f"There is no {1} but that "\\\n    "one."', {"riddles": 2}),
        ('"""Rows.\n\nNobody is told.\nSaid again.\n"""', {"riddles": 2}),
        ("told = said = 1", {}),
        ('"""Rows.\n\nThe rest is not retold."""', {}),
    ],
)
def test_what_is_found(source: str, found: dict[str, int]) -> None:
    assert counts(check(Path("any.py"), source)) == {"first_lines": 0, "riddles": 0} | found
