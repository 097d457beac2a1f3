"""Every page and every role: a route without a row fails, and so does a row without its route.

The rows of a page stand in its own test, as MATRIX: (method, path) to the roles that may, and a form to send.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from curador.server.app import PAGES
from curador.server.console.genuine import genuine
from curador.server.description import roles_of
from tests.server.console.browsing import visitor
from tests.server.served import Served

ROLES = ("curator", "analyst", "auditor", "reader", None)
EVERYBODY: set[str | None] = set(ROLES)

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/"): (EVERYBODY, None),
    ("GET", "/docs"): (EVERYBODY, None),
    ("GET", "/console"): (EVERYBODY, None),
    ("GET", "/console/"): (EVERYBODY, None),
    ("GET", "/console/static/{version}/{name}"): (EVERYBODY, None),
    ("GET", "/console/sign-in"): (EVERYBODY, None),
    ("POST", "/console/sign-in"): (EVERYBODY, {"token": "cur_nothing"}),
    ("GET", "/console/start"): (EVERYBODY, None),
    ("POST", "/console/start"): (EVERYBODY, {"code": "cur_nothing"}),
    ("POST", "/console/sign-out"): (EVERYBODY, {}),
    ("GET", "/console/password"): (EVERYBODY - {None}, None),
    ("POST", "/console/password"): (EVERYBODY - {None}, {"old": "nothing"}),
    ("GET", "/console/tables/new"): ({"curator"}, None),
    ("POST", "/console/tables/new"): ({"curator"}, {"source": "nothing.csv"}),
    ("GET", "/console/tables/change"): ({"curator"}, None),
    ("POST", "/console/tables/change"): ({"curator"}, {"table": "nothing"}),
    ("GET", "/console/tables/withdraw"): ({"curator"}, None),
    ("POST", "/console/tables/withdraw"): ({"curator"}, {"table": "nothing"}),
    ("POST", "/console/tables/upload"): ({"curator"}, {"a": "nothing"}),
    ("POST", "/console/tables/upload-form"): ({"curator"}, {"a": "nothing"}),
    ("POST", "/console/preferences"): (EVERYBODY, {"theme": "dark"}),
}
for file in sorted((Path(__file__).parent / "pages").glob("test_*.py")):
    MATRIX |= getattr(import_module(f"tests.server.console.pages.{file.stem}"), "MATRIX", {})


def test_every_page_has_its_row_and_its_roles() -> None:
    routes = {(method, route.path): route for route in PAGES for method in route.methods or ()}
    assert set(routes) == set(MATRIX)
    for key, route in routes.items():
        found = roles_of(route)
        assert MATRIX[key][0] == (EVERYBODY if found is None else set(found)), key
        if key[0] != "GET":
            assert genuine in [one.call for one in route.dependant.dependencies], key


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("key", MATRIX, ids=" ".join)
def test_each_role_sees_what_is_its_own(served: Served, key: tuple[str, str], role: str | None) -> None:
    (method, path), (roles, form) = key, MATRIX[key]
    path = path.format_map(Stand())
    with visitor(served, "ana" if role == "analyst" else role) as client:
        answer = client.request(method, path, data=form)
    to_sign_in = answer.status_code == 303 and answer.headers["location"].startswith("/console/sign-in")
    if role in roles:
        assert answer.status_code not in (405, 500), answer.text
        if form is None or "nothing" not in str(form):
            assert answer.status_code != 403
        assert not to_sign_in or path == "/console/sign-out"
    elif role is None:
        assert to_sign_in
    else:
        assert answer.status_code == 403
        assert answer.headers["content-type"].startswith("text/html")
    if answer.status_code != 303:
        assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"


class Stand(dict[str, str]):
    """Something for every blank of a path that is not there."""

    def __missing__(self, name: str) -> str:
        return "999"
