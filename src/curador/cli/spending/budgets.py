"""Commands about what may be spent: budget, grant, renew, revoke."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from curador.cli.opening import open_study
from curador.cli.options import STUDY, At, Delta, Json, Language, Paid, Study
from curador.cli.screen import amount, amount_left, console, emit, grid, loss_left, say, words

if TYPE_CHECKING:
    from curador import Balance, Ledger
    from curador.curator.analysts import Scopes

Scope = Annotated[str, typer.Argument(metavar="SCOPE", help="An analyst, a group, a table, or population for all.")]
Some = Annotated[str | None, typer.Argument(metavar="[SCOPE]", help="A table, an analyst, a group; by default all.")]


def budget(
    scope: Some = None, study: Study = STUDY, at: At = None, language: Language = "", as_json: Json = False
) -> None:
    """Show what tables, analysts and everybody together have spent and have left.

    Example: curador budget
    """
    with open_study(study, at=at) as curator:
        if at is not None:
            found = list(curator.budgets()) if scope is None else [curator.budget(scope)]
        else:
            found = standing(curator.ledger) if scope is None else [curator.budget(scope)]
    if as_json:
        emit([_plain(b) for b in found])
        return
    show(found)


def standing(ledger: Ledger) -> list[Balance]:
    """Every budget as it stands."""
    return [ledger.balance(name) for name in ledger.scopes()]


def show(found: list[Balance]) -> None:
    """Print balances as a tree: what is charged below is charged above."""
    table = grid()
    states = {b.scope: _state(b) for b in found}
    table.add_column("")
    for code in ("budget", "spent", "left"):
        table.add_column(words(code))
    if any(states.values()):
        table.add_column("")
    for balance, depth in _in_order(found):
        numbers = (amount(balance.budget), amount(balance.spent), amount_left(balance.remaining))
        state = [Text(states[balance.scope], "red")] if any(states.values()) else []
        table.add_row(Text("  " * depth + balance.scope), *numbers, *state)
    console.print(table)


def _state(balance: Balance) -> str:
    if balance.closed:
        return words("closed")
    # A budget ends at a midnight, and people count days.
    last = balance.expires - timedelta(microseconds=1) if balance.expires else None
    return "" if last is None else words("until-day", day=f"{last:%Y-%m-%d}")


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
    epsilon: Annotated[str | None, typer.Option(help="The amount.")] = None,
    delta: Delta = None,
    rho: Annotated[str | None, typer.Option(help="The amount, where the budget counts rho.")] = None,
    group: Annotated[
        str | None, typer.Option(help="The group of an analyst who is new, or another budget to be below.")
    ] = None,
    expires: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            help="The last day of a new analyst's budget, UTC. A budget for a period promises for that period alone.",
        ),
    ] = None,
    because: Annotated[str, typer.Option(help="The reason; it is recorded.")] = "",
    study: Study = STUDY,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Give an analyst a budget, or raise any budget by an amount, for ever.

    Nothing lowers a budget. Whether to raise one must not depend on answers: decide by the calendar or the law.

    A delta for a budget of epsilon alone makes it promise (epsilon, delta) from now on, and needs a reason.

    Then groups without public keys, and Gaussian noise, can be paid for.

    An analyst whose people no table is about any more, since they were renewed, gets a budget for the new ones.

    Example: curador grant ana --epsilon 0.5
    """
    from curador.curator.study.document import read_study_document
    from curador.curator.study.file import end_of

    with warnings.catch_warnings(record=True) as warned, open_study(study) as curator:
        warnings.simplefilter("always")
        end = None if expires is None else end_of(expires.date())
        amount = Paid(epsilon, delta, rho).granted(delta_alone=True)
        found = curator.grant(scope, because=because, group=group, expires=end, **amount)
        section = _section(scope, read_study_document(study), curator.scopes)
    if as_json:
        emit(_plain(found))
        return
    show([found])
    if (above := found.capped_by) is not None:
        say(words("capped-above", scope=found.scope, above=above.scope, left=loss_left(above.remaining)), "yellow")
    for warning in warned:
        say(str(warning.message), "yellow")
    if end is not None:
        say(words("for-a-period"), "yellow")
    if section:
        say(words("study-may-state", study=study.name, amount=_toml(found), section=section), "dim")


def _section(scope: str, document: Mapping[str, Any], scopes: Scopes) -> str:
    """The section of the study file that states a budget, if one does."""
    from curador.curator.budgets import POPULATION

    for kind in ("groups", "analysts"):
        if scope in document.get(kind, {}):
            return f"[{kind}.{scope}]"
    if scopes.shared:
        return "[budget]" if scope == POPULATION else ""
    return "".join(f"[budget.{name}]" for name in scopes.charging(scopes.named(scope)))


def _toml(found: Balance) -> str:
    return ", ".join(f"{name} = {value}" for name, value in found.budget.to_json().items() if name != "kind" and value)


def renew(
    tables: Annotated[
        list[str], typer.Argument(metavar="TABLE", help="Tables whose people are new; they share the new budget.")
    ],
    because: Annotated[str, typer.Option(help="Who the new people are; it is recorded.")],
    epsilon: Annotated[str | None, typer.Option(help="The new budget.")] = None,
    delta: Delta = None,
    rho: Annotated[str | None, typer.Option(help="The new budget, in zero-concentrated privacy.")] = None,
    study: Study = STUDY,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Decide that tables are about new people, and start a new budget for them.

    It promises for the new people alone: people in old and new rows lose both budgets.

    Where only the rows changed, use reload, which keeps the budget.

    Example: curador renew people --epsilon 1 --because "the survey of 2027, drawn without those of 2026"
    """
    with open_study(study) as curator:
        found = curator.renew(*tables, because=because, **Paid(epsilon, delta, rho).granted())
        charging = curator.scopes.charging(found.scope)
        removed = [
            c.prepared.place for table in charging for c in (curator.copies.remove(table) if curator.copies else ())
        ]
    if as_json:
        emit({**_plain(found), "tables": list(charging), "no_longer_used": removed})
        return
    show([found])
    say(words("new-people", tables=", ".join(charging)))
    say(words("new-people-alone"), "yellow")


def revoke(
    scope: Scope,
    because: Annotated[str, typer.Option(help="The reason; it is recorded.")],
    study: Study = STUDY,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Close a budget for ever; what was spent stays spent.

    Example: curador revoke ana --because "the project ended"
    """
    with open_study(study) as curator:
        found = curator.revoke(scope, because=because)
    if as_json:
        emit(_plain(found))
        return
    show([found])
