"""Every planted fault is found, with as many runs as docs/audit.md says, and no more than twice the prototype's."""

from __future__ import annotations

import statistics

import pytest

from curador.errors import InvalidParameter
from tests.audit.tester.fault_table import ENOUGH, LONG, PAGE, RUNS, floors_of, tabled
from tests.mutants.fault import every

FAULTS = every()
TABLE = tabled(PAGE.read_text())


def test_the_page_tables_every_fault() -> None:
    assert set(TABLE) == set(FAULTS)
    assert len(FAULTS) >= 60


def test_none_takes_more_than_twice_the_runs_of_the_prototype() -> None:
    measured = {name: fault.notes for name, fault in FAULTS.items() if fault.notes is not None}
    assert len(measured) >= 13
    assert {name: TABLE[name][0] for name, notes in measured.items() if TABLE[name][0] > 2 * notes} == {}


def found(name: str) -> None:
    n, floor = TABLE[name]
    floors = [x for x in floors_of(FAULTS[name], n) if x > 0]
    assert len(floors) >= ENOUGH, f"{len(floors)} of {RUNS} found it"
    assert statistics.median(floors) == pytest.approx(floor, rel=0.1)


@pytest.mark.parametrize("name", [name for name in FAULTS if TABLE.get(name, (0, 0.0))[0] < LONG])
def test_a_fault_is_found(name: str) -> None:
    found(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FAULTS if TABLE.get(name, (0, 0.0))[0] >= LONG])
def test_a_fault_that_takes_many_runs_is_found(name: str) -> None:
    found(name)


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(InvalidParameter):
        FAULTS["half_scale"].audit(50)
