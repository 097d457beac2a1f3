"""Processes killed at random instants: nothing released without a charge, no key with two answers, all verifies."""

from __future__ import annotations

import os
import random
import signal
import time
from functools import partial
from typing import Any

import pytest

from curador.accounting.rules.costs import LOSS_UNIT
from curador.privacy import PureDP
from tests.ledger.conftest import Opener
from tests.ledger.workers import curator, forked

KILLS = (8, pytest.param(104, marks=pytest.mark.slow))  # on each store


@pytest.mark.parametrize("kills", KILLS)
def test_killed_at_random_instants(opener: Opener, address: dict[str, Any], kills: int) -> None:
    ledger = opener()
    ledger.open("people", PureDP(1000))
    ledger.open("visits", PureDP(1000), parent="people")
    ledger.open("ana", PureDP(1000), parent="people")
    ledger.close()
    chance = random.Random(7)
    reading, writing = os.pipe()
    released: list[str] = []
    for round_ in range(kills // 4):
        children = [forked(partial(curator, address, writing, n)) for n in range(4 * round_, 4 * round_ + 4)]
        told = b""
        while told.count(b"\n") < 8:  # until they are at work: of three keys at least, one told up to three times
            told += os.read(reading, 1 << 16)
        time.sleep(chance.uniform(0, 0.2))
        for child in children:
            os.kill(child, signal.SIGKILL)
            time.sleep(chance.uniform(0, 0.01))
        for child in children:
            assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        os.write(writing, b".")
        while not told.endswith(b"."):
            told += os.read(reading, 1 << 16)
        released += told.decode().splitlines()
    os.close(reading)
    os.close(writing)

    ledger = opener()
    history = {c.id: c for c in ledger.history(last=None) if not c.repeated}
    answers: dict[str, str] = {}
    for line in released:
        if line.strip("."):
            key, charge, answer = line.split("|")
            assert charge in history, "released without a charge"
            assert (ledger.answer(charge) or b"").decode() == answer, "released what is not stored"
            assert answers.setdefault(key, answer) == answer, "one key, two answers"
    assert len(answers) > kills // 2, "too little happened before the kills to say anything"
    unsettled = [c for c in history.values() if not c.settled]
    assert ledger.balance("people").state.spent == (len(history) * LOSS_UNIT // 1000,)
    assert len(unsettled) <= kills
    ledger.verify()
