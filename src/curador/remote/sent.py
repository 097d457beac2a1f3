"""What is sent: questions, prices and terms as plain values; and what cannot be said to a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curador.curator.table import Asked, question_of
from curador.errors import InvalidParameter
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import Number
from curador.query.plan.expected import Within
from curador.query.tables.table import Table, contribution_of
from curador.remote.connection import new_key


def said(asked: Asked, tables: Mapping[str, Table]) -> str | dict[str, object]:
    """A question: SQL as it was written, or what was built."""
    return asked if isinstance(asked, str) else question_of(asked, tables, None).to_json()


def asked_there(asked: Asked, tables: Mapping[str, Table]) -> dict[str, Any]:
    """A question as a part of a request."""
    return {"sql" if isinstance(asked, str) else "question": said(asked, tables)}


def plain(value: object) -> object:
    """A number, exactly: fractions and decimals as texts."""
    if isinstance(value, Mapping):
        return {name: plain(x) for name, x in value.items()}
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def told_readers(words: Mapping[str, Any]) -> dict[str, Any]:
    """What readers are told of a question, but for its SQL, which is sent with it."""
    return {name: words[name] for name in ("title", "why") if words.get(name)}


def wanted(accuracy: Within) -> dict[str, object]:
    return {
        "error": str(accuracy.error),
        "confidence": accuracy.confidence,
        "output": accuracy.output,
        "unit": accuracy.unit,
    }


def priced(
    epsilon: Number | None,
    delta: Number | None,
    rho: Number | None,
    accuracy: Within | None,
    noise: str | None,
    weights: Mapping[str, Number] | None,
    confidence: float,
    rows: int | None,
    contribution: Contribution | tuple[int, int] | int | None,
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "epsilon": plain(epsilon),
        "delta": plain(delta),
        "rho": plain(rho),
        "accuracy": None if accuracy is None else wanted(accuracy),
        "noise": noise,
        "weights": plain(weights),
        "confidence": confidence,
        "rows": rows,
    }
    if contribution is not None:
        kept = contribution_of(contribution)
        found["contribution"] = {"rows": kept.total} if kept.total else {"groups": kept.groups, "rows": kept.rows}
    return {name: value for name, value in found.items() if value is not None}


def terms_of(
    because: str, override: bool, key: str | None, fresh: bool, anyway: bool, language: str | None
) -> dict[str, Any]:
    name = key if key is not None or fresh else new_key()
    found = {"because": because, "override": override, "key": name, "fresh": fresh, "language": language}
    found |= {"anyway": True} if anyway else {}  # a server of an older version does not know it
    return {name: value for name, value in found.items() if value is not None}


def refuse_elsewhere(analyst: str | None, prepared: bool | None = None, sql: bool = False) -> None:
    if analyst is not None:
        raise InvalidParameter("A token is its analyst's: it names no other.", fix="Leave analyst out.")
    if prepared is not None or sql:
        raise InvalidParameter("The server decides how it reads its tables.", fix="Leave prepared and sql out.")
