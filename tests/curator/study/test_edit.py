"""A study file changed by a program: what is not changed stays, comments too, wherever sections stand."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from curador.curator.study.edit import checked, with_changed, with_entry, without_entry
from curador.errors import InvalidParameter

STUDY = """# A study
[tables.people]
source = "people.csv"  # from the census
unit = "row"
[tables.people.columns]
age = { type = "integer", bounds = [0, 100] }  # by law
sex = "text"

[budget]
epsilon = 2  # decided in May

[tables.visits]
source = "visits.csv"
unit = "row"
[tables.visits.columns]
day = { type = "date", bounds = [2020-01-01, 2020-12-31] }

[server]
tick = "1s"
"""


def tables(text: str, tmp_path: Path) -> Any:
    return checked(tmp_path / "study.toml", text).tables


def test_a_section_is_changed_and_the_rest_stays(tmp_path: Path) -> None:
    columns = {"age": {"type": "integer", "bounds": [0, 100]}, "sex": {"type": "text", "keys": ["F", "M"]}}
    text = with_changed(STUDY, ("tables", "people"), {"source": "people.csv", "unit": "row", "columns": columns})
    kept = ("# A study", "# from the census", "# by law", "# decided in May", "[tables.visits]", 'tick = "1s"')
    assert [one for one in kept if one not in text] == []
    found = tables(text, tmp_path)
    assert found["people"].columns["sex"].keys == ("F", "M")
    assert list(found) == ["people", "visits"]
    days = {"type": "date", "bounds": [date(2019, 1, 1), date(2020, 12, 31)]}
    later = with_changed(text, ("tables", "visits"), {"source": "visits.csv", "unit": "row", "columns": {"day": days}})
    assert "2019-01-01" in later
    assert [one for one in kept if one not in later] == []
    assert len(tables(later, tmp_path)) == 2


@pytest.mark.parametrize("name", ["people", "visits"])
def test_an_entry_is_taken_out_with_all_that_is_below_it(tmp_path: Path, name: str) -> None:
    text = without_entry(STUDY, ("tables", name))
    (other,) = tables(text, tmp_path)
    assert other != name
    assert f"tables.{name}" not in text
    assert "# decided in May" in text
    again = with_entry(text, ("tables", name), {"source": "a.csv", "unit": "row", "columns": {"a": {"type": "text"}}})
    assert set(tables(again, tmp_path)) == {"people", "visits"}


def test_what_is_not_there_is_not_changed() -> None:
    with pytest.raises(InvalidParameter, match="no 'x' any more"):
        without_entry(STUDY, ("tables", "x"))
    with pytest.raises(InvalidParameter, match="no 'x' any more"):
        with_changed(STUDY, ("tables", "x"), {})


def test_a_refusal_names_the_file_and_not_its_draft(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter) as refused:
        checked(tmp_path / "study.toml", STUDY.replace("[0, 100]", "[100, 0]"))
    assert refused.value.what.startswith("study.toml, table 'people'")
    assert "-draft-" not in str(refused.value)
