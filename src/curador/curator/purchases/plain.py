"""What is learned, said in plain values: by which it is kept with its charge, read again, and sent to a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from curador.errors import CuradorError
from curador.ledger.records import bounded
from curador.query.ask.builder import TableQuery
from curador.query.language.expressions import Expr, all_of
from curador.query.language.text import sql_text

CHOSEN = ("columns", "joins", "groups", "outputs", "contribution", "source")
"""What of a query decides its rows, but for conditions."""


CHARGING = ("curator", "table", "in_search")
"""Parameters of a model that say where and whether arrays are charged: no part of what is learned."""


def plain_recipe(
    model: object, table: str | TableQuery, features: object, label: str | None, contribution: object
) -> Mapping[str, object]:
    """A model and its rows in the words of a recipe; nothing where some of it is not plain."""
    read, rows = getattr(model, "get_params", None), plain_rows(table)
    if read is None or rows is None or not isinstance(contribution, int | None):
        return {}
    given = {n: x for n, x in read(deep=False).items() if x is not None and n not in CHARGING}
    settings = {name: str(x) if isinstance(x, Fraction | Decimal) else x for name, x in given.items()}
    stated = {"model": type(model).__name__, **rows, "features": plain_features(features), "settings": settings}
    more = {name: x for name, x in {"label": label, "rows_per_unit": contribution}.items() if x is not None}
    try:
        found: dict[str, object] = json.loads(json.dumps({**stated, **more}, allow_nan=False))
    except (TypeError, ValueError):
        return {}
    return found


def plain_rows(table: str | TableQuery) -> dict[str, str] | None:
    """The name of a table, and the condition that chooses its rows as a text; None where they are chosen otherwise.

    >>> from curador.query.tables.table import Table
    >>> people = TableQuery.of("people", {"people": Table("p.csv", columns={"age": "integer"})})
    >>> plain_rows(people.where("age >= 18").where("age < 65"))
    {'table': 'people', 'where': '(age < 65) AND (age >= 18)'}
    >>> plain_rows(people.with_columns(decade="age // 10")) is None
    True
    """
    if isinstance(table, str):
        return {"table": table}
    whole, found = TableQuery.of(table.table, table.tables), {"table": table.table}
    if any(getattr(table, name) != getattr(whole, name) for name in CHOSEN):
        return None
    if table.filters:
        found["where"] = sql_text(wanted := all_of(*table.filters))
        try:
            read = whole.where(found["where"]).filters
        except CuradorError:  # built in Python, and not to be said in SQL
            return None
        return found if read == (wanted,) else None
    return found


def plain_features(features: object) -> object:
    """Features with their expressions as texts."""
    if not isinstance(features, Mapping):
        return features
    return {name: sql_text(e) if isinstance(e, Expr) else e for name, e in features.items()}


def noted(recipe: Mapping[str, object]) -> dict[str, object]:
    """A recipe for a record, which keeps no order of names: features with names become pairs, and their order stays.

    >>> noted({"features": {"b": "x", "a": "y"}})
    {'features': [['b', 'x'], ['a', 'y']]}
    """
    features = recipe.get("features")
    pairs = {"features": [list(pair) for pair in features.items()]} if isinstance(features, Mapping) else {}
    return {**recipe, **pairs}


def kept_whole(recipe: Mapping[str, object]) -> bool:
    """Whether a record of a charge keeps a recipe as it is: of a very long one it keeps a digest.

    >>> kept_whole({"features": ["x"]}), kept_whole({"features": ["x" * 100_000]})
    (True, False)
    """
    record = {"recipe": noted(recipe)}
    return bool(bounded(record) == record)


def from_note(recipe: Mapping[str, object]) -> dict[str, object]:
    """The recipe of a record.

    >>> from_note(noted({"features": {"b": "x", "a": "y"}}))
    {'features': {'b': 'x', 'a': 'y'}}
    """
    features = recipe.get("features")
    paired = isinstance(features, list) and features and all(isinstance(x, list) and len(x) == 2 for x in features)
    return {**recipe, "features": dict(features)} if paired else dict(recipe)  # type: ignore[call-overload]
