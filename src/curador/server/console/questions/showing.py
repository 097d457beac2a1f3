"""A release as somebody wants to see it: sorted, with other names and another confidence; the address says how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from curador import Curator, Publication, Release
from curador.curator.releases.recall import renamable_columns
from curador.errors import CuradorError, InvalidParameter
from curador.server.console.questions.pricing import CONFIDENCES, confidence_of
from curador.server.console.visit import Visit

LONGEST_NAME = 200


@dataclass(frozen=True)
class ShownTable:
    """One table of a release: what the fields of its form are called, and how it is shown."""

    heading: str
    suffix: str
    columns: tuple[str, ...]
    renamable: tuple[str, ...]
    sort: str = ""
    down: bool = False
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Showing:
    """A release as it is shown, and the choices that made it so; ``refused`` where they could not be followed.

    ``plain`` is the same as it was asked, whose question has no names or order that were chosen later.
    """

    found: Release | Publication
    plain: Release | Publication
    parts: tuple[ShownTable, ...]
    query: str = ""
    refused: CuradorError | None = None

    @property
    def named(self) -> bool:
        """Whether any column has another name."""
        return any(part.names for part in self.parts)


def showing(visit: Visit, recalled: Callable[..., Release | Publication]) -> Showing:
    """A release by the choices of a visit's address; ``recalled`` shows it, with the keywords of ``recall``."""
    chosen = visit.request.query_params
    how: dict[str, Any] = {"language": visit.language, "confidence": confidence_of(chosen.get("confidence", ""))}
    plain = recalled(**how)
    parts = _parts(plain, chosen)
    order = {name: (part.sort, part.down) for name, part in parts.items() if part.sort}
    names = {name: part.names for name, part in parts.items() if part.names}
    shown = tuple(parts.values())
    if not order and not names:
        return Showing(plain, plain, shown, _query(chosen, shown))
    try:
        return Showing(recalled(**how, order=order, names=names), plain, shown, _query(chosen, shown))
    except CuradorError:
        refused = InvalidParameter(
            "These names cannot be given.", fix="Name each column differently.", code="column-names"
        )
        return Showing(plain, plain, shown, "", refused)


def budget_of_charge(curator: Curator, charge: str) -> dict[str, str]:
    """The epsilon and delta that a single question was bought with, as its charge notes them; for asking it again."""
    budgets = curator.ledger.charge(charge).note.get("budgets")
    paid = budgets.get("") if isinstance(budgets, Mapping) else None
    found = paid if isinstance(paid, Mapping) else {}
    return {name: str(found[name]) for name in ("epsilon", "delta") if name in found}


def _parts(found: Release | Publication, chosen: Mapping[str, str]) -> dict[str, ShownTable]:
    if isinstance(found, Release):
        return {"": _part(found, "", "", chosen)}
    return {
        name: _part(one, found.title(name), f"-{k}", chosen) for k, (name, one) in enumerate(found.releases.items())
    }


def _part(release: Release, heading: str, suffix: str, chosen: Mapping[str, str]) -> ShownTable:
    columns, free = tuple(release.columns), renamable_columns(release)
    wanted = {column: chosen.get(f"name{suffix}-{k}", "").strip()[:LONGEST_NAME] for k, column in enumerate(columns)}
    names = {column: text for column, text in wanted.items() if text and text != column and column in free}
    sort = chosen.get(f"sort{suffix}", "")
    return ShownTable(
        heading, suffix, columns, free, sort if sort in columns else "", bool(chosen.get(f"down{suffix}")), names
    )


def _query(chosen: Mapping[str, str], parts: tuple[ShownTable, ...]) -> str:
    """The same choices for the addresses of files."""
    kept: dict[str, str] = {}
    if chosen.get("confidence", "") in CONFIDENCES:
        kept["confidence"] = chosen["confidence"]
    for part in parts:
        if part.sort:
            kept[f"sort{part.suffix}"] = part.sort
            if part.down:
                kept[f"down{part.suffix}"] = "yes"
        kept |= {f"name{part.suffix}-{part.columns.index(column)}": text for column, text in part.names.items()}
    return urlencode(kept)
