"""The OpenAPI description: answers and refusals have their shapes, and every route says whose token opens it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from curador.server.answers import ANSWERS, SCHEMAS
from curador.server.gate.problems import MEDIA
from curador.server.service import Allowed

ABOUT = """\
Statistics about people, with a guarantee for each of them: every answer is charged to a budget, and has noise added.

A request carries a token, `Authorization: Bearer cur_…`, and JSON. `POST /v1/explain` says what an answer would cost
and how wrong it would be: free, and without the data. `POST /v1/ask` pays for it; with a `key`, sending the request
again never buys twice. An amount is a number or a text: `0.1`, `"1/10"`. Every refusal says what happened, what to do
and what it cost.

The same as a page: `/docs`.
"""

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "A refusal: what happened, what to do, what it cost [RFC 9457].",
    "required": ["type", "title", "status", "detail", "code", "fix", "cost", "facts", "request"],
    "examples": [
        {
            "type": "urn:curador:malformed",
            "title": "InvalidParameter",
            "status": 422,
            "detail": "The request is not as described: unknown field `sq`: did you mean `sql`?",
            "code": "malformed",
            "fix": "See /docs.",
            "cost": "nothing was drawn, nothing was spent",
            "facts": {},
            "request": "1f0c7a92be3d4456",
        }
    ],
    "properties": {
        **{name: {"type": "string"} for name in ("type", "title", "detail", "code", "fix", "cost", "request")},
        "status": {"type": "integer"},
        "facts": {"type": "object"},
    },
}


def described(app: FastAPI, routes: list[APIRoute]) -> dict[str, Any]:
    """The description of the application, made once."""
    if app.openapi_schema is not None:
        return app.openapi_schema
    found = get_openapi(title=app.title, version=app.version, description=ABOUT, routes=app.routes)
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    schemas |= {"Problem": PROBLEM, **SCHEMAS}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    roles = {(method.lower(), route.path): roles_of(route) for route in routes for method in route.methods or ()}
    refused = {
        "description": "A refusal",
        "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = refused
            if (answer := ANSWERS.get((method, path))) is not None:
                operation["responses"]["200"]["content"]["application/json"]["schema"] = answer
            if (allowed := roles[method, path]) is not None:
                operation["security"] = [{"token": []}]
                operation["x-roles"] = list(allowed)
    app.openapi_schema = found
    return found


def roles_of(route: APIRoute) -> tuple[str, ...] | None:
    """The roles that a route is for; None where nobody is asked for a token."""
    found = [d.call.roles for d in route.dependant.dependencies if isinstance(d.call, Allowed)]
    return found[0] if found else None
