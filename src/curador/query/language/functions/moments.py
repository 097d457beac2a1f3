"""Functions of timestamps: seconds since 1970-01-01 in UTC, in the years 1 to 9999.

Days, months and years of a timestamp are those of its date.  Each function here is exact and never decreases, but for
the hour, the minute and the second, which come round again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from curador.errors import InvalidParameter, QuestionRefused
from curador.query.language.expressions import Expr
from curador.query.language.functions.dates import DateText
from curador.query.language.functions.numbers import Found, RowFunction, Tabled
from curador.query.language.text import shortened
from curador.query.language.types import MOST_KEYS, Type
from curador.query.tables.columns import FIRST_SECOND, LAST_SECOND, Key, Kind, moment_of

SPANS = {"hour": 3600, "minute": 60, "second": 1}
"""The seconds of each part of a day."""

CYCLES = {"hour": 24, "minute": 60, "second": 60}

PARTS = {
    **{part: part.upper() for part in SPANS},
    **{f"{part}s": f"{part.upper()}_NUMBER" for part in SPANS},
}
"""The parts of a timestamp, and the SQL word of each; numbers count from 1970."""

FARTHEST = 10**12
"""The most seconds that are added at once."""


def ends_of(e: Expr, operand: Expr, t: Type) -> tuple[int, int]:
    """The first and the last second of an operand, or the refusal of one that is no timestamp."""
    if t.kind is not Kind.TIMESTAMP:
        raise QuestionRefused(
            f"{shortened(e)} needs a timestamp, and {shortened(operand)} is of type {t.kind}.",
            fix="Declare the column as a timestamp.",
            code="needs-timestamp",
            facts={"expression": shortened(e), "operand": shortened(operand), "type": str(t.kind)},
        )
    assert t.bounds is not None
    if not FIRST_SECOND <= t.bounds[0] <= t.bounds[1] <= LAST_SECOND:
        raise QuestionRefused(
            f"{shortened(operand)} could leave the years 1 to 9999.",
            fix="Declare bounds for it.",
            code="years-range",
            facts={"expression": shortened(operand)},
        )
    return int(t.bounds[0]), int(t.bounds[1])


@dataclass(frozen=True)
class MomentPart(RowFunction, tag="moment-part"):
    """The hour, minute or second of a timestamp, or the number of hours, minutes or seconds since 1970."""

    part: str
    operand: Expr

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise InvalidParameter(f"No part of a timestamp is called {self.part!r:.20}.", fix=", ".join(PARTS))
        super().__post_init__()

    def written(self, parts: Sequence[str]) -> str:
        return f"{PARTS[self.part]}({parts[0]})"

    @property
    def span(self) -> int:
        return SPANS[self.part.removesuffix("s")]

    def typed(self, types: Sequence[Type]) -> Type:
        low, high = (end // self.span for end in ends_of(self, self.operand, types[0]))
        if self.part in CYCLES:
            low, high = 0, CYCLES[self.part] - 1
        return Type(Kind.INTEGER, Fraction(low), Fraction(high), nullable=types[0].nullable)


@dataclass(frozen=True)
class AddSeconds(RowFunction, tag="add-seconds"):
    """A timestamp some seconds later, or earlier."""

    operand: Expr
    seconds: int

    def __post_init__(self) -> None:
        if type(self.seconds) is not int or abs(self.seconds) > FARTHEST:
            raise QuestionRefused(
                f"{self.seconds} seconds are too many.",
                fix=f"Add at most {FARTHEST}.",
                code="interval-too-long",
                facts={"most": FARTHEST},
            )
        super().__post_init__()

    def written(self, parts: Sequence[str]) -> str:
        return f"DATE_ADD({parts[0]}, INTERVAL '{self.seconds}' SECOND)"

    def typed(self, types: Sequence[Type]) -> Type:
        low, high = (Fraction(end + self.seconds) for end in ends_of(self, self.operand, types[0]))
        return Type(Kind.TIMESTAMP, low, high, nullable=types[0].nullable)


@dataclass(frozen=True)
class MomentTrunc(RowFunction, tag="moment-trunc"):
    """The beginning of the hour, minute or second of a timestamp."""

    unit: str
    operand: Expr

    def __post_init__(self) -> None:
        if self.unit not in SPANS:
            raise InvalidParameter(f"No part of a day is called {self.unit!r:.20}.", fix=", ".join(SPANS))
        super().__post_init__()

    def written(self, parts: Sequence[str]) -> str:
        return f"DATE_TRUNC('{self.unit}', {parts[0]})"

    def typed(self, types: Sequence[Type]) -> Type:
        span = SPANS[self.unit]
        low, high = (Fraction(end // span * span) for end in ends_of(self, self.operand, types[0]))
        return Type(Kind.TIMESTAMP, low, high, nullable=types[0].nullable)

    def moments(self, t: Type) -> range:
        """All values that its own type leaves, in seconds."""
        assert t.bounds is not None
        return range(int(t.bounds[0]), int(t.bounds[1]) + 1, SPANS[self.unit])


@dataclass(frozen=True)
class MomentText(Tabled, tag="moment-text"):
    """A timestamp as a text by a format that has %H: one public text for each hour of the day, or for each hour.

    >>> from curador.query.language.expressions import Name
    >>> MomentText("%Y-%m-%d %H:00", Name("at")).value(1), MomentText("%H h", Name("at")).part
    ('1970-01-01 01:00', 'hour')
    """

    format: str
    operand: Expr

    def __post_init__(self) -> None:
        if not isinstance(self.format, str) or "%H" not in self.format:
            raise QuestionRefused(
                "A format of a timestamp has %H.", fix="Write '%Y-%m-%d %H:00', or '%H'.", code="moment-format"
            )
        self._days()
        super().__post_init__()

    def _days(self) -> DateText | None:
        """The rest of the format, as that of a date."""
        rest = self.format.replace("%%", "").replace("%H", "")
        return DateText(self.format.replace("%H", ""), self.operand) if "%" in rest else None

    @property
    def part(self) -> str:
        return "hour" if self._days() is None else "hours"

    def written(self, parts: Sequence[str]) -> str:
        return f"STRFTIME({parts[0]}, '{self.format.replace(chr(39), chr(39) * 2)}')"

    def deciding(self, t: Type) -> Type:
        """The type of what decides the text."""
        return MomentPart(self.part, self.operand).typed([t])

    def typed(self, types: Sequence[Type]) -> Type:
        return self.tabled(self.deciding(types[0]), Kind.TEXT)

    def value(self, key: Key) -> Found:
        moment = moment_of(int(key) * 3600)  # type: ignore[arg-type]
        return DateText(self.format.replace("%H", f"{moment.hour:02}") + "%%", self.operand).text(moment)[:-1]

    def untabled(self) -> QuestionRefused:
        return QuestionRefused(
            f"{shortened(self)} has more than {MOST_KEYS} texts.",
            fix="Declare narrower bounds for the timestamps, or group by HOUR and by the date.",
            code="too-many-texts",
            facts={"expression": shortened(self), "most": MOST_KEYS},
        )
