"""Rates: exactly so many in any minute, and nothing is kept of those who stay away."""

from __future__ import annotations

import random

from curador.server.gate.rates import Rates


def test_in_no_window_are_there_more() -> None:
    at = 0.0
    rates = Rates(5, 60, lambda: at)
    let_in: dict[str, list[float]] = {"a": [], "b": []}
    for _ in range(2000):
        at += random.choice([0.0, 1.0, 7.0, 61.0])
        name = random.choice("ab")
        recent = [t for t in let_in[name] if t > at - 60]
        assert rates.hit(name) == (len(recent) < 5)
        if len(recent) < 5:
            let_in[name].append(at)


def test_strangers_are_forgotten() -> None:
    at = 0.0
    rates = Rates(5, 60, lambda: at)
    for number in range(1000):
        at += 1
        rates.hit(f"stranger {number}")
        rates.hit("regular")
    assert len(rates._seen) <= 62
