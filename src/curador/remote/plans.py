"""Plans and batches as their server states them: what an answer would cost, and how wrong it would be."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from curador.accounting.events import Event, event_from_json
from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.privacy import Guarantee, Neighbors, guarantee_from_json
from curador.query.plan.expected import Expected
from curador.show.explain import explain, explain_batch

OF_THE_ASKER = ("shared", "text", "fits", "remaining")
"""What a server states beside the facts: the same plan has others for another analyst, or later."""


def facts_in(stated: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a plan or a batch, out of what a server stated."""
    return {name: value for name, value in stated.items() if name not in OF_THE_ASKER}


@dataclass(frozen=True, repr=False)
class RemotePlan:
    """A plan that a server made; its ``facts`` are those of :attr:`curador.Plan.facts`."""

    facts: Mapping[str, Any]

    @property
    def tables(self) -> tuple[str, ...]:
        """The private tables it reads: each is charged."""
        return tuple(self.facts["tables"])

    @property
    def neighbors(self) -> Neighbors:
        return Neighbors(self.facts["neighbors"])

    @property
    def budget(self) -> Guarantee:
        return guarantee_from_json(self.facts["budget"])

    @property
    def guarantee(self) -> Guarantee:
        return guarantee_from_json(self.facts["guarantee"])

    @cached_property
    def event(self) -> Event:
        """All that would be run on the data, as one event."""
        return event_from_json(self.facts["event"])

    @property
    def confidence(self) -> float:
        return float(self.facts["confidence"])

    @property
    def rows(self) -> int | None:
        """The rows behind the answer, where their number is known without looking."""
        found = self.facts["rows"]
        return None if found is None else int(found)

    @property
    def groups(self) -> int | None:
        """How many groups the answer has, where they are public."""
        found = self.facts["keys"]
        return None if found is None else int(found)

    @property
    def expected(self) -> tuple[Expected, ...]:
        """The error of every output that is shown, before anything is spent."""
        return tuple(map(_expected, self.facts["expected"]))

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values, for machines; a copy."""
        return deepcopy(dict(self.facts))

    def explain(self, language: str = "en") -> str:
        """The plan in words: cost, split, mechanisms, expected error."""
        return explain(self.facts, language)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        outputs = dict.fromkeys([*self.facts["groups"], *(e["output"] for e in self.facts["expected"])])
        return f"<Plan of {', '.join(outputs)} from {', '.join(self.tables)}: {self.guarantee!r}>"


@dataclass(frozen=True, repr=False)
class RemoteBatch:
    """A batch that a server planned, with the ``request`` by which it plans the same and sells it."""

    facts: Mapping[str, Any]
    request: Mapping[str, Any] = field(default_factory=dict, compare=False)

    explained_at = "/v1/batch/explain"

    @property
    def guarantee(self) -> Guarantee:
        return guarantee_from_json(self.facts["guarantee"])

    @property
    def tight(self) -> Guarantee | None:
        """The guarantee of the whole, by its privacy-loss distribution, where that is known."""
        found = self.facts["tight"]
        return None if found is None else guarantee_from_json(found)

    @property
    def plans(self) -> dict[str, RemotePlan]:
        """Its questions, by name."""
        return {name: RemotePlan(facts) for name, facts in self.facts["questions"].items()}

    def expected(self, name: str) -> list[dict[str, Any]]:
        """The error to expect of a question's outputs, as facts."""
        return deepcopy(list(self.facts["questions"][name]["expected"]))

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values, for machines; a copy."""
        return deepcopy(dict(self.facts))

    def explain(self, language: str = "en") -> str:
        """The share of the budget and the expected error of each question, in words."""
        return explain_batch(self.facts, language)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"<Batch of {', '.join(self.facts['questions'])}: {self.guarantee!r}>"


class RemoteQuality(RemoteBatch):
    """The quality of a table, which a server planned: one question for each column."""

    explained_at = "/v1/quality/explain"


def request_of(planned: object, kind: type[RemoteBatch]) -> Mapping[str, Any]:
    """The request of a batch that a server planned; refused where this one did not."""
    if type(planned) is kind:
        return planned.request
    if isinstance(planned, RemoteQuality):
        raise InvalidParameter("This is the quality of a table.", fix="Use buy_quality().")
    if isinstance(planned, RemoteBatch):
        raise InvalidParameter("This is a batch of questions.", fix="Use publish().")
    raise InvalidParameter("This batch was planned elsewhere.", fix="Plan it with this curator.")


def _expected(stated: Mapping[str, Any]) -> Expected:
    by_rows = tuple((int(n), float(error)) for n, error in stated["by_rows"])
    given = {name: value for name, value in stated.items() if name not in ("error", "by_rows", "by")}
    by = None if stated["by"] is None else tuple(stated["by"])
    return Expected(value=stated["error"], by_rows=by_rows, by=by, **given)
