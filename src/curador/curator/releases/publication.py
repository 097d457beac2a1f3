"""A publication: the releases of a batch, and what they cost together."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from curador.curator.releases.notes import Note
from curador.curator.releases.release import Release, sealed_part
from curador.errors import InvalidParameter
from curador.numbers import set_fields
from curador.privacy import ApproxDP, Guarantee, guarantee_from_json
from curador.show.explain import note_text
from curador.show.release import publication_statement

if TYPE_CHECKING:
    from curador.show.report.document import ReportPage
    from curador.show.report.plot import Plot


@dataclass(frozen=True, repr=False)
class Publication:
    """The releases of a batch by name, with the one charge that paid for them and what they guarantee together.

    ``words`` are its title and reason, and the title, reason and SQL of each question, where they were stated.
    """

    releases: Mapping[str, Release]
    guarantee: Guarantee
    tight: ApproxDP | None
    charge: str
    remarks: tuple[Note, ...] = ()
    language: str = "en"
    words: Mapping[str, Any] = field(default_factory=dict)
    repeated: bool = field(default=False, compare=False)
    seal: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        set_fields(self, releases=MappingProxyType(dict(self.releases)))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the charge for the reader, in the publication's language."""
        return tuple(note_text(note, self.language) for note in self.remarks)

    def __getitem__(self, name: str) -> Release:
        if name not in self.releases:
            raise InvalidParameter(f"Nothing here is called {name!r}.", fix=f"There is {', '.join(self.releases)}.")
        return self.releases[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    def title(self, name: str) -> str:
        """The title of a question, or its name where it has none."""
        return str(self.words.get("questions", {}).get(name, {}).get("title") or name)

    def statement(self) -> str:
        """The guarantee of all releases together, in one line."""
        made_up = any(release.rehearsal for release in self.releases.values())
        return publication_statement(self.guarantee, self.tight, self.charge, self.language, rehearsal=made_up)

    def __str__(self) -> str:
        parts = [f"{self.title(name)}\n{release}" for name, release in self.releases.items()]
        return "\n\n".join([*([self.words["title"]] if self.words.get("title") else []), *parts, self.statement()])

    __repr__ = __str__

    def report(self, *, title: str = "", language: str | None = None) -> ReportPage:
        """One HTML file of all releases: charts, tables, what is promised, how each was made, and the receipt.

        ``.html`` is its text, ``.save("report.html")`` writes it.
        """
        from curador.curator.releases.reporting import publication_report

        return publication_report(self, title, language)

    def plot(self, *, language: str | None = None) -> Plot:
        """The charts of all releases: a notebook shows them, ``.svg`` is their text, ``.save("x.svg")`` writes them."""
        from curador.curator.releases.reporting import publication_plot

        return publication_plot(self, language)

    def _repr_html_(self) -> str:
        from curador.show.release import MOST_SHOWN
        from curador.show.report.fragments import fragment
        from curador.show.report.scoped import scoped

        parts = [
            f"<h3>{html.escape(self.title(n))}</h3>{fragment(r, MOST_SHOWN).html}" for n, r in self.releases.items()
        ]
        return scoped("".join(parts) + f'<p class="promise">{html.escape(self.statement())}</p>')

    def to_dict(self) -> dict[str, Any]:
        """The publication as plain values, which :meth:`from_dict` reads back."""
        return {
            "releases": {name: release.to_dict() for name, release in self.releases.items()},
            "guarantee": self.guarantee.to_json(),
            "tight": None if self.tight is None else self.tight.to_json(),
            "charge": self.charge,
            "notes": [{**note, "text": text} for note, text in zip(self.remarks, self.notes, strict=True)],
            "language": self.language,
            "words": dict(self.words),
            "seal": self.seal,
        }

    @property
    def content(self) -> str:
        """All that is sealed: the sealed parts of its releases, and what they guarantee together."""
        return sealed_content(self.to_dict())

    def to_json(self) -> str:
        """One line of JSON; equal publications make equal text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Publication:
        """Read back what :meth:`to_dict` wrote."""
        try:
            tight = None if data["tight"] is None else guarantee_from_json(data["tight"])
            if not isinstance(tight, ApproxDP | None):
                raise TypeError
            return cls(
                {name: Release.from_dict(found) for name, found in data["releases"].items()},
                guarantee_from_json(data["guarantee"]),
                tight,
                data["charge"],
                tuple({k: v for k, v in note.items() if k != "text"} for note in data["notes"]),
                data["language"],
                dict(data["words"]),
                seal=str(data.get("seal", "")),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise InvalidParameter(
                "These are not the values of a publication.", fix="Pass what to_dict() made."
            ) from None


def sealed_content(data: Mapping[str, Any]) -> str:
    """All of a release or a publication that is sealed, from its plain values."""
    try:
        if "releases" in data:
            data = {**data, "releases": {name: sealed_part(found) for name, found in data["releases"].items()}}
        return sealed_part(data)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise InvalidParameter("These are not the values of a release.", fix="Pass what to_dict() made.") from None
