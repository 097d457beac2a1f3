"""One contract, two curators: at hand and behind HTTP."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

import curador as cu
from curador.curator.purchase import Request
from curador.errors import NOTHING, LedgerFailed, ServerFailed
from curador.learn import GaussianNB
from curador.learn.saved import to_json
from curador.query.ask.builder import TableQuery
from curador.query.language.expressions import Name
from curador.remote.connection import Connection
from curador.remote.curator import RemoteCurator, connect
from tests.server.served import JOINED, SQL, Served, serving, write_study


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


def test_a_value_that_no_declaration_allows_is_refused_before_the_charge(curator: Any) -> None:
    far = isinstance(curator, RemoteCurator)
    odd = f"SELECT COUNT(*) AS n FROM people WHERE sex = 'f' AND age > {1 + far}"
    people, price = curator.table("people").where("age = 101"), {"features": ["age"], "label": "sex"}
    batch = curator.batch({"odd": f"{odd} OR age = 101", "all": SQL}, epsilon="1/50")
    model = GaussianNB(epsilon=0.01)
    before = len(curator.history())
    assert "Did you mean 'F'?" in str(curator.explain(odd, epsilon=0.01))
    assert "odd: sex has no declared value 'f'" in str(batch)
    buys: list[tuple[Any, str]] = [
        (lambda **how: curator.ask(odd, epsilon=0.01, **how), "undeclared-near"),
        (lambda **how: people.aggregate(n=cu.count()).ask(epsilon=0.01, **how), "undeclared-range"),
        (lambda **how: curator.publish(batch, **how), "undeclared-near"),
        (lambda **how: curator.fit(model, people, **price, **how), "undeclared-range"),
    ]
    for buy, code in buys:
        with pytest.raises(cu.QuestionRefused) as refused:
            buy()
        assert (refused.value.code, refused.value.cost) == (code, NOTHING)
    assert len(curator.history()) == before
    for buy, _ in buys:
        buy(anyway=True)
        time.sleep(0.05)  # at hand, too, an answer is known from the next tick on
        buy()  # what was bought is shown again
    assert len(curator.history()) == before + len(buys)


def test_plans_and_explanations_are_the_same(curator: Any, served: Served) -> None:
    there = served.curator.plan(SQL, epsilon="1/7", confidence=0.9)
    here = curator.plan(SQL, epsilon=Fraction(1, 7), confidence=0.9)
    assert here.facts == there.facts == here.to_dict()
    for name in ("tables", "neighbors", "budget", "guarantee", "event", "confidence", "rows", "groups", "expected"):
        assert getattr(here, name) == getattr(there, name), name
    assert (str(here), repr(here), here.explain("es")) == (str(there), repr(there), there.explain("es"))
    text = str(curator.explain(SQL, epsilon=0.3, rows=400))
    assert "epsilon 0.3" in text
    wanted = cu.within(25, confidence=0.9)
    assert curator.plan(SQL, accuracy=wanted).guarantee == served.curator.plan(SQL, accuracy=wanted).guarantee


def test_groups_of_a_public_table_are_planned_where_its_rows_are(curator: Any, served: Served) -> None:
    there = served.curator.explain(JOINED, epsilon=0.1, analyst="ana")
    found = curator.explain(JOINED, epsilon=0.1)
    assert (str(found), found.to_dict()) == (str(there), there.to_dict())
    assert curator.plan(JOINED, epsilon=0.1).groups == 2
    assert curator.how_many(JOINED, epsilon=0.1) > 5
    assert str(curator.explain(JOINED, epsilon=0.1, language="es")) == found.plan.explain("es")
    people = curator.table("people")
    built = people.join("words", on={"sex": "code"}).group_by("word").aggregate(n=cu.count())
    assert built.explain(epsilon=0.1).to_dict() == there.to_dict()
    assert built.plan(epsilon=0.1).facts == there.plan.facts
    epsilon = "0.15" if curator is served.curator else "0.16"
    assert list(curator.ask(JOINED, epsilon=epsilon)["word"]) == ["man", "woman"]
    time.sleep(0.05)  # at hand, too, an answer is known from the next tick on
    assert "Bought before" in str(curator.explain(JOINED, epsilon=epsilon))


def test_a_batch_over_a_public_table_is_planned_where_its_rows_are(curator: Any, served: Served) -> None:
    ages = "SELECT w.word, COUNT(*) AS n FROM people p JOIN words w ON p.sex = w.code WHERE p.age > 30 GROUP BY w.word"
    questions = {"all": JOINED, "old": ages, "n": SQL}
    how: dict[str, Any] = {"epsilon": 0.3, "tight": "1e-8"}
    there, batch = served.curator.batch(questions, **how), curator.batch(questions, **how)
    assert batch.to_dict() == there.to_dict()
    assert (batch.guarantee, batch.tight, str(batch), repr(batch)) == (
        there.guarantee, there.tight, str(there), repr(there))  # fmt: skip
    assert batch.explain("es") == there.explain("es")
    assert batch.expected("old") == there.expected("old")
    assert {name: plan.guarantee for name, plan in batch.plans.items()} == {
        name: plan.guarantee for name, plan in there.plans.items()
    }
    assert curator.how_many(batch) > 1
    found = curator.publish(batch, because="the yearly report")
    assert list(found["old"]["word"]) == ["man", "woman"]
    assert found.guarantee == batch.guarantee


def test_limits_of_rows_joined_to_a_public_table(curator: Any) -> None:
    seen = curator.table("visits").join("towns", on="town").where("coast = 'yes'")
    found = seen.limits(most=20, epsilon="0.6")
    assert list(found.tried) == [1, 2, 5, 10, 20]
    assert all(low <= share <= high for (low, high), share in ((found.within(n), s) for n, s in found.shares.items()))


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


LEARNED: dict[str, Any] = {"features": ["age", "pay"], "label": "sex"}


def test_a_model_is_explained_and_learned(curator: Any) -> None:
    run = curator.training(GaussianNB(epsilon="0.3"), "people", **LEARNED)
    assert run.guarantee == cu.PureDP(0.3)
    assert "GaussianNB of people" in run.explain()
    assert "GaussianNB" in run.explain("es")
    model = curator.fit(GaussianNB(epsilon="0.3"), "people", **LEARNED, because="a trial")
    assert model.privacy_.guarantee == cu.PureDP(0.3)
    assert set(model.predict([[30, 100.5], [40, 2000.0]])) <= {"F", "M"}
    again = curator.fit(GaussianNB(epsilon="0.3"), "people", **LEARNED)
    assert (again.privacy_.charge, to_json(again)) == (model.privacy_.charge, to_json(model))


def test_a_model_is_learned_from_some_rows(curator: Any) -> None:
    adults = curator.table("people").where("age > 40").where("pay < 4000")
    features = {"years": "age - 20", "pay": Name("pay")}
    model = curator.fit(GaussianNB(Fraction(1, 7)), adults, features=features, label="sex", fresh=True)
    assert model.privacy_.guarantee == cu.PureDP(1 / 7)
    score = curator.score(model, adults, label="sex", features=features, epsilon="0.2")
    assert 0 <= score.accuracy <= 1
    with pytest.raises(cu.InvalidParameter, match="another curator"):
        curator.fit(GaussianNB(1), TableQuery.of("people", {**curator.tables}), **LEARNED)


def test_a_model_is_scored(curator: Any) -> None:
    model = curator.fit(GaussianNB(epsilon="0.3"), "people", **LEARNED)
    planned = curator.scoring(model, "people", label="sex", epsilon="0.5")
    assert planned.guarantee == cu.PureDP(0.5)
    score = curator.score(model, "people", label="sex", epsilon="0.5", because="a trial")
    assert score.interval()[0] <= score.accuracy <= score.interval()[1]
    assert score.noise == planned.learner.noise
    again = curator.score(model, "people", label="sex", epsilon="0.5")
    assert (again.right, again.wrong, again.charge) == (score.right, score.wrong, score.charge)
    with pytest.raises(cu.BudgetExceeded):
        curator.score(model, "people", label="sex", epsilon=50, because="too much", override=True)


def test_refusals_of_models_are_the_same(curator: Any) -> None:
    with pytest.raises(cu.BudgetExceeded):
        curator.fit(GaussianNB(50), "people", **LEARNED, because="too much", override=True)
    with pytest.raises(cu.QuestionRefused, match="height"):
        curator.training(GaussianNB(1), "people", features=["height"], label="sex")
    with pytest.raises(cu.InvalidParameter, match="private table"):
        curator.quality("persons", epsilon=1)


def test_how_much_limits_keep(curator: Any) -> None:
    found = curator.table("visits").limits(most=20, epsilon="0.6", because="to declare a limit")
    assert list(found.tried) == [1, 2, 5, 10, 20]
    assert all(low <= high for low, high in map(found.within, found.tried))
    assert found.release.guarantee == cu.PureDP(0.6)
    again = curator.table("visits").limits(most=20, epsilon="0.6", language="es")
    assert again.release.repeated
    assert again.shares == found.shares


def test_the_quality_of_a_table(curator: Any) -> None:
    asked = curator.quality("people", ["age", "sex"], epsilon="0.4")
    assert asked.guarantee == cu.PureDP(0.4)
    assert curator.how_many(asked) > 1
    found = curator.table("people").quality("age", "sex", epsilon="0.4", because="clipped ages")
    assert isinstance(found, cu.Release)
    assert list(found["column"]) == ["age", "sex"]
    assert found.guarantee == asked.guarantee
    again = curator.buy_quality(asked, Request(), "es")
    assert (again.repeated, again.language) == (True, "es")
    assert again.columns == found.columns
    with pytest.raises(cu.InvalidParameter, match="height"):
        curator.quality("people", ["height"], epsilon=1)


def test_a_model_is_the_same_at_hand_and_from_afar(served: Served) -> None:
    at_hand = served.curator.fit(GaussianNB(epsilon="0.31"), "people", **LEARNED, analyst="ana")
    scored = served.curator.score(at_hand, "people", label="sex", epsilon="0.32", analyst="ana")
    seen = served.curator.table("people").quality(epsilon="0.33", analyst="ana")
    with closing(connect(served.url, served.tokens["ana"])) as far:
        before = served.curator.charge_count("ana")
        found = far.fit(GaussianNB(epsilon="0.31"), "people", **LEARNED, because="the same again")
        assert to_json(found)["fitted"] == to_json(at_hand)["fitted"]
        assert found.privacy_.guarantee == at_hand.privacy_.guarantee
        assert far.score(found, "people", label="sex", epsilon="0.32") == scored
        assert far.table("people").quality(epsilon="0.33").columns == seen.columns
        assert served.curator.charge_count("ana") == before
        older = far.fit(GaussianNB(Fraction(1, 7)), far.table("people").where("age > 41"), **LEARNED, fresh=True)
        assert [charge.id for charge in far.history()][-1] == older.privacy_.charge


def test_what_cannot_be_said_to_a_server_is_refused_here(served: Served) -> None:
    with closing(connect(served.url, served.tokens["ana"])) as far:
        with pytest.raises(cu.InvalidParameter, match="curator of its own"):
            far.fit(GaussianNB(1, curator=served.curator), "people", **LEARNED)
        with pytest.raises(cu.InvalidParameter) as refused:
            far.fit(GaussianNB(1), far.table("people").with_columns(pay="pay * 2"), **LEARNED)
        assert refused.value.code == "not-plain"
        with pytest.raises(cu.InvalidParameter) as refused:  # planned here, it would read the public table
            far.training(GaussianNB(1), far.table("people").join("words", on={"sex": "code"}), **LEARNED)
        assert refused.value.code == "not-plain"
        with pytest.raises(cu.InvalidParameter, match="plans itself"):
            far.buy(served.curator.plan(SQL, epsilon=1))
        with pytest.raises(cu.InvalidParameter, match="names no other"):
            far.fit(GaussianNB(1), "people", **LEARNED, analyst="bea")
        with pytest.raises(cu.InvalidParameter, match="buy_quality"):
            far.publish(far.quality("people", epsilon=1))
        public = far.rehearse(rows=50).fit(GaussianNB(1), "people", **LEARNED)
        public.privacy_ = replace(public.privacy_, charge=None)
        with pytest.raises(cu.InvalidParameter, match="that it sold"):
            far.score(public, "people", label="sex", epsilon=1)


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
    with pytest.raises(ServerFailed, match=f"The server at {served.url} did not answer") as failed:
        far.ask(SQL, epsilon="0.18")
    assert failed.value.code == "server-unreachable"
    assert "stays charged" in failed.value.cost
    breaking.left, breaking.sent = 1, 0
    with pytest.raises(ServerFailed):  # nobody can say whether it was bought, so it is not sent again
        far.ask(SQL, epsilon="0.19", fresh=True)
    assert breaking.sent == 1


def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curador.remote.connection.FIRST_PAUSE", 0.001)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # it is held, and nobody listens
        address = f"http://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(ServerFailed, match=f"No server answers at {address}") as failed:
            connect(address, "cur_x")
    assert (failed.value.cost, failed.value.facts["address"]) == (NOTHING, address)


class Refusing(Broken):
    """A server that says so many times that its ledger is not there, and what that has cost."""

    def __init__(self, times: int, cost: str | None) -> None:
        super().__init__(times)
        self._cost = cost

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path in ("/v1/ask", "/v1/history"):
            self.sent += 1
            if self.left:
                self.left -= 1
                said = {"title": "LedgerFailed", "code": "ledger-unavailable", "cost": self._cost}
                return httpx.Response(503, json=said if self._cost is not None else None)
        return self._real.handle_request(request)


@pytest.mark.parametrize(("cost", "sent"), [(NOTHING, 3), ("a charge may stay spent", 1), (None, 1)])
def test_a_purchase_that_was_refused_is_sent_again_only_if_that_cost_nothing(
    served: Served, monkeypatch: pytest.MonkeyPatch, cost: str | None, sent: int
) -> None:
    """A charge that is not settled answers nothing, and under its key the next one would pay again."""
    monkeypatch.setattr("curador.remote.connection.FIRST_PAUSE", 0.001)
    refusing = Refusing(2, cost)
    with closing(RemoteCurator(Connection(served.url, served.tokens["ana"], transport=refusing))) as far:
        with suppress(LedgerFailed, ServerFailed):
            far.ask(SQL, epsilon="0.17")
        assert refusing.sent == sent
        refusing.left, refusing.sent = 2, 0
        far.history()
        assert refusing.sent == 3  # what only reads


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
