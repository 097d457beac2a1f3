"""Grids too long for every run: ``@pytest.mark.thin(n)`` leaves n cases to ``make test`` and makes the others slow.

The n are drawn by their names and the seed of the run, those first that show a value of some axis not shown yet; so
with n at least the longest axis or a little more, each value of each axis is there.  They are the same every time, and
other ones in each round of ``make fuzz``.  ``make test-slow`` runs the others, so that both together run the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.seeded import digest, short


def chosen(items: Sequence[Any], most: int, run: int) -> list[Any]:
    """So many cases of one test, of which as many as possible show something new."""
    waiting = sorted(items, key=lambda item: digest(run, short(item.nodeid)))
    kept: list[Any] = []
    shown: set[tuple[str, int]] = set()
    while waiting and len(kept) < most:
        best = max(waiting, key=lambda item: len(item.callspec.indices.items() - shown))
        waiting.remove(best)
        kept.append(best)
        shown |= best.callspec.indices.items()
    return kept


@pytest.hookimpl(tryfirst=True)  # before -m is read
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("thin") and not item.get_closest_marker("slow"):
            tests.setdefault(item.nodeid.split("[")[0], []).append(item)
    for cases in tests.values():
        marker = cases[0].get_closest_marker("thin")
        assert marker is not None
        kept = set(map(id, chosen(cases, marker.args[0], config.getoption("--run-seed") or 0)))
        for item in cases:
            if id(item) not in kept:
                item.add_marker(pytest.mark.slow)
