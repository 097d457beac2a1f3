"""Every refusal says what, what to do and what it cost, and survives the trip to another process."""

from __future__ import annotations

import copy
import inspect
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from curador import errors
from curador.errors import CuradorError, InvalidParameter, InvalidValue, NotPromised

FAMILY = [c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__]


def test_the_family_is_one() -> None:
    assert {CuradorError, InvalidParameter, InvalidValue, NotPromised} <= set(FAMILY)
    assert all(issubclass(c, CuradorError) for c in FAMILY)


@pytest.mark.parametrize("kind", FAMILY)
def test_says_what_fix_and_cost(kind: type[CuradorError]) -> None:
    error = kind("It rained.", fix="Take a coat.", cost="one hat")
    assert str(error) == "It rained. To do: Take a coat. (Cost: one hat.)"
    assert (error.what, error.fix, error.cost) == ("It rained.", "Take a coat.", "one hat")


@pytest.mark.parametrize("kind", FAMILY)
def test_costs_nothing_unless_it_says_so(kind: type[CuradorError]) -> None:
    assert kind("It rained.", fix="Take a coat.").cost == "nothing was drawn, nothing was spent"


@pytest.mark.parametrize("kind", FAMILY)
def test_a_fix_is_not_optional(kind: type[CuradorError]) -> None:
    with pytest.raises(TypeError, match="fix"):
        kind("It rained.")  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", FAMILY)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_survives_pickling(kind: type[CuradorError], protocol: int) -> None:
    error = kind("It rained.", fix="Take a coat.", cost="one hat")
    back = pickle.loads(pickle.dumps(error, protocol))
    assert type(back) is kind
    assert (back.what, back.fix, back.cost, str(back)) == (error.what, error.fix, error.cost, str(error))


@pytest.mark.parametrize("kind", FAMILY)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_survives_copying(kind: type[CuradorError], again: object) -> None:
    error = kind("It rained.", fix="Take a coat.", cost="one hat")
    assert str(again(error)) == str(error)  # type: ignore[operator]


def _refuse() -> None:
    raise InvalidParameter("It rained.", fix="Take a coat.", cost="one hat")


def test_crosses_a_process_border() -> None:
    # spawn: the child starts clean, as on every platform but Linux.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(InvalidParameter) as caught:
        pool.submit(_refuse).result()
    assert caught.value.cost == "one hat"


def test_bad_parameters_are_also_value_errors() -> None:
    assert issubclass(InvalidParameter, ValueError)
    assert issubclass(InvalidValue, ValueError)
    assert not issubclass(NotPromised, ValueError)


def test_notebooks_show_the_line_that_asked_and_no_frames_of_the_library() -> None:
    from curador.numbers import positive

    with pytest.raises(InvalidParameter) as refused:
        positive(-1, "epsilon")
    shown = refused.value._render_traceback_()
    assert shown[0].endswith('positive(-1, "epsilon")')
    assert shown[2] == f"InvalidParameter: {refused.value.what}"
    assert len(shown) == 5
