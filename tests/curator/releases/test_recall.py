"""What a charge bought is shown again as it was, or in another way: from the ledger alone, and free."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from curador import ApproxDP, CuradorError, Curator, Publication, Release, Table
from curador.curator.purchase import Request
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
    assert again.charge == first.charge
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


def test_how_well_rows_fitted_another_declaration_is_not_shown(curator: Curator, tmp_path: Path) -> None:
    bought = curator.buy_quality(curator.quality("people", epsilon="0.5"), Request())
    columns = {**COLUMNS, "hours": {"type": "integer", "bounds": [0, 99]}}
    other = {"people": Table(str(tmp_path / "people.csv"), columns=columns)}
    with closing(Curator(other, budget=ApproxDP(20, 1e-4), ledger=curator.ledger)) as changed:
        with pytest.raises(CuradorError) as refused:
            recall(changed, bought.charge)
        assert refused.value.code == "not-recalled"
