"""A lower and an upper bound on one number."""

from __future__ import annotations

from dataclasses import dataclass

from curador.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class Bracket:
    """A lower and an upper bound on one number; infinity is allowed at either end.

    >>> b = Bracket(0.5, 0.75)
    >>> 0.6 in b, b.width
    (True, 0.25)
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:  # also refuses NaN
            raise InvalidParameter(
                f"A bracket needs lower <= upper, got {self.lower} and {self.upper}.", fix="Check the two bounds."
            )

    def __contains__(self, x: object) -> bool:
        return isinstance(x, float | int) and self.lower <= x <= self.upper

    @property
    def width(self) -> float:
        """The distance of the ends; 0 where both are infinite."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower
