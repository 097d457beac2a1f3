"""Explanations are free, so what is tried on made-up rows is bounded: also where most of it is making them up."""

from curador.learn.madeup import A_VALUE, MOST_ROWS, ROWS, WORK, tried_on


def test_rows_of_many_columns_are_fewer() -> None:
    columns = 329
    wide = tried_on(MOST_ROWS, 2000, steps=100, columns=columns)
    assert wide * A_VALUE * columns <= WORK
    assert wide < MOST_ROWS == tried_on(MOST_ROWS, 2000, steps=100, columns=5)
    assert tried_on(ROWS, 2000, columns=20) == ROWS
