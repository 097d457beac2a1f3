"""Models and other long work through the server: planned, bought as a job, read again, scored."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from curador.learn.saved import from_json
from tests.server.served import SQL, Served, serving, write_study

RECIPE: dict[str, Any] = {
    "model": "GaussianNB",
    "table": "people",
    "features": ["age", "pay"],
    "label": "sex",
    "settings": {"epsilon": "0.25"},
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_study(tmp_path_factory.mktemp("study"))) as found:
        yield found


def ended(client: httpx.Client, answer: httpx.Response) -> dict[str, Any]:
    """The job of an answer, once it is done."""
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    while job["state"] in ("waiting", "running"):
        time.sleep(0.01)
        job = client.get(f"/v1/jobs/{job['job']}").json()
    return job


def test_a_model_is_explained_bought_once_and_read_again(served: Served) -> None:
    with served.client("ana") as client:
        planned = client.post("/v1/fit/explain", json=RECIPE).json()
        assert planned["guarantee"] == {"kind": "pure", "epsilon": 0.25}
        assert "GaussianNB of people" in planned["text"]
        before = served.curator.charge_count("ana")
        assert client.post("/v1/fit/explain", json=RECIPE).status_code == 200
        assert served.curator.charge_count("ana") == before
        asked = {**RECIPE, "because": "who earns what", "key": "first"}
        job = ended(client, client.post("/v1/fit", json=asked))
        result = job["result"]
        assert not result["repeated"]
        assert ended(client, client.post("/v1/fit", json=asked))["job"] == job["job"]
        again = ended(client, client.post("/v1/fit", json={**asked, "key": "second"}))["result"]
        assert (again["charge"], again["repeated"]) == (result["charge"], True)
        assert served.curator.charge_count("ana") == before + 1
        found = client.get(f"/v1/models/{result['charge']}").json()
        model: Any = from_json(found["model"])
        assert model.predict([[30, 100.5]])[0] in ("F", "M")
        assert client.get(f"/v1/models/{result['charge']}").json() == found
    with served.client("bea") as client:
        assert client.get(f"/v1/models/{result['charge']}").status_code == 404
        assert client.get(f"/v1/jobs/{job['job']}").status_code == 404
        assert job["job"] not in [one["job"] for one in client.get("/v1/jobs").json()["jobs"]]
        # bought by bea too, it is the same measurement, read by a charge that she may see
        own = ended(client, client.post("/v1/fit", json=RECIPE))["result"]
        assert client.get(f"/v1/models/{own['charge']}").json()["model"]["fitted"] == found["model"]["fitted"]
    with served.client("curator") as client:
        seen = {one["job"]: one for one in client.get("/v1/jobs").json()["jobs"]}
        assert seen[job["job"]]["owner"] == "analyst ana"
        assert client.get(f"/v1/models/{result['charge']}").json()["model"]["fitted"] == found["model"]["fitted"]


def test_rows_that_no_declaration_allows_are_refused_at_once_and_learned_from_anyway(served: Served) -> None:
    odd = {**RECIPE, "where": "age = 101", "settings": {"epsilon": 0.01}, "key": "odd"}
    with served.client("ana") as client:
        before = served.curator.charge_count("ana")
        assert (
            "age is 0 … 100"
            in client.post("/v1/fit/explain", json={k: odd[k] for k in odd if k != "key"}).json()["text"]
        )
        refused = client.post("/v1/fit", json=odd)
        assert (refused.status_code, refused.json()["code"]) == (422, "undeclared-range")
        assert served.curator.charge_count("ana") == before
        assert ended(client, client.post("/v1/fit", json={**odd, "anyway": True}))["result"]
        assert served.curator.charge_count("ana") == before + 1


def test_a_model_is_scored_for_a_charge(served: Served) -> None:
    with served.client("ana") as client:
        bought = ended(client, client.post("/v1/fit", json=RECIPE))["result"]
        scored = ended(client, client.post("/v1/score", json={"model": bought["charge"], "epsilon": "0.5"}))["result"]
        assert 0 <= scored["accuracy"] <= 1
        assert scored["interval"][0] <= scored["accuracy"] <= scored["interval"][1]
        chosen = {"model": bought["charge"], "epsilon": "0.5", "where": "age > 30"}
        assert ended(client, client.post("/v1/score", json=chosen))["result"]["charge"] != scored["charge"]
        plain = client.post("/v1/ask", json={"sql": SQL, "epsilon": "0.01"}).json()["charge"]
        refused = client.post("/v1/score", json={"model": plain, "epsilon": "0.5"})
        assert (refused.status_code, refused.json()["code"]) == (422, "not-recalled")
        line = {**RECIPE, "model": "LinearRegression", "features": ["age"], "label": "pay"}
        line["settings"] = {"epsilon": "0.1"}
        regression = ended(client, client.post("/v1/fit", json=line))["result"]["charge"]
        assert client.post("/v1/score", json={"model": regression, "epsilon": "0.5"}).json()["code"] == "not-scored"


WRONG: dict[str, dict[str, Any]] = {
    "no such model": {"model": "Oracle"},
    "no such table": {"table": "others"},
    "no such column": {"features": ["height"]},
    "no such setting": {"settings": {"epsilon": 1, "curator": "me"}},
    "no guarantee": {"settings": {}},
    "a setting of a wrong kind": {"settings": {"epsilon": {"a": 1}}},
    "a setting that is a list": {"settings": {"epsilon": 1, "bins": ["x"]}},
    "endless": {"model": "LogisticRegression", "settings": {"epsilon": 1, "delta": "1e-6", "steps": 10**9}},
    "a label that is a feature": {"features": ["age", "sex"]},
    "an injection": {"where": "age > 3; DROP TABLE people"},
    "nothing": {"features": []},
    "too long to be read again": {"features": {f"{'a' * 50}{i}": "age" for i in range(400)}},
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("path", ["/v1/fit/explain", "/v1/fit"])
def test_a_recipe_that_makes_no_model_is_refused_at_once(served: Served, name: str, path: str) -> None:
    spent = served.curator.budget("ana").spent
    with served.client("ana") as client:
        answer = client.post(path, json={**RECIPE, **WRONG[name]})
    assert answer.status_code == 422, answer.text
    assert served.curator.budget("ana").spent == spent


def test_a_budget_that_is_short_is_the_jobs_error_with_its_cost(served: Served) -> None:
    with served.client("bea") as client:
        large = {**RECIPE, "settings": {"epsilon": 5}, "because": "too much"}
        job = ended(client, client.post("/v1/fit", json=large))
    assert (job["error"]["code"], job["error"]["status"], job["result"]) == ("budget-exceeded", 402, None)
    assert job["error"]["cost"] == "nothing was drawn, nothing was spent"


def test_without_scikit_learn_there_is_one_clear_error(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith("curador.learn")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with served.client("ana") as client:
        for path in ("/v1/fit", "/v1/fit/explain"):
            refused = client.post(path, json=RECIPE)
            assert (refused.status_code, refused.json()["code"]) == (422, "library-missing")
            assert ".[learn]" in refused.json()["fix"]
        assert client.get("/v1/models/1").json()["code"] == "library-missing"


def test_verification_copies_and_audits_are_jobs(served: Served) -> None:
    with served.client("auditor") as client:
        assert ended(client, client.post("/v1/ledger/verify"))["result"]["entries"] > 0
        tested = ended(client, client.post("/v1/audits/mechanism", json={"kind": "laplace", "runs": 2000}))
        assert "no violation found" in tested["result"]["text"]
        assert client.post("/v1/audits/mechanism", json={"kind": "magic"}).status_code == 422
    with served.client("curator") as client:
        job = ended(client, client.post("/v1/prepared", json={"table": "nothing"}))
        assert job["error"]["status"] == 422
        assert job["owner"] == "curator"


def test_the_curator_sees_how_far_a_verification_a_copy_and_an_audit_are(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[float | None, str]] = []
    monkeypatch.setattr(served.service.jobs.records, "moved", lambda id, part, stage: told.append((part, stage)))
    monkeypatch.setattr("curador.server.jobs.runner.TOLD_EVERY", 0.0)
    monkeypatch.setattr("curador.ledger.verify.TOLD_EVERY", 1)
    monkeypatch.setattr("curador.engines.deadline.TICK", 0.0001)
    asked = {
        "/v1/ledger/verify": {},
        "/v1/audits/mechanism": {"kind": "gaussian", "runs": 3000},
        "/v1/prepared": {"table": "visits", "group_by": ["town"]},
    }
    stages = {}
    with served.client("curator") as client:
        for path, body in asked.items():
            told.clear()
            job = ended(client, client.post(path, json=body))
            assert job["error"] is None, job
            stages[path] = list(dict.fromkeys(stage for _, stage in told))
            known = [part for part, stage in told if part is not None and stage == stages[path][0]]
            assert known == sorted(known)
            assert path == "/v1/prepared" or known[-1] == 1.0
    assert stages == {
        "/v1/ledger/verify": ["history", "tables"],
        "/v1/audits/mechanism": ["audit"],
        "/v1/prepared": ["prepare"],
    }


@pytest.mark.parametrize("steps", [10_001, "10001", 10001.0, "1e9"])
def test_a_fit_has_a_bounded_number_of_steps_however_it_is_written(served: Served, steps: Any) -> None:
    recipe = {**RECIPE, "model": "LogisticRegression", "settings": {"epsilon": "0.5", "delta": "1e-8", "steps": steps}}
    with served.client("ana") as ana:
        answer = ana.post("/v1/fit/explain", json=recipe)
    assert (answer.status_code, answer.json()["code"]) == (422, "too-many-steps")
