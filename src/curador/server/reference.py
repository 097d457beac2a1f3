"""The page docs/reference/http.md, made of the OpenAPI description: ``python -m curador.server.reference > …``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from curador.server.app import OPENAPI, make_app

HEAD = f"""\
# The HTTP interface

This page is made from the description that a server gives at `{OPENAPI}`, by `python -m curador.server.reference`; a
test compares them. How to start one: [serve a study](../how-to/serve-a-study.md).

A request carries a token, `Authorization: Bearer cur_…`, and JSON. An amount is a number or a text: `0.1`, `"1/10"`. A
body with a field that is not listed is refused. Every refusal is `application/problem+json` with the fields `code`
(stable), `detail` (what happened), `fix` (what to do), `cost` (what it cost), `facts` and `request` (its name in the
log). What they stand for: [errors](errors.md).

| status | |
|---|---|
| 202 | long work was begun: the answer is a job |
| 400, 422 | the request, or the question, is refused; nothing was spent |
| 401, 403 | no valid token; a token of another role |
| 402 | the budget does not cover it |
| 404 | not there, or another's: the same answer |
| 408, 413, 429 | too slow, too large, too many |
| 409 | the key belongs to another request |
| 500 | it failed; what was charged stays charged, and the same words for every reason |
| 503 | the ledger does not answer |

**Ticks.** What may read data (`ask`, `batch`, `quality`) answers at the next tick; what the caller bought before that, and
what the question alone refuses, leaves at once. Whether a purchase of an analyst's own was answered (`history`, `releases`,
`models`) is read at a tick, and a job is done from the tick after its end. [Why](../proofs/clock.md).

**Keys.** A purchase with a `key` is bought once, however often it is sent.
"""

AMOUNT = ["integer", "number", "text"]
FEW = 3
"""Fields that are listed again rather than looked up."""

TITLES = {
    "tables": "Tables",
    "asking": "Questions and batches",
    "models": "Models",
    "releases": "Releases",
    "people": "Budgets and tokens",
    "ledger": "The ledger and prepared copies",
    "audits": "Audits",
    "jobs": "Jobs",
    "collect": "Local reports",
    "health": "Health",
}


def page() -> str:
    """The whole page."""
    described = make_app(_nothing).openapi()
    found: dict[str, list[str]] = {tag: [] for tag in TITLES}
    told: dict[str, str] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            found.setdefault(operation["tags"][0], []).append(_route(method, path, operation, described, told))
    parts = [f"## {TITLES.get(tag, tag)}\n\n" + "\n".join(routes) for tag, routes in found.items() if routes]
    return "\n".join([HEAD, *parts])


def _nothing(_: object) -> Any:
    raise AssertionError("a description opens no study")


def _route(
    method: str, path: str, operation: Mapping[str, Any], described: Mapping[str, Any], told: dict[str, str]
) -> str:
    """One route; fields that were listed before, by ``told``, are not listed again."""
    roles = operation.get("x-roles")
    who = "anybody" if roles is None else ", ".join(roles)
    lines = [f"### `{method.upper()} {path}`", "", " ".join(operation["description"].split()), "", f"For: {who}.", ""]
    asked = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    rows = [*_parameters(operation, described), *([] if asked is None else _fields(asked, described))]
    before = told.setdefault("\n".join(rows), f"{method.upper()} {path}")
    if len(rows) > FEW and before != f"{method.upper()} {path}":
        lines += [f"The fields are those of `{before}`.", ""]
    elif rows:
        lines += ["| field | | default | |", "|---|---|---|---|", *rows, ""]
    if asked is not None and (examples := _resolved(asked, described).get("examples")):
        lines += ["```json", json.dumps(examples[0], ensure_ascii=False), "```", ""]
    return "\n".join(lines)


def _parameters(operation: Mapping[str, Any], described: Mapping[str, Any]) -> Iterator[str]:
    for one in operation.get("parameters", ()):
        kind = f"{_kind(one['schema'], described)}, in the {one['in']}"
        default = one["schema"].get("default", "needed" if one.get("required") else "")
        yield f"| `{one['name']}` | {kind} | {default} | {one.get('description', '')} |"


def _fields(schema: Mapping[str, Any], described: Mapping[str, Any]) -> Iterator[str]:
    found = _resolved(schema, described)
    for name, field in found.get("properties", {}).items():
        default = "needed" if name in found.get("required", ()) else _shown(field.get("default"))
        yield f"| `{name}` | {_kind(field, described)} | {default} | {field.get('description', '')} |"


def _shown(default: object) -> str:
    return "" if default in (None, "", [], {}) else f"`{json.dumps(default)}`"


def _resolved(schema: Mapping[str, Any], described: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Mapping[str, Any] = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _kind(schema: Mapping[str, Any], described: Mapping[str, Any]) -> str:
    """A type in a few words."""
    if "$ref" in schema:
        inside = _resolved(schema, described)
        return "{" + ", ".join(inside.get("properties", ())) + "}"
    if "anyOf" in schema:
        kinds = [kind for one in schema["anyOf"] if (kind := _kind(one, described)) != "null"]
        return "amount" if kinds == AMOUNT else " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}), described)}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_kind(schema['additionalProperties'], described)}"
    return {"string": "text", "boolean": "true or false"}.get(kind := str(schema.get("type", "anything")), kind)


if __name__ == "__main__":
    print(page(), end="")
