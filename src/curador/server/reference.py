"""The page docs/reference/http.md, made of the OpenAPI description: ``python -m curador.server.reference > …``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from curador.server.answers import SCHEMAS

HEAD = """\
# The HTTP interface

This page is made from the description that a server gives at `/v1/openapi.json`, and as a page at `/docs`, by
`python -m curador.server.reference`; a test compares them. [Serve a study](../how-to/serve-a-study.md) starts a server.

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

**Ticks.** What may read data (`ask`, `batch`, `quality`) answers at the next tick; what the caller bought before and
what the question alone refuses leaves at once. Whether a purchase of an analyst's own was answered (`history`,
`releases`, `models`) is read at a tick, and a job is done from the tick after its end. [Why](../proofs/clock.md).

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


@dataclass(frozen=True)
class Listed:
    """Fields, each as its name, kind, default and what it means; or where the same are listed, and an example."""

    rows: tuple[tuple[str, str, str, str], ...] = ()
    before: str = ""
    example: str = ""


@dataclass(frozen=True)
class Route:
    """One route as people read of it; ``answers`` are the names of what it answers with."""

    name: str
    about: str
    roles: tuple[str, ...]
    asked: Listed
    answers: tuple[str, ...]


def sections(described: Mapping[str, Any]) -> dict[str, list[Route]]:
    """The routes of a description, by the heading that they stand below."""
    found: dict[str, list[Route]] = {title: [] for title in TITLES.values()}
    told: dict[object, str] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            tag = operation["tags"][0]
            found.setdefault(TITLES.get(tag, tag), []).append(_route(method, path, operation, described, told))
    return {title: routes for title, routes in found.items() if routes}


def answers(described: Mapping[str, Any]) -> dict[str, tuple[str, Listed]]:
    """What routes answer with, by its name: what it is, and its fields."""
    found = {}
    for name in (*SCHEMAS, "Problem"):
        schema = described["components"]["schemas"][name]
        fields = ((*one[:2], "" if one[2] else "not always", one[3]) for one in _fields(schema, described))
        found[name] = schema["description"], Listed(tuple(fields), "", _example(schema))
    return found


def page() -> str:
    """The whole page as Markdown."""
    from curador.server.app import make_app

    described = make_app(_nothing).openapi()
    parts = [f"## {title}\n\n" + "\n".join(map(_written, routes)) for title, routes in sections(described).items()]
    shapes = [
        f"### {name}\n\n{about}\n\n" + "\n".join(_listed(fields, ""))
        for name, (about, fields) in answers(described).items()
    ]
    return "\n".join([HEAD, *parts, "## Answers\n", *shapes])


def _nothing(_: object) -> Any:
    raise AssertionError("a description opens no study")


def _route(
    method: str, path: str, operation: Mapping[str, Any], described: Mapping[str, Any], told: dict[object, str]
) -> Route:
    """One route; fields that were listed before, by ``told``, are not listed again."""
    name = f"{method.upper()} {path}"
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    rows = (*_parameters(operation, described), *(() if schema is None else _fields(schema, described)))
    before = told.setdefault(rows, name)
    again = before if len(rows) > FEW and before != name else ""
    asked = Listed(rows, again, "" if schema is None else _example(_resolved(schema, described)))
    answered = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema", {})
    names = tuple(one["$ref"].rpartition("/")[2] for one in answered.get("anyOf", [answered]) if "$ref" in one)
    about = " ".join(operation["description"].split())
    return Route(name, about, tuple(operation.get("x-roles", ("anybody",))), asked, names)


def _example(schema: Mapping[str, Any]) -> str:
    found = schema.get("examples")
    return json.dumps(found[0], ensure_ascii=False) if found else ""


def _written(route: Route) -> str:
    told = [f"For: {', '.join(route.roles)}."]
    if route.answers:
        told.append(f"Answers with {' or '.join(f'[{name}](#{name.lower()})' for name in route.answers)}.")
    return "\n".join([f"### `{route.name}`", "", route.about, "", " ".join(told), "", *_listed(route.asked)])


def _listed(found: Listed, when: str = "default") -> Iterator[str]:
    if found.before:
        yield from (f"The fields are those of `{found.before}`.", "")
    elif found.rows:
        yield from (f"| field | | {when} | |", "|---|---|---|---|")
        yield from (f"| `{name}` | {kind} | {default} | {about} |" for name, kind, default, about in found.rows)
        yield ""
    if found.example:
        yield from ("```json", found.example, "```", "")


def _parameters(operation: Mapping[str, Any], described: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for one in operation.get("parameters", ()):
        kind = f"{_kind(one['schema'], described)}, in the {one['in']}"
        default = one["schema"].get("default", "needed" if one.get("required") else "")
        yield one["name"], kind, str(default), one.get("description", "")


def _fields(schema: Mapping[str, Any], described: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    found = _resolved(schema, described)
    for name, field in found.get("properties", {}).items():
        default = "needed" if name in found.get("required", ()) else _shown(field.get("default"))
        about = field.get("description", "") or _resolved(field, described).get("description", "")
        yield name, _kind(field, described), default, about


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
