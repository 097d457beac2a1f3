"""What people type: read in one way, or asked back; never read as something else in silence."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from curador.server.console.declaring.typed import Mistyped, day, listed, moment, number, whole


@pytest.mark.parametrize(
    ("text", "mark", "right"),
    [
        ("0", ".", 0), ("-3", ".", -3), ("+7", ".", 7), (" 12 ", ".", 12), ("1e3", ".", 1000), ("0.5", ".", 0.5),
        ("0,5", ".", 0.5), ("0,5", ",", 0.5), ("5.000,00", ".", 5000), ("5,000.00", ",", 5000), ("5.125", ".", 5.125),
        ("5,125", ",", 5.125), ("0.500", ".", 0.5),
        ("1.000.000", ".", 1_000_000), ("1 234 567", ".", 1_234_567), ("1'234.5", ".", 1234.5),
        ("1 234,5", ",", 1234.5), (".5", ".", 0.5), ("−4", ".", -4),
        ("12345678901234567890", ".", 12345678901234567890),
    ],
)  # fmt: skip
def test_numbers_are_read_as_written(text: str, mark: str, right: float) -> None:
    found = number(text, mark)
    assert found == right
    assert isinstance(found, int) == (right == int(right))


@pytest.mark.parametrize(
    ("text", "mark", "code"),
    [
        ("cero", ".", "not-number"), ("", ".", "not-number"), ("5,000", ".", "number-unclear"),
        ("5.000", ",", "number-unclear"), ("50.000", ".", "number-unclear"), ("5,000", ",", "number-unclear"),
        ("1.2.3", ".", "not-number"), ("1,23,456", ".", "not-number"),
        ("nan", ".", "not-number"), ("inf", ".", "not-number"),
        ("1e999", ".", "not-number"), ("9" * 50, ".", "not-number"),
        ("١٢", ".", "not-number"), ("1_000", ".", "not-number"), ("1 000,5.5", ".", "not-number"),
    ],
)  # fmt: skip
def test_what_is_no_number_or_two_is_asked_back(text: str, mark: str, code: str) -> None:
    with pytest.raises(Mistyped) as refused:
        number(text, mark)
    assert refused.value.code == code


def test_what_is_unclear_is_told_in_both_ways() -> None:
    with pytest.raises(Mistyped) as refused:
        number("5.000", ",")
    assert refused.value.facts == {"text": "5.000", "one": "5", "other": "5000"}
    with pytest.raises(Mistyped, match="not-whole"):
        whole("0,5")


def test_dates_are_read_as_the_file_writes_them_or_asked_back() -> None:
    assert day("1/2/2025", "dd/mm/yyyy") == date(2025, 2, 1)
    assert day("1/2/2025", "mm/dd/yyyy") == date(2025, 1, 2)
    assert day("20250201", "yyyymmdd") == date(2025, 2, 1)
    for text, right in (("31/12/2025", "2025-12-31"), ("ayer", "2025-12-31"), ("12-31-2025", "2025-12-31")):
        with pytest.raises(Mistyped) as refused:
            day(text)
        assert (refused.value.code, refused.value.facts["right"]) == ("not-date", right)
    for text in ("2025-02-30", "2025-2-1", "30/02/2025"):
        with pytest.raises(Mistyped):
            day(text, "dd/mm/yyyy")


def test_moments_are_read_to_the_second() -> None:
    assert moment("2025-12-31") == datetime(2025, 12, 31)
    assert moment("2025-12-31T23:59:58") == datetime(2025, 12, 31, 23, 59, 58)
    for text in ("2025-12-31 25:00", "31/12/2025 8:30", "2025-12-31 8", "", "x"):
        with pytest.raises(Mistyped, match="not-moment"):
            moment(text)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("", []), (" \n ", []), ("a", ["a"]), ("a, b ,,c,", ["a", "b", "c"]), ("a; b", ["a", "b"]),
        ("a\nb\r\nc", ["a", "b", "c"]), ("Madrid, C. de\nAsturias; P. de", ["Madrid, C. de", "Asturias; P. de"]),
        ("a,\nb,\nc", ["a", "b", "c"]), ("a;\nb;", ["a", "b"]),
    ],
)  # fmt: skip
def test_lists_are_read_in_one_way(text: str, right: list[str]) -> None:
    assert listed(text) == right


@pytest.mark.parametrize(
    ("text", "code"),
    [("a, b; c", "list-unclear"), ("a, b, a", "list-twice"), ("x" * 1001, "list-long"), ("a\nb\na", "list-twice")],
)
def test_lists_that_are_two_are_asked_back(text: str, code: str) -> None:
    with pytest.raises(Mistyped) as refused:
        listed(text)
    assert refused.value.code == code
