"""Commands about what was spent: budget, grant, revoke, history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from curador.cli.opening import opened
from curador.cli.options import STUDY, Delta, Json, Paid, Study
from curador.cli.screen import amount, console, emit, grid, say, worded

if TYPE_CHECKING:
    from curador.ledger.contract import Balance, Charge
    from curador.query.question import Question
    from curador.scopes import Scopes

Scope = Annotated[str, typer.Argument(metavar="SCOPE", help="An analyst, a group, a table, or population for all.")]
Some = Annotated[str | None, typer.Argument(metavar="[SCOPE]", help="A table, an analyst, a group; by default all.")]


def budget(scope: Some = None, study: Study = STUDY, as_json: Json = False) -> None:
    """What tables, analysts and everybody together have spent and have left.

    Example: curador budget
    """
    with opened(study) as curator:
        names = [scope] if scope is not None else curator.ledger.scopes()
        found = [curator.ledger.balance(name) for name in names]
    if as_json:
        emit([_plain(b) for b in found])
        return
    show(found)


def show(found: list[Balance]) -> None:
    """Balances as a tree: what is charged below is charged above."""
    table = grid()
    states = {b.scope: _state(b) for b in found}
    for heading in ("", "budget", "spent", "remaining", *([""] if any(states.values()) else [])):
        table.add_column(heading)
    for balance, depth in _in_order(found):
        numbers = map(amount, (balance.budget, balance.spent, balance.remaining))
        state = [Text(states[balance.scope], "red")] if any(states.values()) else []
        table.add_row(Text("  " * depth + balance.scope), *numbers, *state)
    console.print(table)


def _state(balance: Balance) -> str:
    if balance.closed:
        return "closed"
    return f"until {balance.expires:%Y-%m-%d}" if balance.expires else ""


def _in_order(found: list[Balance]) -> Iterator[tuple[Balance, int]]:
    """Parents before children, each with its depth."""
    names = {b.scope for b in found}
    below: dict[str | None, list[Balance]] = {}
    for balance in found:
        above = balance.parent.scope if balance.parent is not None else None
        below.setdefault(above if above in names else None, []).append(balance)

    def walk(scope: str | None, depth: int) -> Iterator[tuple[Balance, int]]:
        for balance in below.get(scope, []):
            yield balance, depth
            yield from walk(balance.scope, depth + 1)

    return walk(None, 0)


def _plain(b: Balance) -> dict[str, Any]:
    return {
        "scope": b.scope,
        "parent": None if b.parent is None else b.parent.scope,
        "budget": b.budget.to_json(),
        "spent": b.spent.to_json(),
        "remaining": b.remaining.to_json(),
        "neighbors": b.neighbors.value,
        "closed": b.closed,
        "expires": b.expires,
    }


def grant(
    scope: Scope,
    epsilon: Annotated[str | None, typer.Option(help="By how much.")] = None,
    delta: Delta = None,
    rho: Annotated[str | None, typer.Option(help="By how much, where the budget counts rho.")] = None,
    group: Annotated[str | None, typer.Option(help="The group of an analyst who is new.")] = None,
    expires: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The last day of a new analyst's budget, UTC.")
    ] = None,
    because: Annotated[str, typer.Option(help="The reason; it is recorded.")] = "",
    study: Study = STUDY,
    as_json: Json = False,
) -> None:
    """Give an analyst a budget, or raise any budget by so much, for ever.

    Nothing lowers a budget. Whether to raise one must not depend on answers: decide by the calendar or the law.

    Example: curador grant ana --epsilon 0.5
    """
    from curador.query.toml import read_study

    with opened(study) as curator:
        end = None if expires is None else expires.replace(tzinfo=UTC) + timedelta(days=1)
        first = {"group": group, "expires": end}
        found = curator.grant(scope, because=because, **first, **Paid(epsilon, delta, rho).asked())
        section = _section(scope, read_study(study), curator.scopes)
    if as_json:
        emit(_plain(found))
        return
    show([found])
    if section:
        say(f"{study.name} must state it, or nothing opens: write {_toml(found)} under {section}.", "yellow")


def _section(scope: str, document: Mapping[str, Any], scopes: Scopes) -> str:
    """The section of the study file that states a budget, if one does."""
    from curador.scopes import POPULATION

    for kind in ("groups", "analysts"):
        if scope in document.get(kind, {}):
            return f"[{kind}.{scope}]"
    if scopes.shared:
        return "[budget]" if scope == POPULATION else ""
    return "".join(f"[budget.{name}]" for name, table in scopes.registered.items() if table.scope == scope)


def _toml(found: Balance) -> str:
    return ", ".join(f"{name} = {value}" for name, value in found.budget.to_json().items() if name != "kind" and value)


def revoke(
    scope: Scope,
    because: Annotated[str, typer.Option(help="The reason; it is recorded.")],
    study: Study = STUDY,
    as_json: Json = False,
) -> None:
    """Close a budget for ever; what was spent stays spent.

    Example: curador revoke ana --because "the project ended"
    """
    with opened(study) as curator:
        found = curator.revoke(scope, because=because)
    if as_json:
        emit(_plain(found))
        return
    show([found])


# ---- history -------------------------------------------------------------------------------------------------------


def history(scope: Some = None, study: Study = STUDY, as_json: Json = False) -> None:
    """The charges so far, oldest first: when, for whom, what they cost, what was asked.

    Example: curador history ana
    """
    with opened(study) as curator:
        found = curator.history(scope)
    if as_json:
        emit([_record(c) for c in found])
        return
    if not found:
        say("Nothing was bought yet.")
        return
    table = grid()
    for heading in ("charge", "when (UTC)", "for", "cost", "asked"):
        table.add_column(heading)
    for charge in found:
        cost = amount(charge.promise) if charge.promise is not None else ""
        when = f"{datetime.fromisoformat(charge.at):%Y-%m-%d %H:%M}" if charge.at else ""
        table.add_row(charge.id, when, Text(charge.receiver or "–"), cost, Text(asked(charge)))
    console.print(table)
    if not all(charge.settled for charge in found):
        say("Unanswered: what was paid for was never delivered; asking again is a new charge.", "dim")


def asked(charge: Charge) -> str:
    """What a charge was for, in a few words, and why."""
    from curador.query.question import Question

    note: Mapping[str, Any] = charge.note
    questions = note.get("asked", {})
    lines = [_words(Question.from_json(question)) for question in questions.values()]
    if len(questions) > 1:
        lines = [f"{len(questions)} questions: {', '.join(questions)}"]
    if "running" in note:
        lines.append(f"running count by {note['running']}, {note['days']} days from {note['first']}")
    if note.get("because"):
        lines.append(f"because: {note['because']}")
    if not charge.settled:
        lines.append("unanswered")
    return "\n".join(lines)


def _words(question: Question) -> str:
    from curador.query.wording import shown

    outputs = [
        f"{o.aggregate.function}({'' if o.aggregate.column is None else shown(o.aggregate.column)})"
        for o in question.aggregates
    ]
    tables = [question.table, *(join.table for join in question.joins)]
    said = f"{', '.join(outputs)} of {', '.join(tables)}"
    if question.where is not None:
        said += f" where {shown(question.where)}"
    if question.group_by:
        said += f" by {', '.join(shown(g.expr) for g in question.group_by)}"
    return said


def _record(c: Charge) -> dict[str, Any]:
    return {
        "charge": c.id,
        "at": c.at,
        "receiver": c.receiver,
        "scopes": list(c.scopes),
        "cost": None if c.promise is None else c.promise.to_json(),
        "cost_in_words": None if c.promise is None else worded(c.promise),
        "settled": c.settled,
        "note": dict(c.note),
        "event": c.event.to_json(),
    }
