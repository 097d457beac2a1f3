"""A budget that a form gives or raises: checked against what its page showed, and against what is left for all."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction

from curador import Balance, Curator
from curador.curator.budgets import POPULATION
from curador.curator.naming import LONGEST, normal
from curador.errors import CuradorError, InvalidParameter
from curador.server.access.passwords import signs_in
from curador.server.bodies import GrantBody
from curador.server.console.budgets.shown import loss, own_left
from curador.server.console.forms import Filled, amount, number_text
from curador.server.console.visit import Visit
from curador.server.gate.refusals import refused
from curador.server.routes import people

KINDS = ("epsilon", "approximate", "rho")
"""In what a new budget is counted."""


def asked_for(balance: Balance) -> str:
    names = balance.budget.to_json()
    return "rho" if "rho" in names else "approximate" if "delta" in names else "epsilon"


def remembered(balance: Balance | None) -> str:
    """A budget as a form remembers it."""
    return "" if balance is None else balance.mark


async def granted(visit: Visit, form: Filled, name: str, *, new: bool) -> None:
    """Grant what a form says, if the budget is still what its page showed."""
    kind = form["kind"] if form["kind"] in KINDS else "epsilon"
    more = _checked(form, kind)
    form = Filled({**form.values, **{name: number_text(form[name]) for name in ("amount", "delta")}})
    if new and kind == "approximate" and not form["delta"]:
        raise _wrong("delta", "This budget has a delta.", "Write it, or count in epsilon.", "delta-needed")
    if not form["because"].strip():
        raise no_reason()
    body = form.read(
        GrantBody,
        scope=name.strip(),
        epsilon=form["amount"] if kind != "rho" else None,
        rho=form["amount"] if kind == "rho" else None,
        delta=form["delta"] if kind != "epsilon" else None,
        because=form["because"],
        group=form["group"],
        expires=form["expires"],
    )
    refuse_past(form["expires"])
    price = {"epsilon": body.epsilon, "delta": body.delta, "rho": body.rho}
    end, seen = people.end_of(body.expires), "" if new else form["was"] or "?"

    def grant() -> None:
        curator = visit.serving.curator
        if new:
            _refuse_names(curator, body.scope, form["group"])
        if more is not None:
            _refuse_more_than_all(curator, body.scope, more, "rho" if kind == "rho" else "epsilon")
        curator.grant(body.scope, **price, because=body.because, group=body.group, expires=end, seen=seen)

    await visit.serving.work(grant)


def _checked(form: Filled, kind: str) -> Fraction | None:
    """The numbers of a form, each with its own refusal: how much is given, unless it is a delta alone."""
    more = None
    if form["amount"] or not (kind == "approximate" and form["delta"]):
        more = amount(form["amount"], "amount")
    if form["delta"]:
        amount(form["delta"], "delta", 1)
        if kind == "epsilon":
            raise _wrong("delta", "Epsilon alone has no delta.", "Leave it empty, or count in both.", "delta-unused")
    return more


def refuse_name(name: str) -> None:
    """A name stays for ever and stands on every page: no signs in it that a slip of the hand would leave."""
    if not name or len(name) > LONGEST:
        raise _wrong("name", "A name has 1 to 180 characters.", "Write another one.", "name-length", most=LONGEST)
    if not re.fullmatch(r"[\w.@'’ -]+", name):
        raise _wrong("name", "A name has letters and digits.", "Leave other signs out.", "analyst-name")


def _wrong(field: str, what: str, fix: str, code: str, **facts: object) -> CuradorError:
    return InvalidParameter(what, fix=fix, code=code, facts={"field": field, **facts})


def refuse_past(day: str) -> None:
    """Refuse an end that is over."""
    end = people.end_of(day) if day else None
    if end is not None and end <= datetime.now(UTC):
        raise _wrong("expires", "This would have ended already.", "Choose a later day.", "already-ended")


def _refuse_names(curator: Curator, name: str, group: str) -> None:
    """Refuse a table's name for an analyst, the sign-in name of somebody else, and a group that is none."""
    if name in curator.tables or name == POPULATION:
        raise _wrong("name", "A table has this name.", "Choose another name.", "name-of-table", name=name)
    if signs_in(curator.ledger, normal(name)) is not None:
        raise _wrong("name", "Somebody else signs in by this name.", "Choose another name.", "name-of-login")
    if group and curator.scopes.named(group) not in curator.ledger:
        raise _wrong("group", "There is no such group.", "Choose one of the list.", "group-unknown")


def _refuse_more_than_all(curator: Curator, name: str, more: Fraction, unit: str) -> None:
    """Refuse to give an analyst more than is left for all of them: it could not be spent, and stays for ever."""
    roots = [one for one in curator.budgets() if one.state.currency.names[0] == unit]
    scope = curator.scopes.named(name)
    if not roots or any(scope == one.scope for one in roots):
        return
    most = max((own_left(one) for one in roots), key=loss)
    has = loss(own_left(curator.ledger.balance(scope))) if scope in curator.ledger else 0.0
    if has + float(more) > loss(most) * (1 + 1e-12):
        raise _wrong("amount", "Less is left for all.", "Give less.", "more-than-all", remaining=most.to_json())


def place(error: CuradorError, otherwise: str) -> str:
    """The field that a refusal belongs to."""
    by_code = {"not-a-date": "expires", "no-reason": "because", "not-sure": "sure", "raised-since": ""}
    stated = error.facts.get("field")
    field = {"scope": "name", "epsilon": "amount", "rho": "amount"}.get(str(stated), str(stated))
    return field if stated else by_code.get(error.code, otherwise)


def no_reason() -> CuradorError:
    return refused("A decision needs a reason.", "Say it in a few words: it is kept in the ledger.", "no-reason")


def not_sure() -> CuradorError:
    return refused("This cannot be undone.", "Tick the box if you mean it.", "not-sure")
