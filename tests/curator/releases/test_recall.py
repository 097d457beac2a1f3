"""What a charge bought is shown again as it was, or in another way: from the ledger alone, and free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from curador import ApproxDP, CuradorError, Curator, Publication, PureDP, Release, Table
from curador.curator.purchase import Request
from curador.curator.purchases.kept import opened
from curador.curator.releases.recall import recall

SEXES = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING n > 0 ORDER BY n"
HOURS = "SELECT AVG(hours) AS hours FROM people"
WORDS = {"title": "Work", "because": "", "questions": {"sexes": {"title": "Who is there", "why": "", "sql": SEXES}}}
COLUMNS = {"sex": {"type": "text", "keys": ["F", "M"]}, "hours": {"type": "integer", "bounds": [0, 80]}}


@pytest.fixture
def curator(tmp_path: Path) -> Iterator[Curator]:
    (tmp_path / "people.csv").write_text("sex,hours\n" + "F,38\nM,41\nF,20\n" * 100)
    made = Curator({"people": Table(str(tmp_path / "people.csv"), columns=COLUMNS)}, budget=ApproxDP(20, 1e-4))
    made.grant("ana", epsilon=5, delta=1e-5)
    made.grant("bea", epsilon=5, delta=1e-5)
    yield made
    made.close()


def single(found: Release | Publication | None) -> Release:
    assert isinstance(found, Release)
    return found


def test_columns_are_renamed_wherever_the_question_speaks_of_them(curator: Curator) -> None:
    bought = curator.ask(SEXES, epsilon="0.5", analyst="ana")
    named = {"": {"n": "people", "sex": "who", "nothing": "x"}}
    found = single(recall(curator, bought.charge, "ana", names=named, order={"": ("n", True)}, confidence=0.9))
    assert list(found.columns) == ["who", "people"]
    assert sorted(found["people"], reverse=True) == list(found["people"])  # type: ignore[type-var]
    assert set(found["people"]) == set(bought["n"])
    assert found.confidence == 0.9
    assert len(curator.history()) == 1


@pytest.mark.parametrize("name", ["sex", "N\x00", "x" * 1000])
def test_a_name_that_cannot_be_is_refused(curator: Curator, name: str) -> None:
    bought = curator.ask(SEXES, epsilon="0.5", analyst="ana")
    with pytest.raises(CuradorError):
        recall(curator, bought.charge, "ana", names={"": {"n": name}})


@pytest.mark.parametrize("options", [{}, {"adjust": False}, {"tight": "1e-6"}])
def test_a_publication_is_shown_again_as_it_was(curator: Curator, options: dict[str, object]) -> None:
    asked = {"sexes": SEXES, "hours": HOURS}
    batch = curator.batch(asked, epsilon=1, words=WORDS, **options)  # type: ignore[arg-type]
    bought = curator.publish(batch, analyst="ana")
    found = recall(curator, bought.charge, "ana")
    assert isinstance(found, Publication)
    assert found.to_dict() == bought.to_dict()
    assert list(found) == list(asked)
    assert found.title("sexes") == "Who is there"
    assert "Who is there" in found.report().html


def test_each_release_of_a_publication_is_sorted_and_named_by_itself(curator: Curator) -> None:
    bought = curator.publish(curator.batch({"sexes": SEXES, "hours": HOURS}, epsilon=1))
    down = recall(curator, bought.charge, order={"sexes": ("sex", True)}, names={"hours": {"hours": "mean"}})
    assert isinstance(down, Publication)
    assert down["sexes"]["sex"] == ("M", "F")
    assert list(down["hours"].columns) == ["mean"]


def test_whoever_pays_for_what_another_bought_sees_it_in_their_own_words(curator: Curator) -> None:
    first = curator.ask(SEXES, epsilon="0.5", analyst="ana", because="hers")
    again = curator.ask("SELECT sex, COUNT(*) AS people FROM people GROUP BY sex", epsilon="0.5", analyst="bea")
    assert (again.charge, sorted(again.numbers("people"))) == ("2", sorted(first.numbers("n")))
    assert recall(curator, first.charge, "bea") is None
    seen = single(recall(curator, again.charge, "bea"))
    assert list(seen.columns) == ["sex", "people"]
    assert "hers" not in str(seen.to_dict())
    batch = curator.batch({"sexes": SEXES, "hours": HOURS}, epsilon=1, words=WORDS)
    curator.publish(batch, analyst="ana")
    plain = curator.publish(curator.batch({"a": SEXES, "b": HOURS}, epsilon=1), analyst="bea")
    shown = recall(curator, plain.charge, "bea")
    assert isinstance(shown, Publication)
    assert list(shown) == ["a", "b"]
    assert "Who is there" not in str(shown.to_dict())


def test_how_well_rows_fit_is_shown_again_as_it_was(curator: Curator) -> None:
    asked = curator.quality("people", epsilon="0.5")
    expected = asked.to_dict()["questions"]["sex"]["expected"][0]["error"]
    bought = curator.buy_quality(asked, Request())
    found = single(recall(curator, bought.charge))
    assert (found.columns, found.intervals, found.guarantee) == (bought.columns, bought.intervals, bought.guarantee)
    low, high = found.interval("fits")
    assert abs((high - low) / 2 - expected) <= 1.5  # what was said before it was paid
    assert single(recall(curator, bought.charge, confidence=0.8)).interval("fits")[0] > low
    assert recall(curator, bought.charge, "ana") is None
    assert len(curator.history()) == 1


@contextmanager
def later(curator: Curator, tables: Mapping[str, Table]) -> Iterator[Curator]:
    """The same ledger under other declarations."""
    with closing(Curator(tables, budget=ApproxDP(20, 1e-4), ledger=curator.ledger)) as made:
        yield made


def declared(folder: Path, **columns: object) -> Table:
    return Table(str(folder / "people.csv"), columns={**COLUMNS, **columns})


def without_declarations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements are kept as older versions did, alone."""
    monkeypatch.setattr("curador.curator.purchase.kept", lambda purchase: b"")


OTHERWISE: dict[str, dict[str, object]] = {
    "bound": {"hours": {"type": "integer", "bounds": [0, 99]}},
    "type": {"hours": "text"},
    "keys": {"sex": {"type": "text", "keys": ["M", "F", "X"]}},
    "more": {"age": "integer"},
}


@pytest.mark.parametrize("how", [*OTHERWISE, "withdrawn", "reloaded"])
def test_what_was_bought_is_shown_as_it_was_whatever_is_declared_later(
    curator: Curator, tmp_path: Path, how: str
) -> None:
    single_one = curator.ask(SEXES, epsilon="0.5", analyst="ana")
    several = curator.publish(curator.batch({"sexes": SEXES, "hours": HOURS}, epsilon=1, words=WORDS), analyst="ana")
    quality = curator.buy_quality(curator.quality("people", epsilon="0.5"), Request())
    own = ((single_one.charge, "ana"), (several.charge, "ana"), (quality.charge, None))
    before = [recall(curator, charge, who) for charge, who in own]
    if how == "reloaded":
        curator.reload("people")
    name = "others" if how == "withdrawn" else "people"
    (tmp_path / "others.csv").write_text("sex,hours\nF,3\n")
    there = Table(str(tmp_path / "others.csv"), columns=COLUMNS)
    tables = {name: there if how == "withdrawn" else declared(tmp_path, **OTHERWISE.get(how, {}))}
    with later(curator, tables) as changed:
        for (charge, who), was in zip(own, before, strict=True):
            found = recall(changed, charge, who)
            assert found is not None
            assert was is not None
            assert found.to_dict() == was.to_dict()
        down = recall(changed, several.charge, order={"sexes": ("sex", True)}, confidence=0.8)
        assert isinstance(down, Publication)
        assert down["sexes"]["sex"] == ("M", "F")
        assert len(changed.history()) == 3


def test_what_was_bought_with_a_public_table_or_a_prepared_copy_is_shown_without_them(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("id,town\n" + "".join(f"{i},{'LV'[i % 2]}\n" for i in range(90)))
    (tmp_path / "towns.csv").write_text("code,name\nL,Lugo\nV,Vigo\n")
    code = {"type": "text", "keys": ["L", "V"]}
    visits = Table(
        str(tmp_path / "visits.csv"), unit="id", columns={"id": "integer", "town": code}, contribution=(1, 1)
    )
    towns = Table(str(tmp_path / "towns.csv"), columns={"code": code, "name": "text"}, public=True)
    with closing(Curator({"visits": visits, "towns": towns}, budget=PureDP(9), ledger="memory:")) as curator:
        joined = "SELECT name, COUNT(*) AS n FROM visits JOIN towns ON visits.town = towns.code GROUP BY name"
        public = curator.ask(joined, epsilon=1)
        assert set(public["name"]) == {"Lugo", "Vigo"}
        curator.prepare("visits", ["town"])
        copied = curator.ask("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", epsilon=1)
        assert '"copy":{' in (curator.ledger.answer(copied.charge) or b"").decode()
        (tmp_path / "towns.csv").write_text("code,name\nL,Elsewhere\n")
        changed = Curator({"visits": visits}, budget=PureDP(9), ledger=curator.ledger)
        for bought in (public, copied):
            assert single(recall(changed, bought.charge)).to_dict() == bought.to_dict()
        changed.close()


def test_what_an_older_version_kept_alone_is_shown_while_it_is_declared_as_it_was(
    curator: Curator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_declarations(monkeypatch)
    bought = curator.ask(SEXES, epsilon="0.5")
    assert single(recall(curator, bought.charge)).to_dict() == bought.to_dict()
    with later(curator, {"people": declared(tmp_path, **OTHERWISE["bound"])}) as changed:
        with pytest.raises(CuradorError) as refused:
            recall(changed, bought.charge)
        assert refused.value.code == "not-recalled"
        assert "paid for again" in refused.value.fix


def test_another_question_than_was_bought_is_never_read_into_a_measurement(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    bought = curator.ask(SEXES, epsilon="0.5")
    line, measurement = opened(curator.ledger.answer(bought.charge) or b"")
    other = line.replace(b'"keys":["F","M"]', b'"keys":["M","F","X"]')
    assert other != line
    monkeypatch.setattr(curator.ledger, "answer", lambda charge: other + b"\n" + measurement)
    with pytest.raises(CuradorError) as refused:
        recall(curator, bought.charge)
    assert refused.value.code == "not-recalled"


def test_whoever_buys_the_same_under_other_names_and_in_another_order_sees_it_again(tmp_path: Path) -> None:
    """What was kept of the first buyer's public keys is found by the question, and not by its name."""
    (tmp_path / "people.csv").write_text("sex,hours\n" + "F,38\nM,41\nF,20\n" * 100)
    (tmp_path / "bands.csv").write_text("sex,band\nF,x\nM,y\n")
    public = Table(str(tmp_path / "bands.csv"), columns={"sex": "text", "band": "text"}, public=True)
    tables = {"people": Table(str(tmp_path / "people.csv"), columns=COLUMNS), "bands": public}
    with closing(Curator(tables, budget=ApproxDP(20, 1e-4))) as curator:
        for name in ("ana", "bea"):
            curator.grant(name, epsilon=5)
        join = "COUNT(*) AS n FROM people p JOIN bands t ON p.sex = t.sex GROUP BY"
        asked = [f"SELECT t.band AS band, p.hours > 30 AS long, {join} band, long", SEXES]
        turned = [f"SELECT p.hours > 30 AS late, t.band AS band, {join} late, band", SEXES]
        first = curator.sql(asked[0], epsilon=1, analyst="ana")
        other = curator.sql(turned[0], epsilon=1, analyst="bea")
        assert sorted(other.numbers("n")) == sorted(first.numbers("n"))
        found = single(recall(curator, other.charge, "bea"))
        assert found.to_dict() == other.to_dict()
        assert list(found.columns) == ["late", "band", "n"]
        curator.publish(curator.batch(dict(zip("ab", asked, strict=True)), epsilon=1), analyst="ana")
        again = curator.publish(curator.batch(dict(zip("ba", turned, strict=True)), epsilon=1), analyst="bea")
        shown = recall(curator, again.charge, "bea")
        assert isinstance(shown, Publication)
        assert [shown[n].columns for n in shown] == [again[n].columns for n in again]


def test_questions_too_long_for_the_record_are_shown_again(curator: Curator) -> None:
    """They were sold, and never shown."""
    hours = " AND ".join(f"hours <> {n}" for n in range(81, 400))
    long = f"SELECT sex, COUNT(*) AS n FROM people WHERE {hours} GROUP BY sex"
    bought = curator.ask(long, epsilon="0.5", analyst="ana", anyway=True)
    assert "sha256" in curator.ledger.charge(str(bought.charge)).note["asked"]  # type: ignore[operator]
    assert single(recall(curator, bought.charge, "ana")).to_dict()["columns"] == bought.to_dict()["columns"]
    assert single(recall(curator, bought.charge)).to_dict()["columns"] == bought.to_dict()["columns"]
    many = {
        f"q{n}": f"{SEXES} LIMIT {n + 1}".replace("people GROUP", f"people WHERE hours > {n} GROUP") for n in range(30)
    }
    sold = curator.publish(curator.batch(many, epsilon=1), analyst="ana")
    shown = recall(curator, sold.charge, "ana")
    assert isinstance(shown, Publication)
    assert list(shown) == list(many)
    again = curator.ask(
        long, epsilon="0.5", analyst="bea", anyway=True
    )  # whose own record is too long, and nobody else's is shown
    with pytest.raises(CuradorError) as refused:
        recall(curator, again.charge, "bea")
    assert refused.value.code == "not-recalled"


def test_a_check_of_many_columns_is_shown_again() -> None:
    """Its record is too long for a charge's note, with ten columns already."""
    columns = {f"a_column_{n}": {"type": "text", "keys": ["some key", "another key"]} for n in range(40)}
    rows = pa.table({name: ["some key"] * 50 for name in columns})
    with closing(Curator({"wide": Table(rows, columns=columns)}, budget=PureDP(10))) as curator:
        bought = curator.buy_quality(curator.quality("wide", epsilon=1), Request())
        assert single(recall(curator, bought.charge)).columns == bought.columns
