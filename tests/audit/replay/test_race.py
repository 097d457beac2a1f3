"""A real curator's budget, raced for by many threads: exactly as many are answered as it pays for."""

from __future__ import annotations

from contextlib import closing

import pytest

from curador import PureDP
from curador.audit.replay.neighbours import base_world
from curador.audit.replay.race import replay_race
from curador.audit.replay.stage import staged
from tests.audit.replay.declared import people


def test_the_last_of_a_budget_is_sold_once() -> None:
    with closing(people()) as declared, staged(declared, base_world(declared, 10), PureDP(3)) as stage:

        def buy() -> object:
            return stage.ask("SELECT COUNT(*) AS n FROM people", epsilon=1, fresh=True)

        found = replay_race("a budget of 3", buy, affordable=3, buyers=8)
    assert not found.violated
    assert found.details["answered"] == 3


def test_an_error_of_a_buyer_is_told() -> None:
    with pytest.raises(ZeroDivisionError):
        replay_race("an error", lambda: 1 // 0, affordable=1, buyers=2)
