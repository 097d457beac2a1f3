"""Prepared copies that outlive a curator: attached for the tables that are asked, and only of their present rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curador.curator.curator import Curator
from curador.curator.prepared import StoredCopies, prepare_stored
from curador.errors import InvalidParameter
from curador.privacy import PureDP

STUDY = """
[budget]
epsilon = 3

[tables.a]
source = "a.csv"
unit = "pid"
columns = { pid = "integer", town = { type = "text", keys = ["Lugo"] } }

[tables.visits_a]
source = "a.csv"
unit = "pid"
contribution = { groups = 1, rows = 1 }
columns = { pid = "integer", town = { type = "text", keys = ["Lugo"] } }

[tables.towns]
source = "towns.csv"
public = true
columns = { town = "text" }
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "a.csv").write_text("pid,town\n" + "".join(f"{i},Lugo\n" for i in range(50)))
    (tmp_path / "towns.csv").write_text("town\nLugo\n")
    return tmp_path / "study.toml"


@pytest.fixture
def curator(study: Path) -> Iterator[Curator]:
    opened = Curator(study)
    yield opened
    opened.close()


def copies_of(curator: Curator) -> StoredCopies:
    assert curator.copies is not None
    return curator.copies


def test_copies_are_attached_for_the_tables_that_are_asked_about_only(study: Path, curator: Curator) -> None:
    """Also where the name of one table is a part of another's; and once."""
    for table in ("a", "visits_a"):
        prepare_stored(curator, table, ["town"])
    other = Curator(study)
    attached: list[str] = []
    other.attach = lambda prepared: attached.append(prepared.table)  # type: ignore[method-assign]
    for _ in range(2):
        other.plan("SELECT town, COUNT(*) AS n FROM visits_a GROUP BY town", epsilon=1)
    assert attached == ["visits_a"]
    other.close()


def test_only_copies_of_the_present_rows_are_found(study: Path, curator: Curator) -> None:
    copies = copies_of(curator)
    assert not copies
    made = prepare_stored(curator, "a", ["town"])
    assert copies
    assert [p.place for p in copies.for_table("a")] == [str(study.parent / made.prepared.place)]
    assert copies.for_table("visits_a") == []
    curator.reload("a")
    assert copies.for_table("a") == []
    prepare_stored(curator, "a")
    assert [p.group_by for p in copies.for_table("a")] == [()]  # the copy of the old rows is gone
    assert not (study.parent / made.prepared.place).exists()


def test_a_copy_that_is_removed_is_returned(study: Path, curator: Curator) -> None:
    made = prepare_stored(curator, "a", ["town"])
    assert made.in_file
    assert copies_of(curator).remove("a") == [made]
    assert copies_of(curator).remove("a") == []
    assert list(study.parent.glob("*.prepared")) == []


@pytest.mark.parametrize("table", ["towns", "nowhere"])
def test_only_private_tables_are_prepared(study: Path, curator: Curator, table: str) -> None:
    with pytest.raises(InvalidParameter, match="not a private table"):
        prepare_stored(curator, table)


def test_copies_are_kept_beside_a_study_file(study: Path) -> None:
    from_python = Curator({"a": Curator(study, ledger="memory:").tables["a"]}, PureDP(1))
    assert from_python.copies is None
    with pytest.raises(InvalidParameter, match="next to a study file"):
        prepare_stored(from_python, "a")
    from_python.close()


@pytest.mark.parametrize("text", ["", "{", "3", "[1]", '[{"table": "a"}]', '[{"data": 3}]', "{}x"])
def test_a_list_that_cannot_be_read(study: Path, text: str) -> None:
    (study.parent / "study.prepared.json").write_text(text)
    with pytest.raises(InvalidParameter, match=r"study\.prepared\.json cannot be read"):
        StoredCopies(study, lambda table: (1, 1)).for_table("a")
