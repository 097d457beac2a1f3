"""Prepared copies that outlive a curator: attached for the tables that are asked, and only of their present rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curador.curator.curator import Curator
from curador.curator.prepared import StoredCopies, attach_stored, prepare_stored, stored_copies
from curador.errors import InvalidParameter

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


def test_copies_are_attached_for_the_named_tables_only(study: Path, curator: Curator) -> None:
    """Also where the name of one table is a part of another's."""
    for table in ("a", "visits_a"):
        prepare_stored(curator, study, table, ["town"])
    other = Curator(study)
    attached: list[str] = []
    other.attach = lambda prepared: attached.append(prepared.table)  # type: ignore[method-assign]
    attach_stored(other, study, ["visits_a", "visits_a", "towns"])
    assert attached == ["visits_a"]
    other.close()


def test_only_copies_of_the_present_rows_are_found(study: Path, curator: Curator) -> None:
    copies = stored_copies(curator, study)
    assert not copies
    made = prepare_stored(curator, study, "a", ["town"])
    assert copies
    assert [p.place for p in copies.for_table("a")] == [str(study.parent / made.prepared.place)]
    assert copies.for_table("visits_a") == []
    curator.reload("a")
    assert copies.for_table("a") == []
    prepare_stored(curator, study, "a")
    assert [p.group_by for p in copies.for_table("a")] == [()]  # the copy of the old rows is gone
    assert not (study.parent / made.prepared.place).exists()


def test_a_copy_that_is_removed_is_returned(study: Path, curator: Curator) -> None:
    made = prepare_stored(curator, study, "a", ["town"])
    assert made.in_file
    assert stored_copies(curator, study).remove("a") == [made]
    assert stored_copies(curator, study).remove("a") == []
    assert list(study.parent.glob("*.prepared")) == []


@pytest.mark.parametrize("table", ["towns", "nowhere"])
def test_only_private_tables_are_prepared(study: Path, curator: Curator, table: str) -> None:
    with pytest.raises(InvalidParameter, match="not a private table"):
        prepare_stored(curator, study, table)


@pytest.mark.parametrize("text", ["", "{", "3", "[1]", '[{"table": "a"}]', '[{"data": 3}]', "{}x"])
def test_a_list_that_cannot_be_read(study: Path, text: str) -> None:
    (study.parent / "study.prepared.json").write_text(text)
    with pytest.raises(InvalidParameter, match=r"study\.prepared\.json cannot be read"):
        StoredCopies(study, lambda table: (1, 1)).for_table("a")
