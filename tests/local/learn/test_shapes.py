"""One row is one report: whatever numpy would stretch into several is refused, before a coin is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.errors import CuradorError, InvalidParameter, InvalidValue
from curador.local.learn import Participant, Round, Scale, gradient_randomizer
from curador.local.learn.losses import LOSSES, Logistic
from curador.local.learn.randomizers import MECHANISMS
from tests.exact import Stream
from tests.local.learn.people import Floats

NAMES = sorted(MECHANISMS)
UNIT = Scale.between([(-1, 1)])


class Untouched:
    """Coins that nobody may draw."""

    def words(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("a coin was drawn")

    bytes = words


def entropy() -> Any:
    return Untouched()


def round_of(name: str, **options: Any) -> Round:
    parts = {
        "loss": Logistic(), "features": Scale.between([(-1, 1)] * 2), "target": UNIT,
        "randomizer": gradient_randomizer(name, 2, 3), **options,
    }  # fmt: skip
    return Round(**parts)


def test_untouched_coins_do_tell() -> None:
    with pytest.raises(AssertionError, match="a coin was drawn"):
        gradient_randomizer("duchi", 1, 2).randomize(np.zeros((1, 2)), entropy=entropy())


# ---- what a collector publishes


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "bad",
    [
        {"target": Scale.between([(-1, 1)] * 1000)},  # 1000 reports of one person
        {"target": Scale.between([])},
        {"features": Scale.between([(-1, 1)])},
        {"features": Scale.between([(-1, 1)] * 3)},
        {"features": Scale.between([])},
        {"beta": np.zeros((1000, 3, 1))},
        {"beta": np.zeros((3, 1))},
        {"beta": np.zeros((1, 3))},
        {"beta": np.zeros(2)},
        {"beta": np.zeros(4)},
        {"beta": np.zeros(())},
        {"beta": [[1.0], [2.0, 3.0], 4.0]},
        {"beta": np.zeros(3, complex)},
        {"beta": np.array(["a", "b", "c"])},
        {"beta": np.array([0.0, None, 1.0])},
        {"beta": [0.0, np.inf, 0.0]},
        {"beta": [0.0, np.nan, 0.0]},
        {"beta": [0, 10**400, 0]},
        {"study": 7},
    ],
)
def test_a_round_whose_parts_do_not_fit_is_refused(name: str, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        round_of(name, **bad)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_a_randomizer_of_another_dimension_is_refused(name: str, dimension: int) -> None:
    with pytest.raises(InvalidParameter, match=f"has 3 coordinates; the randomizer is for {dimension}"):
        round_of(name, randomizer=gradient_randomizer(name, 2, dimension), beta=np.zeros(3))


class Twice(Logistic):
    """Two gradients of each person."""

    def gradients(self, beta: Floats, rows: Floats, answers: Floats) -> Floats:
        return np.repeat(super().gradients(beta, rows, answers), 2, axis=0)


@pytest.mark.parametrize("name", NAMES)
def test_a_loss_that_tells_more_than_one_gradient_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match="one gradient per person"):
        round_of(name, loss=Twice()).report([[0.0, 0.0]], [1.0], entropy=entropy())


def test_beta_cannot_be_changed_after_it_was_checked() -> None:
    beta = np.zeros(3)
    asked = round_of("duchi", beta=beta)
    beta[:] = np.nan
    assert asked.beta is not None
    assert asked.beta.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        asked.beta[0] = 1


# ---- what a device is given


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ((1, 2), (50,)),  # 50 reports of one person
        ((50, 2), (1,)),
        ((1, 2), ()),
        ((1, 2), (1, 1)),
        ((1, 2), (50, 1)),
        ((2,), (1,)),
        ((2,), ()),
        ((1, 1), (1,)),
        ((1, 3), (1,)),
        ((1, 2, 1), (1,)),
        ((5, 1, 2), (1,)),
        ((5, 1, 2), (5,)),
        ((1, 0), (1,)),
        ((), ()),
    ],
)
def test_data_of_another_shape_are_refused(name: str, rows: tuple[int, ...], told: tuple[int, ...]) -> None:
    with pytest.raises(InvalidValue, match="a row of 2 features and one answer per person"):
        round_of(name).report(np.zeros(rows), np.ones(told), entropy=entropy())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [[[1.0], [1.0, 2.0]], [[1.0, [2.0]]], None, "ab", ["ab"], [{"a": 1, "b": 2}],
                                  np.array([[np.zeros(2), 1]], object)])  # fmt: skip
def test_rows_that_are_none_are_refused(name: str, rows: Any) -> None:
    with pytest.raises(InvalidValue):
        round_of(name).report(rows, [1.0] * (1 if rows is None else len(rows)), entropy=entropy())
    with pytest.raises(InvalidValue):
        round_of(name).report([[0.0, 0.0]], [[1.0]], entropy=entropy())


class Odd:
    """A value of a type that nobody foresaw, which says no to every question."""

    def __float__(self) -> float:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "value",
    [None, "a", "0.3", b"1", True, np.True_, 1j, math.nan, Decimal("NaN"), Decimal("sNaN"), Odd(), {},
     np.datetime64(0, "s")],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_number_makes_nobody_refuse(name: str, value: Any) -> None:
    """Whether a device answers must not depend on its value: no number counts as a gradient of 0."""
    asked = round_of(name)
    for rows, told in (([[0.5, value]], [1.0]), ([[value, value]], [1.0]), ([[0.5, 0.5]], [value])):
        assert asked.clipped(rows, told).tolist() == [[0.0] * 3]
        assert reports_of(asked, rows, told) == 1
    state, _ = Participant(asked.study, asked.randomizer.epsilon).answer(asked, [0.5, value], value)
    assert state.answered == 1
    both = asked.clipped(np.array([[0.5, value], [0.5, 0.25]], object), np.array([1, 1], object))  # and no neighbour
    assert both[0].tolist() == [0.0] * 3
    assert both[1].tolist() == asked.clipped(np.array([[0.5, 0.25]]), np.ones(1))[0].tolist() != [0.0] * 3


@pytest.mark.parametrize("cell", [10**400, Fraction(10**400), Decimal("1e999"), math.inf, np.float32(9), np.array(9)])
def test_numbers_of_any_type_and_size_count(cell: Any) -> None:
    asked = round_of(NAMES[0])
    assert asked.clipped([[0.5, cell]], [1]).tolist() == asked.clipped(np.array([[0.5, 1.0]]), np.ones(1)).tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(100, 1), (1, 100), (1, 2), (1, 4), (3,), (), (1, 3, 1), (2, 1, 3), (0,), (3, 0)])
def test_a_randomizer_takes_rows_of_its_dimension_only(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidValue, match="Expected rows of 3 numbers"):
        gradient_randomizer(name, 1, 3).randomize(np.zeros(shape), entropy=entropy())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(1, 100), (100,), (1, 0)])
def test_nor_does_one_of_a_single_coordinate_take_more(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidValue, match="Expected rows of 1 numbers"):
        gradient_randomizer(name, 1, 1).randomize(np.zeros(shape), entropy=entropy())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [[[0.0, np.nan, 0.0]], [["a", "b", "c"]], [[None] * 3], [[0.0], [1.0, 2.0, 3.0]]])
def test_nothing_is_drawn_for_what_is_no_vector(name: str, bad: Any) -> None:
    with pytest.raises(InvalidValue):
        gradient_randomizer(name, 1, 3).randomize(bad, entropy=entropy())


def reports_of(asked: Round, rows: Any, told: Any) -> int:
    report = asked.report(rows, told, entropy=Stream(1))
    return len(report[0] if isinstance(report, tuple) else report)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [0, 1, 7])
def test_one_row_is_one_report(name: str, n: int) -> None:
    beta = np.array([0.1, 0.2, 0.3])
    for asked in (round_of(name), round_of(name, beta=beta)):
        assert reports_of(asked, np.zeros((n, 2)), np.ones(n)) == n
        assert reports_of(asked, np.zeros((n, 2)).tolist() if n else np.zeros((0, 2)), [1] * n) == n


# ---- no refusal depends on a value

ODD = [0.0, -0.0, 5e-324, 1e-310, 1e308, -1.7e308, np.inf, -np.inf, np.nan, 1.0, 2.0**-53]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("beta", [(0.0, 0.0, 0.0), (1e308, 1e308, -1e308), (5e-324, -1e-310, 1e-300), (700, -750, 3)])
def test_whatever_numpy_was_told_no_value_makes_a_device_fail(name: str, loss: str, beta: Any) -> None:
    rows = np.array([[x, y] for x in ODD for y in ODD])
    told = np.resize(ODD, len(rows))
    asked = round_of(name, loss=LOSSES[loss](), beta=np.array(beta), features=Scale.between([(0, 1e-30), (-1e30, 3)]))
    with np.errstate(all="raise"):
        assert reports_of(asked, rows, told) == len(rows)
        assert reports_of(asked, rows.astype(np.longdouble) / 3, told) == len(rows)
        found = asked.clipped(rows, told)
    assert np.abs(found).max() <= 1


@pytest.mark.parametrize("name", NAMES)
def test_a_number_beyond_all_doubles_counts_as_the_bound(name: str) -> None:
    asked = round_of(name)
    far, at = (asked.clipped([[x, Fraction(-x)]], [x]) for x in (10**400, 1))
    assert far.tolist() == at.tolist()
    assert reports_of(asked, [[10**400, -(10**400)]], [10**400]) == 1


# ---- parameters


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "bad",
    [{"epsilon": "1e400"}, {"epsilon": "1e-400"}, {"epsilon": 3 * 1024 + 1}, {"clip": 1e300}, {"clip": "1e400"},
     {"clip": "1e-400"}, {"clip": 5e-324}, {"dimension": 0}, {"dimension": True}, {"mechanism": ["duchi"]}],
)  # fmt: skip
def test_parameters_out_of_all_proportion_are_refused_at_once(name: str, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        gradient_randomizer(**{"mechanism": name, "epsilon": 1, "dimension": 3, "clip": 1, **bad})
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("clip", [2**128, Fraction(1, 2**128), 10**30])
def test_parameters_at_the_edge_work(name: str, clip: Any) -> None:
    asked = round_of(name, randomizer=gradient_randomizer(name, 1, 3, clip))
    with np.errstate(all="raise"):
        reports = asked.report(np.ones((5, 2)), np.ones(5), entropy=Stream(1))
    assert np.isfinite(asked.gradient(reports)).all()


def test_every_class_checks_what_it_is_made_of() -> None:
    makers: list[Callable[[], Any]] = [
        lambda kind=kind, bad=bad: kind(*bad)  # type: ignore[misc]
        for kind in MECHANISMS.values()
        for bad in ((0, 3), (Fraction(-1), 3), (1, 0), (1, 3, 0), (None, 3), (1, None))
    ]
    for make in makers:
        with pytest.raises(CuradorError):
            make()
