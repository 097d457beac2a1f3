"""A section of the study file as a form to change it, and what of it a form has no fields for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from curador.errors import InvalidParameter
from curador.server.console.declaring.declared import BOUNDED, LISTED, Declared
from curador.server.console.declaring.typed import Mistyped, listed
from curador.server.console.declaring.written import DATES, NUMBERS, USUAL, is_address, is_csv
from curador.server.console.forms import Filled


def form_of(settings: Mapping[str, Any], names: list[str]) -> dict[str, str]:
    """What a form holds for a table that is declared so; ``names`` are the columns of its source, in their order.

    >>> columns = {"age": {"type": "integer", "bounds": [0, 120]}}
    >>> made = form_of({"source": "a.csv", "unit": "row", "columns": columns}, ["id", "age"])
    >>> made["unit"], made["type-1"], made["high-1"]
    ('row', 'integer', '120')
    """
    unit = settings.get("unit", "")
    own = unit["id"] if isinstance(unit, Mapping) else "" if unit == "row" else unit
    limits = settings.get("contribution") or {}
    form = {
        **source_form(settings),
        "unit": f"={own}" if own else "row",
        "neighbors": str(settings.get("neighbors", "add-remove")),
        "size": _text(settings.get("size")),
        **{place: _text(limits.get(place)) for place in ("groups", "rows")},
    }
    for i, name in enumerate(names):
        column = _column(settings.get("columns", {}).get(name))
        if column is None:
            continue
        mark = NUMBERS[form["numbers"]][0]
        low, high = (_text(end, mark) for end in column.get("bounds") or (None, None))
        form |= {f"type-{i}": column["type"], f"low-{i}": low, f"high-{i}": high}
        form[f"keys-{i}"] = _list(column.get("keys"), "\n") if column["type"] in LISTED else ""
    return form


def source_form(settings: Mapping[str, Any]) -> dict[str, str]:
    """Where the rows are and how they are written."""
    csv = settings.get("csv") or {}
    numbers = {way: example for example, way in NUMBERS.items()}
    dates = {way: example for example, way in DATES.items()}
    way, source = (csv.get("decimal", "."), csv.get("thousands")), str(settings["source"])
    elsewhere = "://" in source and not is_address(source)
    if way not in numbers or elsewhere or (csv and not is_csv(source)):
        raise _not_in_form()
    return {
        "source": source,
        "header": "yes" if csv.get("header", True) else "no",
        "names": _list(csv.get("names")),
        "delimiter": csv.get("delimiter", USUAL["delimiter"]),
        "encoding": csv.get("encoding", USUAL["encoding"]),
        "numbers": numbers[way],
        "dates": dates[csv.get("dates", "yyyy-mm-dd")],
        "spaces": "drop" if csv.get("trim") else "keep",
        "yes-words": _list(csv.get("yes")),
        "no-words": _list(csv.get("no")),
    }


OF_COLUMN = ("type", "low", "high", "keys")
"""The fields of a column, each with its number behind it."""


def by_name(form: Filled, names: list[str], settings: Mapping[str, Any]) -> Filled:
    """A form for these columns: what was typed stays with its column, if the source has others or in another order.

    Where no column was shown before, they are filled in as they are declared.

    >>> form = Filled({"of-0": "age", "type-0": "integer", "of-1": "sex", "type-1": "text"})
    >>> moved = by_name(form, ["sex", "age"], {})
    >>> moved["type-0"], moved["type-1"]
    ('text', 'integer')
    """
    shown = {form[f"of-{i}"]: i for i in range(len(form.values)) if form[f"of-{i}"]}
    if not shown:
        blank = not any(form[f"type-{i}"] for i in range(len(names)))
        return Filled({**form_of(settings, names), **form.values}, form.errors) if settings and blank else form
    values = {name: x for name, x in form.values.items() if name.partition("-")[0] not in ("of", *OF_COLUMN)}
    for i, name in enumerate(names):
        if name in shown:
            values |= {f"{field}-{i}": form[f"{field}-{shown[name]}"] for field in OF_COLUMN}
    return Filled(values, form.errors)


def kept(made: Declared, before: Mapping[str, Any]) -> Declared:
    """A changed section with what the form has no fields for: steps, substitutes, trees, keys of dates."""
    settings = dict(made.settings)
    if "trees" in before:
        settings["trees"] = before["trees"]
    if "size" in before and settings["neighbors"] != "replace":
        settings["size"] = before["size"]
    if "csv" in settings and settings["csv"].get("decimal") == "." and "decimal" not in before.get("csv", {}):
        settings["csv"] = {name: x for name, x in settings["csv"].items() if name != "decimal"}
    columns = {name: dict(column) for name, column in settings["columns"].items()}
    for name, column in columns.items():
        known = _column(before.get("columns", {}).get(name))
        if known is None or known["type"] != column["type"]:
            continue
        column |= {setting: known[setting] for setting in ("step", "nullable") if setting in known}
        if "keys" in known and column["type"] not in LISTED:
            column["keys"] = known["keys"]
        if "bounds" in known and column["type"] not in BOUNDED:
            column["bounds"] = known["bounds"]
    return replace(made, settings={**settings, "columns": columns})


def unit_text(settings: Mapping[str, Any]) -> str:
    """What a section's budget protects, as the ledger records it.

    >>> unit_text({"unit": "row"}), unit_text({"unit": {"id": "row"}}), unit_text({"unit": "pid"})
    ('row', 'id: row', 'id: pid')
    """
    unit = settings["unit"]
    if isinstance(unit, Mapping):
        return f"id: {unit['id']}"
    return "row" if unit == "row" else f"id: {unit}"


def _column(stated: object) -> dict[str, Any] | None:
    if isinstance(stated, str):
        return {"type": stated}
    return dict(stated) if isinstance(stated, Mapping) else None


def _list(names: object, between: str = ", ") -> str:
    """A list as it is typed; refused where it would not be read back as it is: a space at an end, a comma inside."""
    found = [_text(name) for name in names] if isinstance(names, list) else []
    text = between.join(found)
    try:
        same = listed(text) == found
    except Mistyped:
        same = False
    if not same:
        raise _not_in_form()
    return text


def _not_in_form() -> InvalidParameter:
    return InvalidParameter(
        "This table is declared in a way that the form has no fields for.",
        fix="Change it in the study file.",
        code="not-in-form",
    )


def _text(value: object, mark: str = ".") -> str:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S")
    if isinstance(value, date):
        return value.isoformat()
    return "" if value is None else str(value).replace(".", mark) if isinstance(value, float) else str(value)
