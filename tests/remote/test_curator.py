"""One contract, two curators: at hand and behind HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

import curador as cu
from curador.errors import LedgerFailed
from curador.learn import GaussianNB
from curador.learn.saved import to_json
from curador.remote.connection import Connection
from curador.remote.curator import RemoteCurator, connect
from tests.server.served import SQL, Served, serving, write_study


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_study(tmp_path_factory.mktemp("study"))) as found:
        yield found


@pytest.fixture(params=["at hand", "remote"])
def curator(request: pytest.FixtureRequest, served: Served) -> Iterator[Any]:
    if request.param == "at hand":
        yield served.curator
        return
    far = connect(served.url, served.tokens["ana"])
    yield far
    far.close()


def test_sql_and_builder_give_the_same_release(curator: Any) -> None:
    built = curator.table("people").group_by("sex").aggregate(n=cu.count())
    first, second = curator.sql(SQL, epsilon=0.1), built.ask(epsilon=0.1)
    assert isinstance(first, cu.Release)
    assert first.columns == second.columns
    assert second.repeated
    assert abs(first.numbers("n")[0] - 200) < 400


def test_plans_and_explanations_are_the_same(curator: Any, served: Served) -> None:
    there = served.curator.plan(SQL, epsilon="1/7", confidence=0.9)
    here = curator.plan(SQL, epsilon=Fraction(1, 7), confidence=0.9)
    assert here.identity == there.identity
    assert here.facts == there.facts
    text = str(curator.explain(SQL, epsilon=0.3, rows=400))
    assert "epsilon 0.3" in text
    wanted = cu.within(25, confidence=0.9)
    assert curator.plan(SQL, accuracy=wanted).guarantee == served.curator.plan(SQL, accuracy=wanted).guarantee


def test_asking_with_an_accuracy_and_limits(curator: Any) -> None:
    found = curator.ask("SELECT AVG(pay) AS pay FROM people", accuracy=cu.within(500), rows=400, language="es")
    assert found.language == "es"
    assert len(found) == 1


def test_a_batch_is_bought_for_one_charge(curator: Any) -> None:
    questions = {"n": SQL, "age": curator.table("people").aggregate(m=cu.mean("age"))}
    batch = curator.batch(questions, epsilon=0.4, weights={"n": 3, "age": 1})
    found = curator.publish(batch, because="the yearly report")
    assert set(found) == {"n", "age"}
    assert found.guarantee == batch.guarantee
    assert curator.publish(batch).repeated
    tight = curator.publish(curator.batch({"n": SQL}, epsilon="0.05", tight="1e-8"))
    assert isinstance(tight.guarantee, cu.ApproxDP)


def test_refusals_are_the_same_errors(curator: Any) -> None:
    with pytest.raises(cu.QuestionRefused, match="nope"):
        curator.ask("SELECT SUM(nope) FROM people", epsilon=0.1)
    with pytest.raises(cu.BudgetExceeded):
        curator.ask(SQL, epsilon=50, because="too much", override=True)
    with pytest.raises(cu.InvalidParameter):
        curator.ask(SQL, epsilon=-1)
    with pytest.raises(cu.InvalidParameter, match="analist"):
        curator.ask(SQL, epsilon=0.1, analist="ana")


def test_a_key_belongs_to_one_question(curator: Any) -> None:
    key = f"key of {type(curator).__name__}"
    first = curator.ask(SQL, epsilon="0.11", key=key)
    assert curator.ask(SQL, epsilon="0.11", key=key).columns == first.columns
    with pytest.raises(cu.InvalidParameter) as refused:
        curator.ask(SQL, epsilon="0.12", key=key)
    assert refused.value.code == "key-reused"


def test_a_fresh_answer_is_another_one(curator: Any) -> None:
    first, second = (curator.ask(SQL, epsilon="0.13", fresh=True) for _ in range(2))
    assert first.charge != second.charge


def test_a_fresh_answer_is_shown_again(served: Served) -> None:
    with closing(connect(served.url, served.tokens["ana"])) as far:
        bought = [far.ask(SQL, epsilon="0.14", fresh=True) for _ in range(2)]
        for release in bought:
            again = far.release(release.charge)
            assert isinstance(again, cu.Release)
            assert again.columns == release.columns


def test_rehearsing_asks_nobody(curator: Any) -> None:
    stage = curator.rehearse(rows=50)
    assert stage.ask(SQL, epsilon=1).rehearsal
    stage.close()


def test_how_many_still_fit(curator: Any) -> None:
    assert curator.how_many(SQL, epsilon=0.5) > 5
    assert "people" in str(curator.describe())


def test_the_budget_and_the_history_are_the_analysts_own(served: Served) -> None:
    with closing(connect(served.url, served.tokens["bea"])) as bea:
        _is_her_own(bea, served)


def _is_her_own(bea: RemoteCurator, served: Served) -> None:
    assert bea.budget().scope == "bea"
    release = bea.ask(SQL, epsilon=0.25)
    assert bea.budget().spent == cu.ApproxDP(0.25, 0)
    assert bea.budget().remaining == cu.ApproxDP(0.75, 1e-7)
    assert [charge.receiver for charge in bea.history()] == ["bea"]
    again = bea.release(release.charge)
    assert isinstance(again, cu.Release)
    assert again.columns == release.columns
    bought = served.curator.ask(SQL, epsilon="0.21", analyst="ana")
    with pytest.raises(cu.CuradorError) as refused:
        bea.release(bought.charge)
    assert refused.value.code == "not-found"
    with pytest.raises(cu.InvalidParameter, match="names no other"):
        bea.ask(SQL, epsilon=0.1, analyst="ana")


def test_a_model_is_the_same_at_hand_and_from_afar(served: Served) -> None:
    settings: dict[str, Any] = {"features": ["age", "pay"], "label": "sex"}
    at_hand = served.curator.fit(GaussianNB(epsilon="0.3"), "people", **settings, analyst="ana")
    with closing(connect(served.url, served.tokens["ana"])) as far:
        planned = far.training(GaussianNB(epsilon="0.3"), "people", **settings)
        assert planned.guarantee == cu.PureDP(0.3)
        before = served.curator.charge_count("ana")
        found = far.fit(GaussianNB(epsilon="0.3"), "people", **settings, because="the same again")
        assert served.curator.charge_count("ana") == before
        assert to_json(found)["fitted"] == to_json(at_hand)["fitted"]
        assert found.privacy_.guarantee == at_hand.privacy_.guarantee
        older = far.fit(GaussianNB(Fraction(1, 7)), "people", **settings, where="age > 40", fresh=True)
        assert older.privacy_.guarantee == cu.PureDP(1 / 7)
        assert [charge.id for charge in far.history()][-1] == older.privacy_.charge
        with pytest.raises(cu.BudgetExceeded):
            far.fit(GaussianNB(50), "people", **settings, because="too much", override=True)
        with pytest.raises(cu.InvalidParameter, match="curator of its own"):
            far.fit(GaussianNB(1, curator=served.curator), "people", **settings)


class Broken(httpx.BaseTransport):
    """A connection that breaks after the server has answered, so many times."""

    def __init__(self, times: int) -> None:
        self._real, self.left, self.sent = httpx.HTTPTransport(), times, 0

    def close(self) -> None:
        self._real.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._real.handle_request(request)
        response.read()
        if request.url.path == "/v1/ask":
            self.sent += 1
            if self.left:
                self.left -= 1
                raise httpx.ReadError("broken", request=request)
        return response


def test_a_connection_that_breaks_after_the_charge_buys_once(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curador.remote.connection.FIRST_PAUSE", 0.001)
    breaking = Broken(2)
    far = RemoteCurator(Connection(served.url, served.tokens["ana"], transport=breaking))
    with closing(far):
        _buys_once(far, breaking, served)


def _buys_once(far: RemoteCurator, breaking: Broken, served: Served) -> None:
    before = served.curator.charge_count("ana")
    release = far.ask(SQL, epsilon="0.17")
    assert breaking.sent == 3
    assert release.repeated
    assert served.curator.charge_count("ana") == before + 1
    breaking.left = 100
    with pytest.raises(LedgerFailed) as failed:
        far.ask(SQL, epsilon="0.18")
    assert failed.value.code == "server-unreachable"
    breaking.left, breaking.sent = 1, 0
    with pytest.raises(LedgerFailed):  # nobody can say whether it was bought, so it is not sent again
        far.ask(SQL, epsilon="0.19", fresh=True)
    assert breaking.sent == 1


def test_a_wrong_address_or_token_is_one_clear_error(served: Served, tmp_path: Path) -> None:
    with pytest.raises(cu.CuradorError) as refused:
        connect(served.url, "cur_nobody")
    assert refused.value.code == "not-signed-in"
    with pytest.raises(cu.InvalidParameter, match="unencrypted"):
        connect("http://192.0.2.1", "cur_x")
    with pytest.raises(cu.InvalidParameter, match="address"):
        connect("curator", "cur_x")


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost.example.org",
        "http://127.0.0.1.example.org:8000",
        "http://localhost@example.org",
        "http://127.0.0.1:80@example.org/",
        "http://example.org#http://localhost",
        "HTTP://example.org",
        "https://",
        "https://ana:secret@example.org",
        "ftp://localhost",
        "http://[::1",
    ],
)
def test_a_token_goes_nowhere_unencrypted_whatever_an_address_looks_like(url: str) -> None:
    with pytest.raises(cu.errors.InvalidParameter):
        Connection(url, "cur_secret")
    for own in ("http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000", "https://example.org/study"):
        Connection(own, "cur_secret").close()
