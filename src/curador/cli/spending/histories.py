"""The command history: what was bought, and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from curador.cli.opening import open_study
from curador.cli.options import STUDY, At, Json, Language, Study
from curador.cli.screen import amount, console, emit, grid, say, words
from curador.cli.spending.budgets import Some
from curador.errors import InvalidParameter

if TYPE_CHECKING:
    from curador import Charge, Decision


SHOWN = 1000
"""As many charges as :meth:`Curator.history` gives by default; stated here, so that help loads no curator."""

Last = Annotated[int, typer.Option(min=0, help="How many of the newest charges.")]
All = Annotated[bool, typer.Option("--all", help="Every charge, however many there are.")]


def history(
    scope: Some = None,
    last: Last = SHOWN,
    every: All = False,
    study: Study = STUDY,
    at: At = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Show the newest charges, oldest first: when, for whom, what they cost, what was asked.

    Then the decisions about budgets: opened, raised, renewed, closed, restored, and why.

    Example: curador history ana
    """
    if at is not None:
        if scope is not None:
            raise InvalidParameter("A server shows the history of the token.", fix="Leave the name out.")
        with open_study(study, at=at) as far:
            mine = far.history(last=SHOWN if every else min(last, SHOWN)) if last else ()
        if as_json:
            emit({"charges": [_record(c) for c in mine]})
        else:
            _print_charges(mine)
        return
    with open_study(study) as curator:
        found, decided = curator.history(scope, last=None if every else last), curator.decisions(scope)
        earlier = 0 if every or len(found) < last else max(0, curator.charge_count(scope) - _own(found, scope))
        implied = set(curator.scopes.of(curator.scopes.registered)) - set(curator.scopes.roots())
    if as_json:
        charges = [_record(c) for c in found]
        emit({"charges": charges, "earlier": earlier, "decisions": [d.to_json() for d in decided]})
        return
    if earlier:
        say(words("earlier" if earlier > 1 else "earlier-one", n=earlier), "dim")
    if found or earlier:
        _print_charges(found)
    else:
        say(words("nothing-bought"))
    # A table that shares the population's budget is opened and raised with it.
    _print_decisions([d for d in decided if d.scope not in implied or d.kind == "closed"])


def _own(found: Sequence[Charge], scope: str | None) -> int:
    """How many of these the ledger counts: of all charges together, it counts each once, when it is bought."""
    return len(found) if scope is not None else len({charge.id for charge in found})


def _print_charges(found: Sequence[Charge]) -> None:
    table = grid()
    for code in ("charge", "when", "for", "charged", "asked"):
        table.add_column(words(code))
    for charge in found:
        cost = amount(charge.guarantee) if charge.guarantee is not None else ""
        table.add_row(charge.id, _when(charge.at), Text(charge.receiver or "–"), cost, Text(asked(charge)))
    console.print(table)
    if not all(charge.settled for charge in found):
        say(words("unanswered-means"), "dim")


def _print_decisions(decided: Sequence[Decision]) -> None:
    table = grid()
    for code in ("when", "decided", "of", "budget", "because"):
        table.add_column(words(code), no_wrap=code in ("when", "decided", "budget"))
    for d in decided:
        scope = d.scope or words("all-budgets")
        if d.name and not d.scope.startswith(f"{d.name}, "):
            scope = words("also-for", scope=scope, name=d.name)
        budget = "" if d.budget is None else amount(d.budget)
        table.add_row(_when(d.at), words(f"decided-{d.kind}"), Text(scope), budget, Text(d.because))
    if decided:
        console.print(table)


def _when(at: str) -> str:
    return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M}" if at else ""


def asked(charge: Charge) -> str:
    """The purpose of a charge, in a few words, and its reason."""
    lines = [charge.asked]
    if charge.note.get("because"):
        lines.append(words("reason", because=charge.note["because"]))
    if not charge.settled:
        lines.append(words("unanswered"))
    return "\n".join(lines)


def _record(c: Charge) -> dict[str, Any]:
    return {
        "charge": c.id,
        "at": c.at,
        "receiver": c.receiver,
        "scopes": list(c.scopes),
        "cost": None if c.guarantee is None else c.guarantee.to_json(),
        "cost_in_words": None if c.guarantee is None else c.guarantee.label,
        "settled": c.settled,
        "note": dict(c.note),
        "event": c.event.to_json(),
    }
