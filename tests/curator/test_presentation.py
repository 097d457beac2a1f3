"""What is kept is the measurement: every way of showing it is free, and no word decides what is paid or allowed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from curador.accounting.events import Event
from curador.curator.curator import Curator
from curador.curator.policy import Policy
from curador.curator.purchase import Purchase, Request
from curador.curator.releases.release import Release
from curador.engines.engine import Progress
from curador.engines.pool import EnginePool
from curador.errors import EngineFailed, InvalidParameter, QuestionRefused
from curador.mechanisms.laplace import IntegerLaplace
from curador.privacy import Guarantee, PureDP
from curador.query.aggregates.counts import count
from curador.query.aggregates.moments import mean
from curador.query.aggregates.quantiles.ranks import median
from curador.query.tables.table import Table
from curador.show.words.say import texts
from tests.cli import test_cli
from tests.cli.test_cli import Invoke

invoke = test_cli.invoke  # the fixture: an empty folder, and commands in it

STUDY = """[budget]
epsilon = 1

[tables.people]
source = "people.csv"
unit = "row"

[tables.people.columns]
sex = { type = "text", keys = ["F", "M"] }
town = { type = "text", keys = ["Lugo", "Vigo", "Lorca"] }
age = { type = "integer", bounds = [0, 100], nullable = false }
"""
COUNTS = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
TOWNS = COUNTS.replace("sex", "town")
LITTLE = 0.001
"""Noise of scale 1,000 or more on three counts: two draws agree with a chance below 1e-10."""


@pytest.fixture
def study(invoke: Invoke) -> Path:
    rows = [f"{'FM'[i % 3 % 2]},{('Lugo', 'Vigo', 'Lorca')[i % 7 % 3]},{i % 100}" for i in range(600)]
    Path("people.csv").write_text("\n".join(["sex,town,age", *rows]) + "\n")
    Path("study.toml").write_text(STUDY)
    return Path("study.toml")


@pytest.fixture
def curator(study: Path) -> Iterator[Curator]:
    opened = Curator(study)
    yield opened
    opened.close()


def paid_once(curator: Curator, epsilon: float = 0.1) -> None:
    assert len(curator.history()) == 1
    assert curator.budget().spent == PureDP(epsilon)


def by_key(release: Release, output: str = "n") -> dict[object, object]:
    return dict(zip(release["sex"], release[output], strict=True))


# ---- (a) one measurement, many pages ---------------------------------------------------------------------------------

PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": (COUNTS, {}),
    "another confidence": (COUNTS, {"confidence": 0.9}),
    "rows known": (COUNTS, {"rows": 4}),
    "ordered": (COUNTS + " ORDER BY n", {}),
    "renamed": (COUNTS.replace("AS n", "AS m"), {}),
}
"""The table of the review: each of these was a charge of its own."""


def output_of(name: str) -> str:
    return "m" if name == "renamed" else "n"


def test_five_presentations_in_sql_cost_once(curator: Curator) -> None:
    first = curator.sql(COUNTS, epsilon=0.1)
    for name, (sql, options) in PAGES.items():
        page = curator.sql(sql, epsilon=0.1, **options)
        assert page.repeated, name
        assert page.charge == first.charge
        assert by_key(page, output_of(name)) == by_key(first)
    paid_once(curator)


def test_five_presentations_in_python_cost_once(curator: Curator) -> None:
    counts = curator.table("people").group_by("sex").aggregate(n=count())
    pages = [
        counts.ask(epsilon=0.1),
        counts.ask(epsilon=0.1, confidence=0.9),
        counts.ask(epsilon=0.1, rows=4),
        counts.order_by("n").ask(epsilon=0.1),
        curator.table("people").group_by("sex").aggregate(m=count()).ask(epsilon=0.1),
    ]
    assert [page.repeated for page in pages] == [False, True, True, True, True]
    shown = [by_key(page, page.outputs[0]) for page in pages]
    assert all(page == shown[0] for page in shown)
    assert list(pages[3]["n"]) == sorted(x for x in shown[0].values() if isinstance(x, int))
    assert pages[4].outputs == ("m",)
    paid_once(curator)


def test_five_presentations_on_the_command_line_cost_once(study: Path, invoke: Invoke) -> None:
    shown = []
    for name, (sql, options) in PAGES.items():
        flags = [text for option, value in options.items() for text in (f"--{option}", str(value))]
        found = json.loads(invoke("ask", sql, "--epsilon", "0.1", *flags, "--json"))
        assert found["repeated"] == (name != "plain")
        assert found["charge"] == "1"
        assert found["remaining"]["population"] == {"kind": "pure", "epsilon": 0.9}
        columns = found["columns"]
        shown.append(dict(zip(columns["sex"], columns[output_of(name)], strict=True)))
    assert all(page == shown[0] for page in shown)
    assert len(json.loads(invoke("history", "--json"))["charges"]) == 1


def test_all_doors_show_one_measurement(study: Path, invoke: Invoke) -> None:
    with_sql = Curator(study)
    first = with_sql.sql(COUNTS, epsilon=0.1)
    with_sql.close()
    on_line = json.loads(invoke("ask", COUNTS, "--epsilon", "0.1", "--json"))
    assert on_line["repeated"]
    assert tuple(on_line["columns"]["n"]) == first["n"]
    later = Curator(study)
    built = later.table("people").group_by("sex").aggregate(n=count()).ask(epsilon=0.1)
    assert built.repeated
    assert built.to_json() == first.to_json()
    paid_once(later)
    later.close()


def test_what_is_shown_of_a_measurement_is_free(curator: Curator) -> None:
    """HAVING, ORDER BY, LIMIT, the order of outputs and of groups: pages of the same noised table."""
    both = curator.table("people").group_by("sex", "town").aggregate(n=count(), age=mean("age"))
    first = both.ask(epsilon=0.2)
    rows = {(row["sex"], row["town"]): (row["n"], row["age"]) for row in first}
    swapped = curator.table("people").group_by("town", "sex").aggregate(age=mean("age"), n=count()).ask(epsilon=0.2)
    assert swapped.repeated
    assert list(swapped.columns) == ["town", "sex", "age", "n"]
    assert {(row["sex"], row["town"]): (row["n"], row["age"]) for row in swapped} == rows
    middle = sorted(n for n, _ in rows.values() if isinstance(n, int))[3]
    some = both.having(f"n >= {middle}").order_by("n", descending=True).limit(2).ask(epsilon=0.2)
    assert some.repeated
    assert len(some) == 2
    assert all(rows[row["sex"], row["town"]] == (row["n"], row["age"]) for row in some)
    assert "post-processing" in [note["code"] for note in some.remarks]
    paid_once(curator, 0.2)


def test_a_hidden_row_is_in_what_is_kept_so_showing_it_later_is_free(curator: Curator) -> None:
    counts = curator.table("people").group_by("sex").aggregate(n=count())
    assert len(counts.having("n > 100000").ask(epsilon=0.1)) == 0
    assert len(counts.ask(epsilon=0.1)) == 2
    paid_once(curator)


@pytest.mark.parametrize(
    "other",
    [
        COUNTS.replace("COUNT(*)", "COUNT(age)"),
        COUNTS.replace("FROM people", "FROM people WHERE age > 3"),
        COUNTS.replace("sex", "town"),
        "SELECT COUNT(*) AS n FROM people",
        COUNTS.replace("AS n", "AS n, AVG(age) AS age"),
    ],
)
def test_another_measurement_is_another_charge(curator: Curator, other: str) -> None:
    """COUNT(age) of a column that is never NULL counts rows: the same integers, so the same measurement."""
    curator.sql(COUNTS, epsilon=0.1)
    again = curator.sql(other, epsilon=0.1)
    assert again.repeated == ("COUNT(age)" in other)
    assert len(curator.history()) == (1 if again.repeated else 2)


def test_quantiles_and_confidences_present_what_was_drawn(curator: Curator) -> None:
    asked = curator.table("people").group_by("sex").aggregate(age=median("age"), n=count())
    first, again = asked.ask(epsilon=0.5), asked.ask(epsilon=0.5, confidence=0.5)
    assert again.repeated
    assert (again["age"], again["n"]) == (first["age"], first["n"])
    widths = [high - low for low, high in first.intervals["age"]]
    assert sum(high - low for low, high in again.intervals["age"]) < sum(widths)
    paid_once(curator, 0.5)


# ---- (b) words are never identity ------------------------------------------------------------------------------------


def test_no_word_decides_what_is_paid(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = {"counts": COUNTS, "age": "SELECT AVG(age) AS age FROM people WHERE sex = 'F'"}

    def bought() -> tuple[list[str], list[bool], str]:
        opened = Curator(study)
        releases = [opened.sql(sql, epsilon=0.1) for sql in questions.values()]
        board = opened.publish(opened.batch(questions, epsilon=0.2))
        identities = [str(opened.plan(sql, epsilon=0.1).identity) for sql in questions.values()]
        repeated = [*(release.repeated for release in releases), board.repeated]
        text = "\n".join(map(str, (*releases, board, opened.explain(COUNTS, epsilon=0.1))))
        assert opened.budget().spent == PureDP(0.4)
        opened.close()
        return identities, repeated, text

    identities, repeated, text = bought()
    assert repeated == [False] * 3
    for said in texts("report", "release").values():
        for language in said:
            monkeypatch.setitem(said, language, "x")
    again, repeated, reworded = bought()
    assert again == identities
    assert repeated == [True] * 3
    assert "epsilon" in text
    assert "interval" in text
    assert "interval" not in reworded


def test_no_word_decides_what_is_allowed(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(texts("report", "release")["integer-laplace"], "en", "integer Gaussian")
    opened = Curator(study, policy=Policy(mechanisms=("integer-gaussian",)))
    with pytest.raises(QuestionRefused, match="'integer-laplace'"):
        opened.sql(COUNTS, epsilon=0.1)
    assert opened.history() == ()
    opened.close()


# ---- (c) another language --------------------------------------------------------------------------------------------


def test_a_measurement_is_shown_in_spanish_for_free(curator: Curator, study: Path) -> None:
    first = curator.sql(COUNTS, epsilon=0.1)
    page = curator.sql(COUNTS, epsilon=0.1, language="es")
    assert page.repeated
    assert (page.columns, page.intervals, page.remarks) == (first.columns, first.intervals, first.remarks)
    for said in ("intervalo del 95 %", "para una fila que se añade o se quita", "cargo 1"):
        assert said in str(page)
        assert said in page._repr_html_()
    assert all(a != b for a, b in zip(page.notes, first.notes, strict=True))
    assert "error esperado" in page.explain()
    assert Release.from_dict(json.loads(page.to_json())).notes == page.notes
    explained = str(curator.explain(COUNTS, epsilon=0.2, language="es"))
    assert "Laplace entera" in explained or "Laplace entero" in explained
    paid_once(curator)
    curator.close()
    spanish = Curator(study, language="es")
    assert spanish.sql(COUNTS, epsilon=0.1).notes == page.notes
    assert str(spanish.describe()).count("columna") == 1
    paid_once(spanish)
    spanish.close()
    with pytest.raises(InvalidParameter, match="no language 'xx'"):
        Curator(study, language="xx")


# ---- (d) what is measured again is named -----------------------------------------------------------------------------


def codes(notes: tuple[Mapping[str, Any], ...]) -> list[Mapping[str, Any]]:
    return [note for note in notes if note["code"] == "shared"]


def test_a_measure_that_was_bought_before_is_named_and_drawn_again(curator: Curator) -> None:
    wider = TOWNS.replace("AS n", "AS n, AVG(age) AS age")
    first = curator.sql(TOWNS, epsilon=LITTLE)
    assert codes(first.remarks) == []
    told = {"code": "shared", "measures": "rows", "charge": first.charge}
    explained = curator.explain(wider, epsilon=LITTLE)
    assert explained.shared == (told,)
    assert "rows: measured before, in charge 1" in " ".join(str(explained).split())
    assert explained.to_dict()["shared"] == [told]
    second = curator.sql(wider, epsilon=LITTLE)
    assert not second.repeated
    assert codes(second.remarks) == [told]
    assert any("measured before, in charge 1" in note for note in second.notes)
    assert second["n"] != first["n"]  # another draw
    assert curator.budget().spent == PureDP(2 * LITTLE)
    (_, charge) = curator.history()
    assert charge.note["shared"] == [{"charge": first.charge, "measures": ["rows"]}]
    assert isinstance(charge.note["measures"], list)
    assert len(charge.note["measures"]) == 2


def test_what_a_purchase_shares_is_told_again_with_every_presentation(curator: Curator) -> None:
    wider = COUNTS.replace("AS n", "AS n, AVG(age) AS age")
    curator.sql(COUNTS, epsilon=0.1)
    second = curator.sql(wider, epsilon=0.1)
    again = curator.sql(wider + " ORDER BY age", epsilon=0.1)
    assert again.repeated
    assert codes(again.remarks) == codes(second.remarks) != []


def test_a_question_about_other_rows_shares_nothing(curator: Curator) -> None:
    curator.sql(COUNTS, epsilon=0.1)
    for other in (TOWNS, COUNTS.replace("FROM people", "FROM people WHERE age > 3")):
        assert curator.explain(other, epsilon=0.1).shared == ()
        assert codes(curator.sql(other, epsilon=0.1).remarks) == []
    curator.reload("people")
    assert curator.explain(COUNTS, epsilon=0.1).shared == ()


# ---- (e) anything can be bought, of kinds that are known -------------------------------------------------------------


@dataclass(frozen=True)
class Coin:
    """The least that can be bought: a noised zero."""

    declared: Mapping[str, Table]
    kinds: frozenset[str] = frozenset({"integer-laplace"})
    identity: str | None = "coin"
    fails: bool = False
    runs: list[int] = field(default_factory=list, compare=False)

    tables = ("people",)
    optional: frozenset[str] = frozenset()
    parts: tuple[Purchase, ...] = ()
    measured: Mapping[str, str] = field(default_factory=dict)
    contained: tuple[str, ...] = ()
    undeclared: tuple[Mapping[str, object], ...] = ()
    note: Mapping[str, object] = field(default_factory=lambda: {"asked": "a coin"})

    @property
    def guarantee(self) -> Guarantee:
        return PureDP(0.25)

    @property
    def mechanism(self) -> IntegerLaplace:
        return IntegerLaplace(1, 0.25)

    @property
    def event(self) -> Event:
        return self.mechanism.event

    @property
    def ran(self) -> Event:
        return self.event

    def prepare(self, engines: EnginePool) -> None:
        engines.of(self.tables)

    def run(self, engines: EnginePool, progress: Progress | None = None) -> bytes:
        self.runs.append(1)
        if self.fails:
            raise ValueError("row 4711: salary 123456")
        return str(self.mechanism.release(0)).encode()


def test_anything_is_bought_the_same_way(curator: Curator) -> None:
    coin = Coin(curator.tables)
    first = curator.buy(coin)
    assert not first.repeated
    assert int(first.measurement) == float(first.measurement)
    assert curator.budget().spent == PureDP(0.25)
    (charge,) = curator.history()
    assert (charge.id, charge.settled, charge.event) == (first.charge.id, True, coin.event)
    assert charge.note["asked"] == "a coin"
    again = curator.buy(coin)
    assert again.repeated
    assert (again.measurement, again.charge.id) == (first.measurement, charge.id)
    assert coin.runs == [1]
    assert not curator.buy(coin, Request(fresh=True)).repeated
    assert not curator.buy(replace(coin, identity="another")).repeated
    assert not curator.buy(replace(coin, identity=None)).repeated
    assert curator.budget().remaining == PureDP(0)


def test_a_purchase_that_fails_keeps_its_charge_and_says_nothing(study: Path) -> None:
    seen: list[Exception] = []
    opened = Curator(study, on_error=seen.append)
    coin = Coin(opened.tables, fails=True)
    with pytest.raises(EngineFailed, match="charge 1 is kept") as raised:
        opened.buy(coin)
    assert raised.value.what == "The engine could not run the plan."
    assert "4711" not in str(raised.value)
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)
    assert [str(error) for error in seen] == ["row 4711: salary 123456"]
    assert opened.budget().spent == PureDP(0.25)
    assert not opened.history()[0].settled
    whole = replace(coin, fails=False)
    assert not opened.buy(whole).repeated  # nothing was kept of the first
    assert opened.budget().spent == PureDP(0.5)
    opened.close()


@pytest.mark.parametrize("kind", ["magic", "integer Laplace", "", "INTEGER-LAPLACE"])
def test_a_kind_that_is_not_known_is_refused(curator: Curator, kind: str) -> None:
    coin = Coin(curator.tables, kinds=frozenset({kind}))
    with pytest.raises(QuestionRefused, match="does not allow") as refused:
        curator.buy(coin)
    assert refused.value.code == "mechanism-not-allowed"
    assert refused.value.facts == {"kind": kind}
    assert (coin.runs, curator.history()) == ([], ())


def test_a_policy_of_kinds_holds_for_questions_batches_and_anything_else(study: Path) -> None:
    strict = Curator(study, policy=Policy(mechanisms=("integer-gaussian",)))
    wrongs: list[Callable[[], object]] = [
        lambda: strict.sql(COUNTS, epsilon=0.1),
        lambda: strict.publish(strict.batch({"a": COUNTS}, epsilon=0.1)),
        lambda: strict.buy(Coin(strict.tables)),
    ]
    for wrong in wrongs:
        with pytest.raises(QuestionRefused, match="does not allow the mechanism 'integer-laplace'"):
            wrong()
    assert strict.history() == ()
    strict.close()


def test_what_was_made_from_other_declarations_is_refused(curator: Curator, study: Path) -> None:
    other = Curator(study, ledger="memory:")
    for foreign in (Coin(other.tables), other.plan(COUNTS, epsilon=0.1), other.batch({"a": COUNTS}, epsilon=0.1)):
        with pytest.raises(InvalidParameter, match="not planned by this curator"):
            curator.buy(foreign)
    assert curator.history() == ()
    other.close()


def test_a_table_that_cannot_be_opened_costs_nothing(study: Path) -> None:
    Path("people.csv").unlink()
    opened = Curator(study)
    wrongs: list[Callable[[], object]] = [
        lambda: opened.sql(COUNTS, epsilon=0.1),
        lambda: opened.publish(opened.batch({"a": COUNTS}, epsilon=0.1)),
        lambda: opened.buy(Coin(opened.tables)),
    ]
    for wrong in wrongs:
        with pytest.raises(InvalidParameter, match=r"people\.csv"):
            wrong()
    assert opened.history() == ()
    opened.close()


# ---- (f) batches -----------------------------------------------------------------------------------------------------


def test_what_the_questions_of_a_batch_are_called_is_free(curator: Curator) -> None:
    one, two = COUNTS, "SELECT AVG(age) AS age FROM people"
    first = curator.publish(curator.batch({"a": one, "b": two}, epsilon=0.4))
    renamed = curator.publish(curator.batch({"mean": two, "sexes": one + " ORDER BY n"}, epsilon=0.4, confidence=0.9))
    assert renamed.repeated
    assert list(renamed) == ["mean", "sexes"]
    assert renamed["mean"]["age"] == first["b"]["age"]
    assert by_key(renamed["sexes"]) == by_key(first["a"])
    spanish = curator.publish(curator.batch({"a": one, "b": two}, epsilon=0.4), language="es")
    assert spanish.repeated
    assert "para todo junto" in spanish.statement()
    paid_once(curator, 0.4)


def test_two_questions_of_one_measurement_in_a_batch_are_two_draws(curator: Curator) -> None:
    """Each was paid for; which is which does not depend on their names."""
    twice = curator.publish(curator.batch({"a": TOWNS, "b": TOWNS}, epsilon=2 * LITTLE))
    again = curator.publish(curator.batch({"c": TOWNS, "d": TOWNS}, epsilon=2 * LITTLE))
    assert again.repeated
    assert (again["c"]["n"], again["d"]["n"]) == (twice["a"]["n"], twice["b"]["n"])
    assert twice["a"]["n"] != twice["b"]["n"]
    paid_once(curator, 2 * LITTLE)


# ---- what a curator says of itself -----------------------------------------------------------------------------------


def test_an_option_that_there_is_not_is_refused_with_the_one_meant(curator: Curator) -> None:
    wrong: dict[str, Any] = {"analist": "ana"}
    for ask in (curator.ask, curator.sql):
        with pytest.raises(InvalidParameter, match=r"no option 'analist'.*'analyst'"):
            ask(COUNTS, epsilon=0.1, **wrong)
    with pytest.raises(InvalidParameter, match=r"no option 'analist'.*'analyst'"):
        curator.table("people").aggregate(n=count()).ask(epsilon=0.1, **wrong)
    misspelt: dict[str, Any] = {"epsilom": 0.1}
    with pytest.raises(InvalidParameter, match="'epsilon'"):
        curator.plan(COUNTS, **misspelt)
    assert curator.history() == ()


def test_a_curator_describes_what_it_holds(curator: Curator) -> None:
    curator.sql(COUNTS, epsilon=0.25)
    text = str(curator.describe())
    for said in ("people: protects one row added or removed", "F, M", "0 … 100, never NULL", "0.75 remaining"):
        assert said in text
    assert [balance.remaining for balance in curator.budgets()] == [PureDP(0.75)]
    assert repr(curator).startswith("<Curator of people: ")
    assert "0.75 remaining" in repr(curator)
    assert "<table>" in curator._repr_html_()
    assert json.loads(json.dumps(curator.describe().to_dict()))["tables"]["people"]["unit"] is None
