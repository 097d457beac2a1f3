"""Every route and every role: a route without a row here fails, and so does a row without its route."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.routing import APIRoute

from curador.server.app import ROUTES, make_app
from curador.server.description import roles_of
from tests.server.served import SQL, Served, serving, write_study

ROLES = ("curator", "analyst", "auditor", "reader", None)
EVERYBODY: set[str | None] = set(ROLES)
MEMBERS: set[str | None] = {"curator", "analyst", "auditor"}
BUYERS: set[str | None] = {"curator", "analyst"}
OVERSEERS: set[str | None] = {"curator", "auditor"}
ASKED = {"sql": SQL, "epsilon": "0.01"}
QUESTIONS = {"questions": {"n": SQL}, "epsilon": "0.01"}

RECIPE = {
    "model": "GaussianNB", "table": "people", "features": ["age"], "label": "sex", "settings": {"epsilon": "0.01"},
}  # fmt: skip

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/health"): (EVERYBODY, None),
    ("GET", "/ready"): (EVERYBODY, None),
    ("GET", "/metrics"): (OVERSEERS, None),
    ("GET", "/v1/tables"): (MEMBERS, None),
    ("GET", "/v1/tables/{name}"): (MEMBERS, None),
    ("POST", "/v1/explain"): (BUYERS, ASKED),
    ("POST", "/v1/how-many"): (BUYERS, ASKED),
    ("POST", "/v1/ask"): (BUYERS, ASKED),
    ("POST", "/v1/batch/explain"): (BUYERS, QUESTIONS),
    ("POST", "/v1/batch"): (BUYERS, QUESTIONS),
    ("POST", "/v1/quality/explain"): (BUYERS, {"table": "people", "epsilon": "0.01"}),
    ("POST", "/v1/quality"): (BUYERS, {"table": "people", "epsilon": "0.01"}),
    ("GET", "/v1/releases"): (MEMBERS, None),
    ("GET", "/v1/releases/{id}"): ({*MEMBERS, "reader"}, None),
    ("POST", "/v1/releases/{id}/link"): ({"curator"}, {}),
    ("GET", "/v1/public"): ({*MEMBERS, "reader"}, None),
    ("GET", "/v1/public/{link}"): (EVERYBODY, None),
    ("GET", "/v1/me"): ({*MEMBERS, "reader"}, None),
    ("GET", "/v1/budget"): (MEMBERS, None),
    ("POST", "/v1/grants"): ({"curator"}, {"scope": "new", "epsilon": "0.1"}),
    ("POST", "/v1/revocations"): ({"curator"}, {"scope": "bea"}),
    ("POST", "/v1/tokens"): ({"curator"}, {"role": "reader"}),
    ("GET", "/v1/tokens"): (OVERSEERS, None),
    ("POST", "/v1/tokens/{id}/end"): ({"curator"}, {}),
    ("POST", "/v1/session"): (EVERYBODY, {"code": "cur_nothing"}),
    ("GET", "/v1/history"): (MEMBERS, None),
    ("GET", "/v1/decisions"): (OVERSEERS, None),
    ("POST", "/v1/ledger/verify"): (OVERSEERS, None),
    ("GET", "/v1/collect/{name}"): (EVERYBODY, None),
    ("OPTIONS", "/v1/collect/{name}"): (EVERYBODY, None),
    ("POST", "/v1/collect/{name}"): (EVERYBODY, None),
    ("POST", "/v1/prepared"): ({"curator"}, {"table": "people"}),
    ("POST", "/v1/fit/explain"): (BUYERS, RECIPE),
    ("POST", "/v1/fit"): (BUYERS, RECIPE),
    ("POST", "/v1/score"): (BUYERS, {"model": "999", "epsilon": "0.01"}),
    ("GET", "/v1/models/{id}"): (MEMBERS, None),
    ("POST", "/v1/audits/mechanism"): (OVERSEERS, {"kind": "laplace", "runs": 200}),
    ("GET", "/v1/jobs"): (MEMBERS, None),
    ("GET", "/v1/jobs/{job}"): (MEMBERS, None),
    ("POST", "/v1/jobs/{job}/cancel"): (MEMBERS, {}),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_study(tmp_path_factory.mktemp("study"))) as found:
        yield found


def _routes() -> dict[tuple[str, str], APIRoute]:
    return {(m, r.path): r for r in ROUTES for m in r.methods or ()}


def test_every_route_has_its_row_and_its_roles() -> None:
    routes = _routes()
    described = make_app(lambda _: pytest.fail("nothing is opened")).openapi()["paths"]
    served = {(method.upper(), path) for path, methods in described.items() for method in methods}
    assert set(routes) == served == set(MATRIX)
    for key, route in routes.items():
        found = roles_of(route)
        assert MATRIX[key][0] == (EVERYBODY if found is None else set(found)), key


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("key", MATRIX, ids=" ".join)
def test_each_role_may_do_what_is_its_own(served: Served, key: tuple[str, str], role: str | None) -> None:
    roles, body = MATRIX[key]
    method, path = key
    path = path.format(name="people", id="0" * 16 if "tokens" in path else "999", link="cur_nothing", job="0" * 32)
    with served.client("ana" if role == "analyst" else role) as client:
        answer = client.request(method, path, json=body)
    if role in roles:
        assert answer.status_code not in (403, 405, 500), answer.text
        if path != "/v1/session":
            assert answer.status_code != 401
    else:
        assert answer.status_code == (401 if role is None else 403)
        assert answer.json()["code"] == ("not-signed-in" if role is None else "not-allowed")
    assert answer.headers["cache-control"] == "no-store"


def test_tokens_that_open_nothing_are_refused_in_the_same_words(served: Served) -> None:
    ledger = served.curator.ledger
    ended, expired = served.give("curator"), served.give("curator", expires=datetime.now(UTC) - timedelta(seconds=1))
    once, link = served.give("curator", once=True), served.give("reader", charge="998")
    from curador.server.access.auth import digest

    ledger.end_access(digest(ended))
    seen = set()
    for token in (ended, expired, once, link, "cur_" + "x" * 43, "-", "cur_", "x" * 5000, "cur_ñ"):
        with served.client() as client:
            answer = client.get("/v1/tables", headers={b"Authorization": f"Bearer {token}".encode()})
        assert answer.status_code == 401
        seen.add((answer.json()["detail"], answer.json()["code"]))
    assert len(seen) == 1


def test_a_code_is_exchanged_once(served: Served) -> None:
    code = served.give("curator", once=True)
    with served.client() as client:
        first = client.post("/v1/session", json={"code": code})
        assert first.status_code == 201
        assert client.post("/v1/session", json={"code": code}).status_code == 401
        token = {"Authorization": f"Bearer {first.json()['token']}"}
        assert client.get("/v1/tokens", headers=token).status_code == 200


def test_an_analysts_token_names_the_analyst_and_ends_with_the_budget(served: Served) -> None:
    with served.client("curator") as client:
        assert client.post("/v1/tokens", json={"role": "analyst"}).status_code == 422
        assert client.post("/v1/tokens", json={"role": "analyst", "analyst": "nobody"}).status_code == 404
        assert client.post("/v1/tokens", json={"role": "analyst", "analyst": "people"}).status_code == 422
        assert client.post("/v1/tokens", json={"role": "reader", "analyst": "ana"}).status_code == 422
        client.post("/v1/grants", json={"scope": "eva", "epsilon": "0.5", "because": "a trial"})
        made = client.post("/v1/tokens", json={"role": "analyst", "analyst": "eva", "label": "laptop"}).json()
    with served.client() as client:
        own = {"Authorization": f"Bearer {made['token']}"}
        assert client.post("/v1/ask", json={**ASKED, "epsilon": "0.02"}, headers=own).status_code == 200
        served.curator.revoke("eva")
        refused = client.post("/v1/ask", json={**ASKED, "epsilon": "0.03"}, headers=own)
        assert (refused.status_code, refused.json()["code"]) == (402, "budget-closed")
        listed = next(t for t in served.curator.ledger.accesses() if t.label == "laptop")
    with served.client("curator") as client:
        assert client.post(f"/v1/tokens/{listed.id}/end", json={}).json()["ended"]
    with served.client() as client:
        assert client.get("/v1/tables", headers=own).status_code == 401


def test_a_link_shows_one_release_to_anybody(served: Served) -> None:
    with served.client("curator") as client:
        bought = client.post("/v1/ask", json={**ASKED, "epsilon": "0.05"}).json()
        kept = client.post("/v1/ask", json={**ASKED, "epsilon": "0.06"}).json()
        link = client.post(f"/v1/releases/{bought['charge']}/link", json={}).json()["link"]
    with served.client() as client:
        assert client.get(link).json()["columns"] == bought["columns"]
        assert client.get("/v1/public/cur_other").status_code == 404
    with served.client("reader") as client:
        assert bought["charge"] in client.get("/v1/public").json()["releases"]
        assert client.get(f"/v1/releases/{bought['charge']}").json()["columns"] == bought["columns"]
        assert client.get(f"/v1/releases/{kept['charge']}").status_code == 404
