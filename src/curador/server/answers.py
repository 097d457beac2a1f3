"""What requests are answered with, as the OpenAPI description says it: schemas with examples.

A field that is not required is not in every answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]


def _of(kind: str, told: str = "", **more: Any) -> Schema:
    return {"type": kind, **({"description": told} if told else {}), **more}


def _or_null(kind: str, told: str = "") -> Schema:
    return {"anyOf": [{"type": kind}, {"type": "null"}], "description": told}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: Schema, told: str = "") -> Schema:
    return _of("array", told, items=items)


def _by_name(values: Schema, told: str = "") -> Schema:
    return _of("object", told, additionalProperties=values)


def _record(told: str, example: Mapping[str, Any], properties: Mapping[str, Schema], *optional: str) -> Schema:
    """An object whose fields are all there, but for the optional ones."""
    required = [name for name in properties if name not in optional]
    return _of("object", told, required=required, properties=dict(properties), examples=[dict(example)])


PURE = {"kind": "pure", "epsilon": 0.1}
LEFT = {"ana": {"kind": "approximate", "epsilon": 9.9, "delta": 1e-07}}
COVERS = {"code": "covers", "text": "An interval covers the statistic as it was protected: values clipped to …"}
SEALED = "c4e60ab6d6c48235b39f2fef1d2d40c2…"

REMAINING = _by_name(_ref("Guarantee"), "What remains of the caller's budget, by its name, once the answer leaves.")
GUARANTEE = _ref("Guarantee")
TEXTS = _list(_of("string"))
NOTES = _list(_of("object"), "What to know when reading it: each a stable code, and here its text.")
LANGUAGE = _of("string", "Of the texts.")
NEIGHBORS = _of("string", "add-remove, or replace-one.")
UNIT = _or_null("string", "The column that names whom it protects; null for single rows.")
CHARGE = _of("string", "The charge that bought it: its id in the history.")
SEAL = _of("string", "By which the curator knows it again; empty where the ledger is in memory.")
QUESTION = _of("object", "What was asked, as the Python client builds it.")
CONFIDENCE = _of("number", "How often intervals hold the true value.")
REPEATED = _of("boolean", "Whether it was bought before, and was free now.")
FITS = {
    "anyOf": [{"type": "integer"}, {"type": "null"}],
    "description": "How many such still fit; null where it is free.",
}

RELEASE: dict[str, Schema] = {
    "columns": _by_name({"type": "array"}, "The noised answer: for each column a value for each row."),
    "dates": _list(_of("string"), "The columns that hold dates."),
    "groups": _list(_of("string"), "The columns that name the groups."),
    "intervals": _by_name({"type": "array"}, "For columns of numbers the two ends of each value's interval."),
    "ranks": _of("object", "For quantiles, between which ranks each value lies."),
    "confidence": CONFIDENCE,
    "guarantee": GUARANTEE,
    "neighbors": NEIGHBORS,
    "unit": UNIT,
    "charge": CHARGE,
    "question": QUESTION,
    "notes": NOTES,
    "rehearsal": _of("boolean", "Whether it was made from made-up rows."),
    "language": LANGUAGE,
    "seal": SEAL,
    "repeated": REPEATED,
    "remaining": REMAINING,
}
RELEASED = {
    "columns": {"sex": ["F", "M"], "n": [205, 201]},
    "dates": [],
    "groups": ["sex"],
    "intervals": {"n": [[175.0, 235.0], [171.0, 231.0]]},
    "ranks": {},
    "confidence": 0.95,
    "guarantee": PURE,
    "neighbors": "add-remove",
    "unit": None,
    "charge": "1",
    "question": {"table": "people", "group_by": [{"name": "sex"}]},
    "notes": [COVERS],
    "rehearsal": False,
    "language": "en",
    "seal": SEALED,
    "repeated": False,
    "remaining": LEFT,
}

SHOWN_AGAIN = ("repeated", "remaining")
"""Fields of what is bought; what is shown again by its charge has none."""

SCHEMAS: dict[str, Schema] = {
    "Guarantee": _record(
        "A guarantee or a budget: its kind, and its epsilon and delta, or rho.",
        PURE,
        {
            "kind": _of("string", "pure, approximate, zcdp, …"),
            "epsilon": {"description": "The privacy loss."},
            "delta": {"description": "Beside epsilon or rho."},
            "rho": {"description": "Of zero-concentrated privacy."},
        },
        *("epsilon", "delta", "rho"),
    ),
    "Release": _record(
        "A noised answer, with what it promises and how wrong it may be.", RELEASED, RELEASE, *SHOWN_AGAIN
    ),
    "Publication": _record(
        "Several answers, bought with one charge.",
        {
            "releases": {"sexes": {name: x for name, x in RELEASED.items() if name not in SHOWN_AGAIN}},
            "guarantee": PURE,
            "tight": {"kind": "approximate", "epsilon": 0.1, "delta": 1e-06},
            "charge": "1",
            "notes": [],
            "language": "en",
            "words": {"questions": {"sexes": {"sql": "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"}}},
            "seal": SEALED,
            "repeated": False,
            "remaining": LEFT,
        },
        {
            "releases": _by_name(_ref("Release"), "Each answer by the name of its question."),
            "guarantee": GUARANTEE,
            "tight": {"anyOf": [GUARANTEE, {"type": "null"}], "description": "A smaller guarantee of all together."},
            "charge": CHARGE,
            "notes": NOTES,
            "language": LANGUAGE,
            "words": _of("object", "What was asked, and what readers are told of it."),
            "seal": SEAL,
            "repeated": REPEATED,
            "remaining": REMAINING,
        },
        *SHOWN_AGAIN,
    ),
    "Explanation": _record(
        "What an answer would do and cost, and how wrong it would be; free, and the same whatever the data is.",
        {
            "question": {"table": "people", "group_by": [{"name": "sex"}]},
            "tables": ["people"],
            "neighbors": "add-remove",
            "unit": None,
            "contribution": {"groups": 1, "rows": 1},
            "total": None,
            "per_unit": False,
            "where": None,
            "groups": ["sex"],
            "keys": 2,
            "sets": [],
            "budget": PURE,
            "guarantee": PURE,
            "event": {"kind": "composed", "parts": []},
            "confidence": 0.95,
            "rows": 100,
            "prepared": False,
            "steps": [
                {"step": "noise", "measure": "rows", "mechanism": "integer-laplace", "scale": 10.0, "share": "1"}
            ],
            "expected": [{"output": "n", "error": 30.0, "unit": "", "confidence": 0.95}],
            "notes": [{"code": "covers"}],
            "shared": [],
            "text": "table      people\n…",
            "remaining": LEFT,
        },
        {
            "question": QUESTION,
            "tables": TEXTS,
            "neighbors": NEIGHBORS,
            "unit": UNIT,
            "contribution": {"description": "How many groups, and rows in each, of one unit count."},
            "total": {"description": "How many rows of one unit count in all."},
            "per_unit": _of("boolean", "Whether rows are combined for each unit first."),
            "where": {"description": "The condition, in words."},
            "groups": TEXTS,
            "keys": _or_null("integer", "How many groups are public; null where they are selected privately."),
            "sets": _of("array", "The grouping sets, where there are several."),
            "budget": GUARANTEE,
            "guarantee": GUARANTEE,
            "event": _of("object", "What is charged, for accountants."),
            "confidence": CONFIDENCE,
            "rows": _or_null("integer", "How many rows errors are expected for, where that was said."),
            "prepared": _of("boolean", "Whether a prepared copy answers it."),
            "steps": _list(_of("object"), "What is paid for: each measure, its mechanism, noise and share."),
            "expected": _list(_of("object"), "For each output, the error that is expected at that confidence."),
            "notes": NOTES,
            "shared": _list(_of("object"), "What the caller bought before of it, by which charge."),
            "text": _of("string", "All of it in words."),
            "remaining": REMAINING,
        },
    ),
    "BatchExplanation": _record(
        "What several answers together would cost; free.",
        {
            "guarantee": PURE,
            "tight": None,
            "questions": {},
            "text": "costs      epsilon 0.1, once, for all or nothing\n…",
            "fits": 93,
            "remaining": LEFT,
        },
        {
            "guarantee": GUARANTEE,
            "tight": {"anyOf": [GUARANTEE, {"type": "null"}], "description": "A smaller guarantee of all together."},
            "questions": _by_name(_of("object"), "Each as an explanation, by its name."),
            "text": _of("string", "All of it in words."),
            "fits": FITS,
            "remaining": REMAINING,
        },
    ),
    "Fits": _record(
        "How many such answers still fit.", {"fits": 92, "remaining": LEFT}, {"fits": FITS, "remaining": REMAINING}
    ),
    "Budgets": _record(
        "Budgets: what they allow, and what was spent of it.",
        {
            "budgets": [
                {
                    "scope": "ana",
                    "budget": {"kind": "approximate", "epsilon": 10.0, "delta": 1e-07},
                    "spent": {"kind": "approximate", "epsilon": 0.1, "delta": 0.0},
                    "remaining": LEFT["ana"],
                    "neighbors": "add-remove",
                    "closed": False,
                    "expires": None,
                    "text": "ana: epsilon 0.1 spent of 10, 9.9 remaining; …",
                }
            ]
        },
        {"budgets": _list(_of("object"))},
    ),
    "Charges": _record(
        "Charges, oldest first.",
        {
            "charges": [
                {
                    "id": "1",
                    "at": "2026-11-18T19:31:24.691666+00:00",
                    "scopes": ["population", "ana", "people"],
                    "receiver": "ana",
                    "guarantee": PURE,
                    "event": {"kind": "composed", "parts": []},
                    "asked": "count() of people by sex",
                    "because": "the yearly report",
                    "settled": True,
                    "repeated": False,
                }
            ]
        },
        {"charges": _list(_of("object"))},
    ),
}

ANSWERS: dict[tuple[str, str], Schema] = {
    ("post", "/v1/explain"): _ref("Explanation"),
    ("post", "/v1/ask"): _ref("Release"),
    ("post", "/v1/how-many"): _ref("Fits"),
    ("post", "/v1/batch"): _ref("Publication"),
    ("post", "/v1/batch/explain"): _ref("BatchExplanation"),
    ("post", "/v1/quality"): _ref("Release"),
    ("post", "/v1/quality/explain"): _ref("BatchExplanation"),
    ("get", "/v1/releases/{id}"): {"anyOf": [_ref("Release"), _ref("Publication")]},
    ("get", "/v1/public/{link}"): {"anyOf": [_ref("Release"), _ref("Publication")]},
    ("get", "/v1/budget"): _ref("Budgets"),
    ("get", "/v1/history"): _ref("Charges"),
}
"""What a successful request is answered with; other answers are small, and described in words."""
