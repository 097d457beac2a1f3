"""The page of the HTTP interface is the description of the application, and its examples are accepted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import curador.server.bodies as bodies
from curador.server.app import ROUTES
from curador.server.bodies import Body
from curador.server.reference import page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "http.md"
EXAMPLES = {
    name: body
    for name, body in vars(bodies).items()
    if isinstance(body, type) and issubclass(body, Body) and "examples" in body.model_json_schema()
}


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "python -m curador.server.reference > docs/reference/http.md"


def test_the_page_has_every_route_and_every_body_an_example() -> None:
    shown = set(re.findall(r"^### `(\w+ \S+)`$", PAGE.read_text(), re.MULTILINE))
    assert shown == {f"{method} {route.path}" for route in ROUTES for method in route.methods or ()}
    taken = {field.field_info.annotation for route in ROUTES for field in route.dependant.body_params}
    assert {body.__name__ for body in taken if isinstance(body, type)} <= {*EXAMPLES, "LinkBody"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_a_body(name: str) -> None:
    (example,) = EXAMPLES[name].model_json_schema()["examples"]
    assert EXAMPLES[name].model_validate(example)
