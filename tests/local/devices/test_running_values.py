"""Values in JavaScript may run code when they are looked at: it can fail, and it can ask the device again."""

from __future__ import annotations

from typing import Any

import pytest

from curador.local import KRR, CountMean, Duchi, DuchiVector, HeavyHitters, Record
from tests.local.devices.both import document, in_node

DRINKS = Record({"a": ["tea", "water"], "b": ["tea", "water"]}, 1)


@pytest.mark.parametrize(
    "task",
    [KRR(["tea", "water"], 1), CountMean(1), HeavyHitters(1), Duchi(0, 1, 1), DuchiVector(0, 1, 1, 3), DRINKS],
    ids=lambda task: task.mechanism,
)
def test_a_value_that_fails_when_it_is_looked_at_silences_no_device(task: Any) -> None:
    """A getter that throws, a proxy that is revoked: who has such a value would else be told by silence."""
    [found] = in_node([{"do": "failing", "document": document(task)}])
    assert len(found) == 8
    for one in found:
        assert one == {"sent": ["task", "epsilon", "token", "report"], "checked": ["counts_as", "note"]}


def test_what_asks_again_while_it_is_read_gets_no_second_report() -> None:
    """Between the check of what is left and the charge, nothing else is answered: not even by a getter of the value."""
    [found] = in_node([{"do": "again", "document": document(DRINKS), "limit": "1"}])
    refused = "A value or a source must not answer with the device that reads it."
    for one in found:
        assert one["told"][0] == "sent"
        assert len(one["told"]) > 1
        assert set(one["told"][1:]) == {refused}
        assert one["spent"] == "1"
