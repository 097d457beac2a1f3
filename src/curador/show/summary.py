"""Estimates as plain values: one summary for each attribute, and tables of it as text and HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from curador.show.tables import csv_text as as_csv
from curador.show.words.say import say

EstimateKind = Literal["frequencies", "mean", "means", "distribution"]

ROWS = 10
"""Rows of a table in a notebook or an interactive session; the largest values are shown."""
LABEL = 20
"""Characters of a label in a table."""


@dataclass(frozen=True)
class EstimateNote:
    """What is said with estimates, by its code and its facts.

    >>> EstimateNote("nobody-reported").text("es")
    'Nadie informó de ello.'
    """

    code: str
    facts: tuple[tuple[str, str], ...] = ()

    def text(self, language: str = "en") -> str:
        """The sentence in a language."""
        return say(self.code, language, **dict(self.facts))


@dataclass(frozen=True)
class Summary:
    """The estimates of one attribute, as plain values.

    ``low`` and ``high`` are limits that hold for all values at once, and empty if there are none.  A distribution has
    an edge more than values.

    >>> found = Summary("frequencies", ("a", "b"), (0.7, 0.3), users=10, low=(0.5, 0.1), high=(0.9, 0.5))
    >>> [row["key"] for row in found.to_json()["estimates"]]
    ['a', 'b']
    """

    kind: EstimateKind
    labels: tuple[str | int, ...]
    values: tuple[float, ...]
    users: int
    name: str = ""
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    error: tuple[float, ...] = ()
    """Standard errors, where they are known."""
    edges: tuple[float, ...] = ()
    bounds: tuple[float, float] | None = None
    """The bounds of a mean."""
    biased: bool = False
    confidence: float | None = None
    """How often all limits hold together, with those of a record's other attributes; None if there are no limits."""
    approximate: bool = False
    """Whether the limits are asymptotic only."""
    notes: tuple[EstimateNote, ...] = ()
    """Warnings about the numbers."""

    @property
    def note(self) -> str:
        """The warnings in English, or nothing."""
        return self.note_in("en")

    def note_in(self, language: str) -> str:
        """The warnings in a language, or nothing."""
        return " ".join(note.text(language) for note in self.notes)

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary for each value, by the names of the columns."""
        key = {"frequencies": "key", "means": "coordinate", "mean": "mean", "distribution": "bucket"}[self.kind]
        columns: dict[str, Sequence[Any]] = {key: self.labels, "value": self.values}
        for title, column in (("low", self.low), ("high", self.high), ("standard_error", self.error)):
            if column:
                columns[title] = column
        if self.edges:
            columns |= {"from": self.edges[:-1], "to": self.edges[1:]}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, with the rows under ``estimates``."""
        about = {"name": self.name, "kind": self.kind, "users": self.users, "biased": self.biased}
        limits = {"confidence": self.confidence, "approximate_limits": self.approximate}
        return {**about, **limits, "note": self.note, "estimates": self.rows()}

    def largest(self, most: int) -> list[int]:
        """The rows to show: all in their order, or the ``most`` largest, the largest first."""
        every = list(range(len(self.values)))
        return every if len(every) <= most else sorted(every, key=lambda i: -self.values[i])[:most]

    def merged(self, most: int) -> Summary:
        """A distribution in at most ``most`` wider buckets, of one width if that leaves at least half as many.

        >>> wave = Summary("distribution", (0, 1, 2, 3), (0.1, 0.2, 0.3, 0.4), 10, edges=(0.0, 1.0, 2.0, 3.0, 4.0))
        >>> wave.merged(2).edges, [round(share, 6) for share in wave.merged(2).values]
        ((0.0, 2.0, 4.0), [0.3, 0.7])
        """
        buckets = len(self.values)
        even = max(d for d in range(1, most + 1) if buckets % d == 0)
        wanted = min(most, buckets)
        steps = even if 2 * even >= wanted else wanted
        cuts = [round(j * buckets / steps) for j in range(steps + 1)]
        shares = tuple(sum(self.values[a:b]) for a, b in pairwise(cuts))
        return replace(self, labels=tuple(range(steps)), values=shares, edges=tuple(self.edges[cut] for cut in cuts))

    def table(self, most: int = ROWS, language: str = "en") -> list[tuple[str, ...]]:
        """Headings, then a row for each of the ``most`` largest values, or for each bucket of a distribution.

        >>> Summary("frequencies", ("a", "b"), (0.7, 0.3), 10, error=(0.1, 0.1)).table()
        [('key', 'estimate', 'standard error'), ('a', '70.00%', '10.00%'), ('b', '30.00%', '10.00%')]
        """
        estimate = say("estimate-biased" if self.biased else "estimate", language)
        if self.kind == "distribution":
            ends = (f"{edge:.6g}" for edge in self.edges)
            buckets = zip(pairwise(ends), self.values, strict=True)
            ways = say("estimate-from", language), say("estimate-to", language)
            return [(*ways, estimate), *((a, b, f"{share:z.2%}") for (a, b), share in buckets)]
        code = {"mean": "", "means": "estimate-coordinate", "frequencies": "estimate-key"}[self.kind]
        label = say(code, language) if code else ""
        columns = [(label, [shortened(x) for x in self.labels]), (estimate, list(map(self._number, self.values)))]
        if self.low:
            both = zip(self.low, self.high, strict=True)
            columns.append((self._limits(language), [f"{self._number(a)} … {self._number(b)}" for a, b in both]))
        elif self.error:
            columns.append((say("estimate-error", language), list(map(self._number, self.error))))
        cells = [tuple(column[i] for _, column in columns) for i in self.largest(most)]
        return [tuple(heading for heading, _ in columns), *cells]

    def _limits(self, language: str) -> str:
        together = "" if len(self.low) == 1 else "-about" if self.approximate else "-all"
        if self.confidence is None:
            return say(f"limits{together}", language)
        return say(f"sure-limits{together}", language, sure=as_percent(self.confidence))

    def _number(self, value: float) -> str:
        return f"{value:z.2%}" if self.kind == "frequencies" else f"{value:z.6g}"


def flat(summaries: Sequence[Summary]) -> dict[str, list[Any]]:
    """Columns of a table with a row for each value; the first names the attribute, if there are several.

    >>> flat([Summary("frequencies", ("a", 1), (0.7, 0.3), 10)])
    {'key': ['a', '1'], 'value': [0.7, 0.3]}

    Integers beyond 64 bits are written out, and half characters escaped: no other program has them.
    """
    named = any(one.name for one in summaries)
    rows = [{"attribute": one.name, **row} if named else row for one in summaries for row in one.rows()]
    columns = {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}
    for name, cells in columns.items():
        kinds = {type(cell) for cell in cells if cell is not None}
        wide = any(type(cell) is int and not -(2**63) <= cell < 2**63 for cell in cells)
        if str in kinds or wide:  # other programs want one type in a column
            columns[name] = [None if cell is None else _whole_characters(str(cell)) for cell in cells]
    return columns


def _whole_characters(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def csv_text(summaries: Sequence[Summary]) -> str:
    """The same as CSV; before a text that a spreadsheet would run as a formula stands an apostrophe.

    Labels may be strangers' texts: those that a search found are.

    >>> csv_text([Summary("frequencies", ("tea, iced", "=1+1"), (0.7, 0.3), 10)])
    'key,value\\r\\n"tea, iced",0.7\\r\\n\\'=1+1,0.3\\r\\n'
    """
    return as_csv(flat(summaries))


def as_percent(share: float) -> str:
    """A share in percent, with as many digits as it was given with.

    >>> as_percent(0.95), as_percent(0.999), as_percent(0.57)
    ('95%', '99.9%', '57%')
    """
    return f"{100 * share:.12g}%"


def one_line(text: object) -> str:
    """A name as it may be shown: characters that move a cursor, start a line or reverse the text become question marks.

    >>> one_line("te\\x1b[31ma")
    'te?[31ma'
    """
    return "".join(c if c.isprintable() else "?" for c in str(text))


def shortened(label: object, most: int = LABEL) -> str:
    """A label on one line, cut off after ``most`` characters.

    >>> shortened("x" * 30)
    'xxxxxxxxxxxxxxxxxxx…'
    """
    text = one_line(label)
    return text if len(text) <= most else text[: most - 1] + "…"


def people(number: int, language: str = "en") -> str:
    """A number of people.

    >>> people(1), people(2000), people(2000, "es")
    ('1 person', '2,000 people', '2,000 personas')
    """
    return say("one-person", language) if number == 1 else say("n-people", language, n=f"{number:,}")


def text_table(summaries: Sequence[Summary]) -> str:
    """Summaries as text: for each attribute a table of at most ``ROWS`` rows, and how many people it is about.

    >>> print(text_table([Summary("frequencies", ("a", "b"), (0.7, 0.3), 10, low=(0.5, 0.1), high=(0.9, 0.5))]))
    key  estimate  interval for all
    ───────────────────────────────
    a      70.00%   50.00% … 90.00%
    b      30.00%   10.00% … 50.00%
    <BLANKLINE>
    10 people
    """
    return "\n\n".join("\n".join(_lines(one)) for one in summaries)


def _lines(one: Summary) -> list[str]:
    shown = _few(one)
    rows, left = shown.table(), 0 if one.kind == "distribution" else 1
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = (x.ljust(w) if i < left else x.rjust(w) for i, (x, w) in enumerate(zip(row, widths, strict=True)))
        lines.append("  ".join(cells).rstrip())
    table = [lines[0], "─" * (sum(widths) + 2 * len(widths) - 2), *lines[1:]] if one.values else []
    return [*([one_line(one.name)] if one.name else []), *table, *([""] if table else []), _below(one, shown)]


def html_table(summaries: Sequence[Summary]) -> str:
    """Summaries as HTML, with their notes.

    >>> html_table([Summary("frequencies", ("<a>",), (1.0,), 1)])[:56]
    '<table><thead><tr><th>key</th><th>estimate</th></tr></th'
    """
    return "".join(map(_html, summaries))


def _html(one: Summary) -> str:
    shown = _few(one)

    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    headings, *rows = shown.table()
    body = "".join(line(row, "td") for row in rows)
    table = f"<table><thead>{line(headings, 'th')}</thead><tbody>{body}</tbody></table>" if one.values else ""
    name = f"<h4>{html.escape(one_line(one.name))}</h4>" if one.name else ""
    below = (_below(one, shown), one.note)
    return name + table + "".join(f"<p>{html.escape(text)}</p>" for text in below if text)


def _few(one: Summary) -> Summary:
    return one.merged(ROWS) if one.kind == "distribution" and one.values else one


def _below(one: Summary, shown: Summary) -> str:
    more = len(shown.values) - ROWS
    nothing = "" if one.values else "nothing found"
    return " · ".join(filter(None, (people(one.users), nothing, f"{more:,} more rows" if more > 0 else "")))
