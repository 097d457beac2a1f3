"""The server against its own OpenAPI description: no failure, no response that is not described, whoever asks."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from curador.local import KRR
from curador.local.collect.collector import Collector
from curador.server.answers import ANSWERS
from curador.server.app import ROUTES, make_app
from tests.server.served import SQL, STUDY, Served, serving, write_study

LEFT_OUT = "positive_data_acceptance,ignored_auth"
"""A text that is no SQL is described and refused; and without a token some routes are open, as they say."""

REFUSED = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 402, 403, 404, 405, 409, 413, 422, 429]
"""
"""How what is not described may be refused: the usual statuses, and 413 where a stranger sends much; no 5xx."""

ROLES = ("curator", "ana", None)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """With a task that devices report to."""
    import_module("curador.learn.recipe")  # here, since its first request would wait for it, and Schemathesis does not
    Collector.create(tmp_path / "drinks", KRR(keys=["tea", "coffee"], epsilon=3).named("drinks"))
    study = write_study(tmp_path, study=f'{STUDY}collect = {{ hot = "drinks" }}\n')
    with serving(study, per_token=10**6, per_address=10**6, tick="1ms") as found:
        yield found


def described(served: Served, who: str | None, folder: Path, *options: str) -> None:
    """Schemathesis sends what the description allows and what it does not; the same every time."""
    (folder / "schemathesis.toml").write_text(REFUSED)
    shown = [] if who is None else ["-H", f"Authorization: Bearer {served.tokens[who]}"]
    program = str(Path(sys.executable).with_name("schemathesis"))
    same = ["--seed=1", "--generation-deterministic", f"--exclude-checks={LEFT_OUT}"]
    command = [program, "run", f"{served.url}/v1/openapi.json", *shown, *same, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout[-6000:]
    assert f"Tested: {sum(len(route.methods or ()) for route in ROUTES)}" in done.stdout


def test_every_body_has_an_example() -> None:
    described = make_app(lambda _: pytest.fail("nothing is opened")).openapi()
    named = {
        schema["$ref"].rpartition("/")[2]
        for methods in described["paths"].values()
        for operation in methods.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
        if "$ref" in (schema := content["schema"])
    }
    assert len(named) > 10
    assert [name for name in sorted(named) if not described["components"]["schemas"][name].get("examples")] == []


def test_answers_have_the_fields_that_are_described(served: Served) -> None:
    """Each answer its fields and no others, and the example as many."""
    asked = {"sql": SQL, "epsilon": "0.1"}
    batch = {"questions": {"sexes": SQL}, "epsilon": "0.1"}
    quality = {"table": "people", "columns": ["age"], "epsilon": "0.1"}
    sent: dict[str, dict[str, Any] | None] = {
        "/v1/explain": asked,
        "/v1/ask": asked,
        "/v1/how-many": asked,
        "/v1/batch/explain": batch,
        "/v1/batch": batch,
        "/v1/quality/explain": quality,
        "/v1/quality": quality,
        "/v1/budget": None,
        "/v1/history": None,
    }
    with served.client("ana") as client:
        schemas = client.get("/v1/openapi.json").json()["components"]["schemas"]
        for (method, path), answer in ANSWERS.items():
            if path not in sent:
                continue
            found = client.request(method, path, json=sent[path]).json()
            schema = schemas[answer["$ref"].rpartition("/")[2]]
            (example,) = schema["examples"]
            assert set(found) == set(schema["properties"]) == set(example), path
            for name in ("budgets", "charges"):
                if name in found:
                    assert set(found[name][0]) == set(example[name][0])
        again = client.get("/v1/releases/1").json()
        assert set(again) == set(schemas["Release"]["required"])


def test_the_description_as_a_page_is_for_anybody_and_needs_no_network(served: Served) -> None:
    with served.client() as client:
        pages = {code: client.get("/docs", headers={"Accept-Language": code}) for code in ("en", "es")}
    assert pages["en"].status_code == 200
    assert "default-src 'none'" in pages["en"].headers["content-security-policy"]
    for text in (one.text for one in pages.values()):
        assert not re.search(r"(src|href)=.(https?:)?//|<script>|\sstyle=|\son[a-z]+=", text)
        shown = set(re.findall(r"<h3><code>(\w+ \S+)</code></h3>", text))
        assert shown == {f"{method} {route.path}" for route in ROUTES for method in route.methods or ()}
        assert {"Release", "Explanation", "Problem"} <= set(re.findall(r'<h3 id="(\w+)">', text))
    assert "La interfaz HTTP" in pages["es"].text


MALFORMED: dict[str, tuple[Any, str]] = {
    "unknown": ({"sq": SQL}, "unknown field `sq`: did you mean `sql`?"),
    "inside": ({"sql": SQL, "accuracy": {"error": 1, "confidense": 0.9}}, "`accuracy.confidense`: did you mean"),
    "example": ({"sql": SQL, "accuracy": 0.5}, '`accuracy` takes {"error": 0.5}.'),
    "amount": ({"sql": SQL, "epsilon": [1]}, "`epsilon` takes a number or a text."),
    "short": ({"sql": SQL, "key": ""}, "`key` needs at least 1 character."),
    "choice": ({"sql": SQL, "noise": "cauchy"}, "`noise` must be 'laplace' or 'gaussian'."),
    "least": ({"sql": SQL, "rows": 0}, "`rows` must be at least 1."),
    "none": (None, "there is no body."),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_body_that_is_wrong_is_told_in_a_sentence(served: Served, name: str) -> None:
    body, told = MALFORMED[name]
    with served.client("ana") as client:
        found = client.post("/v1/ask", json=body) if body is not None else client.post("/v1/ask")
    assert (found.status_code, found.json()["code"], found.json()["fix"]) == (422, "malformed", "See /docs.")
    assert told in found.json()["detail"]
    assert "cauchy" not in found.text  # no value is quoted


def test_what_is_no_json_is_told_with_its_place(served: Served) -> None:
    with served.client("ana") as client:
        found = client.post(
            "/v1/ask", content='{"sql": "x",\n "epsilon" 1}', headers={"Content-Type": "application/json"}
        )
        bare = client.post("/v1/ask", content='{"sql": "x"}')
    assert (found.status_code, found.json()["code"]) == (400, "not-json")
    assert found.json()["detail"] == "The request is not JSON: Expecting ':' delimiter at line 2, column 12."
    assert "sent as application/json" in bare.json()["detail"]


@pytest.mark.parametrize("who", ROLES)
def test_some_responses_are_as_described(served: Served, who: str | None, tmp_path: Path) -> None:
    described(served, who, tmp_path, "--phases=fuzzing", "--max-examples=2")


@pytest.mark.slow
@pytest.mark.parametrize("who", ROLES)
def test_every_response_is_as_described(served: Served, who: str | None, tmp_path: Path) -> None:
    described(served, who, tmp_path, "--phases=coverage,fuzzing,stateful", "--max-examples=25")
