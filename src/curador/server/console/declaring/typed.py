"""Numbers, dates and lists as people write them; what can be read in two ways is not read in either."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any

LONGEST = 40
"""The most characters of a number."""

MOST_VALUES = 10_000
"""The most values that a form lists of a column."""

LONGEST_VALUE = 1000


class Mistyped(Exception):
    """Something that cannot be read, by a code that has a text in each language, and the facts in it."""

    def __init__(self, code: str, **facts: object) -> None:
        super().__init__(code)
        self.code, self.facts = code, facts


@dataclass
class Mistakes:
    """What is wrong with a form, by its fields: all of it, so that it can be corrected at once.

    >>> found = Mistakes()
    >>> found.add("low-1", Mistyped("not-number", text="x"))
    >>> list(found.fields)
    ['low-1']
    """

    fields: dict[str, Mistyped] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.fields)

    def add(self, place: str, what: Mistyped) -> None:
        """Note a mistake; the first one of a field stands."""
        self.fields.setdefault(place, what)

    def say(self, place: str, code: str, **facts: object) -> None:
        """The same, from its parts."""
        self.add(place, Mistyped(code, **facts))


_PLAIN = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:([.,' \u00a0])\d{3})(?:\1\d{3})*(?:([.,])\d*)?", re.ASCII)


def number(text: str, mark: str = ".") -> float | int:
    """A number with a point or a comma before its fraction; ``mark`` is what the file has there.

    Marks between thousands are read where they can be nothing else.

    >>> number("5000.00"), number("5.000,50"), number("0,5"), number("-3"), number("1,5e3")
    (5000, 5000.5, 0.5, -3, 1500)
    """
    plain = text.strip().replace("\u2212", "-")
    if not plain or len(plain) > LONGEST:
        raise Mistyped("not-number", text=plain[:LONGEST])
    found = _GROUPED.fullmatch(plain)
    if found is not None and found[1] != found[2]:
        once = found[2] is None and plain.count(found[1]) == 1
        surely = plain.lstrip("+-").startswith("0") or not plain.endswith("0")  # nobody writes 50.000 for 50
        if found[1] == mark and once and surely:
            return _number(plain.replace(",", "."))
        if found[1] in ".," and once:
            one, thousands = plain.replace(",", "."), plain.replace(found[1], "")
            raise Mistyped("number-unclear", text=plain, one=f"{float(one):g}", other=thousands)
        return _number(plain.replace(found[1], "").replace(",", "."))
    if _PLAIN.fullmatch(plain) is None:
        raise Mistyped("not-number", text=plain)
    return _number(plain.replace(",", "."))


def _number(plain: str) -> float | int:
    found = float(plain)
    if abs(found) > 1e300:
        raise Mistyped("not-number", text=plain)
    if re.fullmatch(r"[+-]?\d+", plain, re.ASCII):
        return int(plain)
    return int(found) if found.is_integer() and abs(found) < 2**53 else found


def whole(text: str, mark: str = ".") -> int:
    """A whole number.

    >>> whole("120"), whole("1.000.000")
    (120, 1000000)
    """
    found = number(text, mark)
    if not isinstance(found, int):
        raise Mistyped("not-whole", text=text.strip()[:LONGEST])
    return found


def day(text: str, order: str = "yyyy-mm-dd") -> date:
    """A date as 2025-12-31, or as the file writes dates.

    >>> day("2025-12-31"), day("31/12/2025", "dd/mm/yyyy")
    (datetime.date(2025, 12, 31), datetime.date(2025, 12, 31))
    """
    plain = text.strip()
    for way in ("yyyy-mm-dd", order):
        if (found := _day(plain, way)) is not None:
            return found
    guesses = {_day(plain, way) for way in ("dd/mm/yyyy", "mm/dd/yyyy", "dd-mm-yyyy", "mm-dd-yyyy", "dd.mm.yyyy")}
    likely = sorted(guess.isoformat() for guess in guesses if guess is not None)
    raise Mistyped("not-date", text=plain[:LONGEST], right=likely[-1] if likely else "2025-12-31")


def _day(text: str, order: str) -> date | None:
    few = "2" if order.isalpha() or order == "yyyy-mm-dd" else "1,2"
    pattern = re.sub("(mm|dd)", lambda m: f"(?P<{m[1]}>[0-9]{{{few}}})", re.escape(order))
    found = re.fullmatch(pattern.replace("yyyy", "(?P<yyyy>[0-9]{4})"), text)
    try:
        return None if found is None else date(int(found["yyyy"]), int(found["mm"]), int(found["dd"]))
    except ValueError:
        return None


def moment(text: str, order: str = "yyyy-mm-dd") -> datetime:
    """A date, and a time of day if there is one, to the second.

    >>> moment("2025-12-31T08:30"), moment("31/12/2025 8:30", "dd/mm/yyyy")
    (datetime.datetime(2025, 12, 31, 8, 30), datetime.datetime(2025, 12, 31, 8, 30))
    """
    found = re.fullmatch(r"\s*([^\sT]+)(?:[\sT]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?\s*", text)
    try:
        if found is not None:
            hour, minute, second = (int(part or 0) for part in found.groups()[1:])
            return datetime.combine(day(found[1], order), time(hour, minute, second))
    except ValueError:
        pass
    except Mistyped as wrong:
        raise Mistyped("not-moment", text=text.strip()[:LONGEST], right=f"{wrong.facts['right']} 08:30:00") from None
    raise Mistyped("not-moment", text=text.strip()[:LONGEST], right="2025-12-31 08:30:00")


def listed(text: str) -> list[str]:
    """A list: a value in each line; or in one line, with commas or with semicolons between them.

    >>> listed("north, south"), listed("Madrid, C.; Asturias\\nLugo")
    (['north', 'south'], ['Madrid, C.; Asturias', 'Lugo'])
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        # A mark at the end of each line is the mark of a list, and no part of a value.
        ended = next((mark for mark in ",;" if all(line.endswith(mark) for line in lines[:-1])), None)
        found = [line.removesuffix(ended).strip() for line in lines] if ended else lines
    else:
        one = lines[0] if lines else ""
        marks = [mark for mark in ";," if mark in one]
        if len(marks) > 1:
            raise Mistyped("list-unclear")
        found = [part.strip() for part in one.split(marks[0])] if marks else [one]
    found = [part for part in found if part]
    twice = next((x for i, x in enumerate(found) if x in found[:i]), None) if len(set(found)) < len(found) else None
    if twice is not None:
        raise Mistyped("list-twice", text=twice[:LONGEST])
    if len(found) > MOST_VALUES or any(len(x) > LONGEST_VALUE for x in found):
        raise Mistyped("list-long", most=f"{MOST_VALUES:,}")
    return found


def shown(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool | str):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.15g}"


READ: Mapping[str, Any] = {
    "integer": lambda text, how: whole(text, how.mark),
    "real": lambda text, how: number(text, how.mark),
    "date": lambda text, how: day(text, how.dates),
    "timestamp": lambda text, how: moment(text, how.dates),
}
"""The readers of values by type; of how a file is written they take its decimal mark and its order of dates."""
