"""A table whose file is not there is refused for nothing; others are answered, unless they may read its rows now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curador.curator.curator import Curator
from curador.errors import CuradorError, InvalidParameter
from curador.privacy import PureDP
from curador.query.tables.table import Table

COLUMNS: dict[str, Any] = {"x": {"type": "integer", "bounds": [0, 9]}}


def opened(folder: Path, apart: bool = False, **tables: Any) -> Curator:
    declared = {name: Table(folder / source, columns=COLUMNS) for name, source in tables.items()}
    budget = dict.fromkeys(tables, PureDP(1)) if apart else PureDP(1)
    return Curator(declared, budget=budget, ledger=folder / "x.db")


def file_of(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("x\n1\n1\n")
    return path


def refusal(curator: Curator, table: str) -> InvalidParameter:
    before = curator.charge_count()
    with pytest.raises(InvalidParameter) as refused:
        curator.ask(f"SELECT COUNT(*) AS n FROM {table}", epsilon="0.1")
    assert curator.charge_count() == before
    return refused.value


def answers(curator: Curator, table: str) -> bool:
    curator.ask(f"SELECT COUNT(*) AS n FROM {table}", epsilon="0.1", fresh=True)
    return True


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("source", ["gone.csv", "gone-*.parquet", "folder/gone.parquet"])
def test_other_tables_are_answered(tmp_path: Path, apart: bool, source: str) -> None:
    file_of(tmp_path, "here.csv")
    curator = opened(tmp_path, apart=apart, here="here.csv", gone=source)
    assert answers(curator, "here")
    refused = refusal(curator, "gone")
    assert (refused.code, refused.facts["table"], refused.facts["file"]) == ("file-missing", "gone", Path(source).name)
    assert str(tmp_path) not in str(refused)
    joined = "SELECT COUNT(*) AS n FROM here JOIN gone USING (x)"
    with pytest.raises(CuradorError):
        curator.ask(joined, epsilon="0.1")


def test_a_database_file_that_is_not_there(tmp_path: Path) -> None:
    file_of(tmp_path, "here.csv")
    tables = {
        "here": Table(tmp_path / "here.csv", columns=COLUMNS),
        "gone": Table(f"duckdb:///{tmp_path}/gone.duckdb#t", columns=COLUMNS),
    }
    curator = Curator(tables, budget=PureDP(1), ledger=tmp_path / "x.db")
    assert answers(curator, "here")
    assert refusal(curator, "gone").code == "file-missing"


def test_a_file_that_goes_and_comes_back_while_the_curator_is_open(tmp_path: Path) -> None:
    file_of(tmp_path, "here.csv")
    there = file_of(tmp_path, "other.csv")
    curator = opened(tmp_path, here="here.csv", other="other.csv")
    assert answers(curator, "other")
    there.rename(tmp_path / "elsewhere.csv")
    assert refusal(curator, "other").code == "file-missing"
    assert answers(curator, "here")
    (tmp_path / "elsewhere.csv").rename(there)
    assert answers(curator, "other")


def test_a_file_that_comes_after_the_others_were_opened(tmp_path: Path) -> None:
    """Whose rows it has is looked at when a study is opened: until then it is not read."""
    file_of(tmp_path, "here.csv")
    curator = opened(tmp_path, here="here.csv", late="late.csv")
    assert answers(curator, "here")
    file_of(tmp_path, "late.csv")
    assert refusal(curator, "late").code == "file-back"
    assert answers(opened(tmp_path, here="here.csv", late="late.csv"), "late")


def test_a_table_that_may_read_what_was_lost_is_not_charged(tmp_path: Path) -> None:
    """One file was moved over another: the people of the lost table would lose both budgets."""
    lost = file_of(tmp_path, "lost.csv")
    file_of(tmp_path, "other.csv")
    file_of(tmp_path, "third.csv")
    tables: dict[str, Any] = {"lost": "lost.csv", "other": "other.csv", "third": "third.csv"}
    for name in tables:
        assert answers(opened(tmp_path, apart=True, **tables), name)
    lost.rename(tmp_path / "other.csv")
    for _ in range(2):  # nor has the number gone over to the other table meanwhile
        curator = opened(tmp_path, apart=True, **tables)
        assert refusal(curator, "other").code == "table-read-twice"
        assert refusal(curator, "lost").code == "file-missing"
        assert answers(curator, "third")
    file_of(tmp_path, "lost.csv")
    assert answers(opened(tmp_path, apart=True, **tables), "other")


def test_in_one_budget_for_all_a_moved_file_is_answered(tmp_path: Path) -> None:
    lost = file_of(tmp_path, "lost.csv")
    file_of(tmp_path, "other.csv")
    tables: dict[str, Any] = {"lost": "lost.csv", "other": "other.csv"}
    assert answers(opened(tmp_path, **tables), "lost")
    lost.rename(tmp_path / "other.csv")
    assert answers(opened(tmp_path, **tables), "other")
