"""Neighbours are neighbours, the worst of them is found, and a search keeps its level."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from curador.audit import audit_mechanism, audit_rows, named, pairs_of, table_pairs, worst
from curador.errors import InvalidParameter
from curador.mechanisms.base import KINDS
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.privacy import PureDP
from tests.audit.tester.sound import MECHANISMS
from tests.mutants.fault import column, laplace


def test_tables_differ_by_one_row() -> None:
    domain: dict[str, Any] = {"x": (0, 10), "g": ("a", "b", "c")}
    for pair in table_pairs(domain, hostile=True):
        assert pair.second[:-1] == pair.first
    replaced = table_pairs(domain, neighbors="replace")
    assert replaced
    for pair in replaced:
        assert len(pair.first) == len(pair.second)
        assert sum(a != b for a, b in zip(pair.first, pair.second, strict=True)) == 1
    added = {str(pair.second[-1]) for pair in table_pairs(domain)}
    corners = {str({"x": x, "g": g}) for x in (0, 10) for g in ("a", "c")}
    assert added == {*corners, str({"x": 5, "g": "a"}), str({"x": 0, "g": "b"})}
    assert {len(pair.first) for pair in table_pairs(domain)} == {0, 3, 6, 100}


def test_every_key_is_tried_or_many_of_them() -> None:
    keys = [*"abcdefghijklmnopqrstuvwxyz"]
    assert {pair.second[-1]["g"] for pair in table_pairs({"g": keys})} == set(keys)
    assert {pair.second[-1]["g"] for pair in table_pairs({"g": keys}, neighbors="replace")} == set(keys)
    some = {pair.second[-1]["k"] for pair in table_pairs({"k": range(1000)})}
    assert {0, 999} < some
    assert len(some) == 34
    assert max(b - a for a, b in itertools.pairwise(sorted(some))) < 70
    assert {pair.second[-1]["x"] for pair in table_pairs({"x": (0.0, 1.0)})} == {0, 0.5, 1}
    assert {pair.second[-1]["x"] for pair in table_pairs({"x": (False, True)})} == {False, True}


def test_hostile_rows_have_what_no_declaration_allows() -> None:
    added = [pair.second[-1]["x"] for pair in table_pairs({"x": (0.0, 1.0)}, hostile=True)]
    assert any(math.isnan(x) for x in added)
    assert {math.inf, -math.inf} <= set(added)


def test_a_domain_of_many_columns_stays_small() -> None:
    assert len(table_pairs({f"c{i}": (0, 10) for i in range(10)})) < 130


def test_a_domain_needs_columns() -> None:
    for bad in ({}, {"x": ()}):
        with pytest.raises(InvalidParameter):
            table_pairs(bad)
    with pytest.raises(InvalidParameter):
        worst(lambda value, n: np.zeros(n), [], PureDP(1))


@pytest.mark.parametrize("mechanism", [Laplace(3, 1), IntegerLaplace(3, 1), Gaussian(3, 1, 0.01)])
def test_values_move_by_what_the_mechanism_allows(mechanism: Any) -> None:
    norm = 2 if isinstance(mechanism, Gaussian) else 1
    moved = [
        float(np.linalg.norm(np.atleast_1d(np.subtract(pair.second, pair.first)), norm)) for pair in pairs_of(mechanism)
    ]
    assert max(moved) == pytest.approx(3)
    assert max(moved) <= 3


def test_every_mechanism_has_neighbours() -> None:
    assert all(len(pairs_of(mechanism)) for mechanism in MECHANISMS.values())


def test_every_kind_is_made_by_its_name() -> None:
    assert {named(kind, 1).kind for kind in KINDS} == KINDS
    with pytest.raises(InvalidParameter, match="No mechanism is called"):
        named("nothing", 1)


def test_the_one_pair_that_shows_a_fault_is_found() -> None:
    """A sum that is wrong only for a row at 7 in a column of its own, among many that show nothing."""
    rng = np.random.default_rng(4)

    def run(rows: Any, n: int) -> Any:
        return 3 * float((column(rows, "b") == 7).sum()) + laplace(rng, 1.0, n)

    found = audit_rows(run, {"a": (0, 5), "b": (0, 7)}, PureDP(1), n=2000)
    assert found.violated
    assert "'b': 7" in str(found.details["neighbours"])
    assert isinstance(found.details["pairs"], int)


@pytest.mark.parametrize("seed", range(3))
def test_a_sound_function_of_a_table_is_not_refuted(seed: int) -> None:
    """Counts by key and a clipped sum, each of which uses up its half of the claim."""
    rng, keys = np.random.default_rng(seed), [*"abcdefg"]

    def run(rows: Any, n: int) -> Any:
        counts = np.array([sum(row["g"] == key for row in rows) for key in keys])
        total = np.clip(column(rows), 0, 10).sum()
        return np.column_stack([counts + laplace(rng, 2.0, (n, len(keys))), total + laplace(rng, 20.0, n)])

    found = audit_rows(run, {"x": (0.0, 10.0), "g": keys}, PureDP(1), n=10_000)
    assert not found.violated
    assert found.details["pairs"] == 44


@pytest.mark.slow
def test_a_search_keeps_its_level() -> None:
    """Choosing the worst of thirty pairs by the runs that judge it would not: here they all use up the claim."""
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        run = partial(lambda rng, rows, n: len(rows) + laplace(rng, 1.0, n), rng)
        alarms += audit_rows(run, {"a": (0, 1), "b": (0, 1)}, PureDP(1), n=400, confidence=0.5).violated
    assert alarms <= 50 - 3 * 5


def test_a_claim_that_is_too_small_is_refuted_for_a_mechanism() -> None:
    found = audit_mechanism(IntegerLaplace(2, 2), PureDP(1), n=5000)
    assert found.violated
    assert found.subject == "IntegerLaplace"
    assert "the inputs" in found.witness
