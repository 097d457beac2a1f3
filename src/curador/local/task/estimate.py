"""The contract of every estimate: summaries, a printed table, a figure, and data frames."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from curador.errors import CuradorError, InvalidParameter
from curador.local.task.keys import LocalKey
from curador.local.task.limits import Floats
from curador.show.summary import EstimateNote, Summary, csv_text, flat, html_table, text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class LocalEstimate(ABC):
    """An estimate from local reports.

    Printed, it is a table with 95% intervals where there are any.

    >>> from curador.local import KRR
    >>> found = KRR(keys=["tea", "coffee"], epsilon=4).estimate([0] * 300 + [1] * 100)
    >>> found
    key     estimate  95% interval for all
    ──────────────────────────────────────
    tea       75.93%       70.54% … 80.83%
    coffee    24.07%       19.17% … 29.46%
    <BLANKLINE>
    400 people
    >>> found.to_pandas(0.9).columns.tolist()
    ['key', 'value', 'low', 'high', 'standard_error']
    >>> print(found.to_csv().splitlines()[1][:10])
    tea,0.7593
    """

    biased: ClassVar[bool] = False

    if TYPE_CHECKING:  # a field or a property of each kind

        @property
        def users(self) -> int:
            """The number of people who reported."""

    @abstractmethod
    def summaries(self, confidence: float = 0.95) -> tuple[Summary, ...]:
        """Plain values with limits that hold together this often: one summary, or one for each attribute."""

    def projected(self) -> LocalEstimate:
        """Move frequencies to the nearest that are at least 0 and sum to 1, which is biased.

        Other estimates are refused.
        """
        raise InvalidParameter(
            "Only frequencies can be projected.", fix="Leave projected out.", code="projection-unavailable"
        )

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """Convert to plain values: the findings, one for each attribute."""
        findings = [one.to_json() for one in self.summaries(confidence)]
        return {"users": self.users, "confidence": confidence, "findings": findings}

    def to_json(self, confidence: float = 0.95) -> str:
        """Write :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(confidence), ensure_ascii=False)

    def to_csv(self, confidence: float = 0.95) -> str:
        """Write the table as CSV text: a row for each value."""
        return csv_text(self.summaries(confidence))

    def to_arrow(self, confidence: float = 0.95) -> Any:
        """Convert to a pyarrow Table with a row for each value."""
        return _library("pyarrow").table(flat(self.summaries(confidence)))

    def to_pandas(self, confidence: float = 0.95) -> Any:
        """Convert to a pandas DataFrame, a row for each value; a record also has a column of attribute names."""
        return _library("pandas").DataFrame(flat(self.summaries(confidence)))

    def to_polars(self, confidence: float = 0.95) -> Any:
        """Convert to a Polars DataFrame with a row for each value."""
        return _library("polars").DataFrame(flat(self.summaries(confidence)))

    def plot(self, confidence: float = 0.95, *, title: str = "") -> Figure:
        """Draw a figure: points with their intervals, or a distribution."""
        from curador.show.estimates import plot_estimates

        return plot_estimates(self.summaries(confidence), title=title)

    def __repr__(self) -> str:
        return text_table(self.summaries())

    def _repr_html_(self) -> str:
        return html_table(self.summaries())


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise CuradorError(f"{name} is not installed.", fix=f"Run: pip install {name}") from None


def frequency_summary(
    keys: tuple[LocalKey, ...],
    values: Floats,
    users: int,
    *,
    confidence: float | None = None,
    limits: tuple[Floats, Floats] | None = None,
    variance: Floats | None = None,
    notes: tuple[EstimateNote, ...] = (),
    biased: bool = False,
    approximate: bool = False,
) -> tuple[Summary]:
    """Summarize estimated frequencies; ``confidence`` is that of the limits.

    >>> frequency_summary(("a", "b"), np.array([0.7, 0.3]), 10, variance=np.array([0.01, 0.04]))[0].error
    (0.1, 0.2)
    """
    low, high = ((), ()) if limits is None else map(plain_floats, limits)
    error = () if variance is None else plain_floats(np.sqrt(variance))
    made = Summary(
        "frequencies",
        keys,
        plain_floats(values),
        users,
        low=low,
        high=high,
        error=error,
        biased=biased,
        confidence=confidence if low else None,
        approximate=approximate,
        notes=notes,
    )
    return (made,)


def plain_floats(values: Floats | Sequence[float]) -> tuple[float, ...]:
    """Convert an array to a tuple of Python floats.

    >>> plain_floats(np.array([0.5, 1.0]))
    (0.5, 1.0)
    """
    return tuple(np.asarray(values, np.float64).tolist())
