"""Keys in other types: the library counts a value as the device clients do."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidValue
from curador.local import KRR
from curador.local.collect.rehearsal import people
from curador.local.task.keys import numbered

TASKS = [KRR(4, 1, rest=3), KRR([1, "2", "z", 5], 1, rest="z"), KRR(["1", 1, 2], 1, rest=2)]

VALUES: list[Any] = [
    *(0, 1, 2, 5, -1, 2**70, np.int8(1), np.uint64(2), True, False, np.True_, None, math.nan, math.inf, -math.inf),
    *(0.0, -0.0, 1.0, 2.0, 5.0, 1.5, 1e300, np.float32(1), np.float64(2), Decimal(1), Decimal("1.5"), Fraction(2, 2)),
    *("0", "1", "2", "5", " 1 ", "1.0", "1e0", "+1", "1_0", "١", "", "z", "one", np.str_("1"), np.str_("z")),
    *(b"1", [1], (1,), {}, object()),
]


@pytest.mark.parametrize("task", TASKS, ids=lambda t: str(t.keys))
@pytest.mark.parametrize("value", VALUES, ids=lambda value: "an object" if type(value) is object else repr(value))
def test_a_value_is_the_key_that_devices_take_it_for(task: KRR, value: Any) -> None:
    given = np.empty(1, object)
    given[0] = value
    for values in (given, [value]):
        assert task.read(values).tolist() == [task._client.seen(value)]


COLUMNS = [np.array([1.0, 2.0, math.nan]), np.array([1.0, 2.0, 9.0], np.float32), ["1", "2", ""], [1.0, "2", None]]


@pytest.mark.parametrize("column", COLUMNS, ids=repr)
def test_a_column_of_integers_may_come_as_floats_or_texts(column: Any) -> None:
    assert numbered(column, 3, 0).tolist() == [1, 2, 0]
    assert numbered(column, (2, 1, 5), 5).tolist() == [1, 0, 2]
    for task in (KRR(3, 1, rest=0), KRR([2, 1, 0], 1, rest=0)):
        own = [1, 2, 0] if task.keys == 3 else [1, 0, 2]
        assert task.read(people(task, {"x": column})).tolist() == own
    with pytest.raises(InvalidValue, match="1 of the values"):
        numbered(column, 3, None)


def test_a_hidden_integer_is_missing() -> None:
    hidden = np.ma.masked_array([1, 2], mask=[False, True])
    assert numbered(hidden, 3, 0).tolist() == [1, 0]
    assert numbered(hidden, (0, 1, 2), 0).tolist() == [1, 0]
    with pytest.raises(InvalidValue, match="1 of the values"):
        numbered(hidden, 3, None)
