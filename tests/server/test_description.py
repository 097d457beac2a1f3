"""The server against its own OpenAPI description: no failure, no response that is not described, whoever asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from curador.local import KRR
from curador.local.collect.collector import Collector
from curador.server.app import ROUTES, make_app
from tests.server.served import STUDY, Served, serving, write_study

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


@pytest.mark.parametrize("who", ROLES)
def test_some_responses_are_as_described(served: Served, who: str | None, tmp_path: Path) -> None:
    described(served, who, tmp_path, "--phases=fuzzing", "--max-examples=2")


@pytest.mark.slow
@pytest.mark.parametrize("who", ROLES)
def test_every_response_is_as_described(served: Served, who: str | None, tmp_path: Path) -> None:
    described(served, who, tmp_path, "--phases=coverage,fuzzing,stateful", "--max-examples=25")
