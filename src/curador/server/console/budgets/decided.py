"""Whose a budget is, and what was decided about it, in words: that of all tables, of a table, of an analyst."""

from __future__ import annotations

from curador import Curator, Decision
from curador.curator.budgets import POPULATION
from curador.curator.naming import ANALYST, first
from curador.server.console.visit import Visit
from curador.show.words.say import knows


def whose(visit: Visit, scope: str) -> str:
    """Whose budget a scope is."""
    if scope == POPULATION:
        return visit.say("ledger.study")
    of_table = first(scope) in _of_tables(visit.serving.curator)
    return visit.say("ledger.of-table", table=scope) if of_table else scope


def decided(visit: Visit, one: Decision) -> tuple[Decision, str, str]:
    """A decision, in words, and the budget from then on; a table that shares one has none of its own."""
    kind, code = _kind(visit.serving.curator, one.scope), f"ledger.decided-{one.kind}"
    own = code + kind if knows(code + kind) else code
    said = visit.say(own, scope=one.scope or visit.say("ledger.all-scopes"))
    return one, said, visit.amount(one.budget) if one.budget and kind != "-within" else ""


def _kind(curator: Curator, scope: str) -> str:
    """What a scope is, as the end of a text's code."""
    if scope == POPULATION:
        return "-study"
    if first(scope) not in _of_tables(curator):
        return ""
    return "-within" if curator.ledger.balance(scope).parent is not None else "-table"


def _of_tables(curator: Curator) -> set[str]:
    return {first(one.scope) for one in curator.ledger.registrations(without=ANALYST)}
