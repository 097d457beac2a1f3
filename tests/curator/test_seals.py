"""A release carries its ledger's seal: what was changed in it, or made elsewhere, is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from curador.cli.app import app
from curador.curator.curator import Curator
from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release
from curador.curator.releases.verify import verify_release
from curador.errors import InvalidParameter
from curador.ledger.opening import open_ledger
from curador.privacy import PureDP
from curador.query.tables.table import Table

COUNT = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("g,day\n" + "a,2026-01-01\nb,2026-01-02\n" * 50)
    return tmp_path


def opened(folder: Path, ledger: str = "ledger.db") -> Curator:
    columns = {"g": {"type": "text", "keys": ["a", "b"]}, "day": "date"}
    return Curator({"t": Table(folder / "t.csv", columns=columns)}, budget=PureDP(9), ledger=folder / ledger)


def refusal(folder: Path, data: Any) -> str:
    """The code of the refusal by a process that has the ledger and not the data."""
    ledger = open_ledger(folder / "ledger.db")
    try:
        with pytest.raises(InvalidParameter) as refused:
            verify_release(ledger, data)
        return refused.value.code
    finally:
        ledger.close()


def released(folder: Path) -> dict[str, Any]:
    curator = opened(folder)
    curator.sql(COUNT, epsilon=0.25)
    found: dict[str, Any] = json.loads(curator.sql(COUNT, epsilon=0.5).to_json())
    curator.close()
    return found


def set_in(*path: Any) -> Callable[[dict[str, Any]], None]:
    *steps, last, value = path

    def change(data: Any) -> None:
        for step in steps:
            data = data[step]
        data[last] = value

    return change


CHANGES = {
    "epsilon": set_in("guarantee", "epsilon", 0.1),
    "charge": set_in("charge", "1"),
    "value": set_in("columns", "n", 0, 7),
    "column": lambda data: data["columns"].update(m=data["columns"].pop("n")),
    "interval": set_in("intervals", "n", 0, 0, -1e9),
    "confidence": set_in("confidence", 0.99),
    "unit": set_in("unit", "id"),
    "neighbours": set_in("neighbors", "replace"),
    "question": set_in("question", "table", "u"),
    "notes": set_in("notes", []),
    "rehearsal": set_in("rehearsal", True),
    "groups": set_in("groups", []),
    "seal": lambda data: data.update(seal=data["seal"][:-1] + ("0" if data["seal"][-1] != "0" else "1")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_release_is_refused(change: Callable[[dict[str, Any]], None], folder: Path) -> None:
    genuine = released(folder)
    forged = copy.deepcopy(genuine)
    change(forged)
    assert refusal(folder, forged) == "release-changed"
    ledger = open_ledger(folder / "ledger.db")
    assert verify_release(ledger, genuine).charge == "2"
    ledger.close()


def test_what_is_not_sealed_cannot_be_added_or_worded_otherwise(folder: Path) -> None:
    curator = opened(folder)
    data = json.loads(curator.sql(COUNT, epsilon=1.5, because="a reason").to_json())
    batch = json.loads(curator.publish(curator.batch({"x": COUNT}, epsilon=2), because="a reason").to_json())
    curator.close()
    assert refusal(folder, {**data, "statement": "exact numbers"}) == "release-changed"
    assert refusal(folder, {**data, "language": "xx"}) == "release-worded-otherwise"
    for forged in (data, batch, batch["releases"]["x"]):
        forged["notes"] = [{**note, "text": "These numbers are exact."} for note in forged["notes"]]
        assert forged["notes"]
    assert refusal(folder, data) == refusal(folder, batch) == "release-worded-otherwise"
    odd: list[Any] = [float("nan"), [], {}, "\ud800", 10**400]
    for wrong in odd:
        assert refusal(folder, {**data, "intervals": {"n": [[wrong, 1.0]]}}) in ("", "release-changed")
        refusal(folder, {**data, "confidence": wrong})
        refusal(folder, {**data, "notes": [{"code": wrong}]})


def test_a_release_is_genuine_in_every_form(folder: Path) -> None:
    curator = opened(folder)
    release = curator.sql(COUNT, epsilon=0.5)
    again = curator.sql(COUNT, epsilon=0.5, confidence=0.9, language="es")
    batch = curator.publish(curator.batch({"x": COUNT, "y": "SELECT COUNT(*) AS n FROM t"}, epsilon=1))
    day = curator.running_count(curator.table("t"), "day", date(2026, 1, 1), 3, epsilon=1).next()
    for found in (release, again, batch, batch["y"], day, copy.copy(release), Release.from_dict(release.to_dict())):
        assert curator.verify_release(found) == found
        assert curator.verify_release(json.loads(found.to_json())) == found
    assert release.seal != again.seal
    worded = {**release.to_dict(), "language": "es"}  # words are not sealed
    assert curator.verify_release(worded).language == "es"
    curator.close()


@pytest.mark.parametrize(
    "change",
    [
        set_in("guarantee", "epsilon", 0.1),
        set_in("charge", "9"),
        lambda data: data["releases"].pop("y"),
        set_in("releases", "y", "columns", "n", 0, 3),
        lambda data: data["releases"].update(x=data["releases"]["y"]),
        set_in("releases", "y", "seal", ""),
        set_in("releases", "y", "seal", {"any": ["JSON"]}),
        lambda data: data["releases"]["x"].update(seal=data["releases"]["y"]["seal"]),
        lambda data: data["releases"]["y"].pop("seal"),
    ],
)
def test_a_changed_publication_is_refused(change: Callable[[dict[str, Any]], None], folder: Path) -> None:
    curator = opened(folder)
    made = curator.publish(curator.batch({"x": COUNT, "y": "SELECT COUNT(*) AS n FROM t"}, epsilon=1))
    assert isinstance(made, Publication)
    data = json.loads(made.to_json())
    change(data)
    curator.close()
    assert refusal(folder, data) == "release-changed"


def test_what_another_ledger_released_is_refused(folder: Path) -> None:
    released(folder)
    other = opened(folder, "other.db")
    foreign = other.sql(COUNT, epsilon=0.5)
    other.close()
    assert refusal(folder, foreign) == "release-of-another-ledger"
    memory = Curator(other.tables, budget=PureDP(1)).sql(COUNT, epsilon=0.5)
    assert memory.seal == ""
    assert refusal(folder, memory) == "release-unsealed"
    assert refusal(folder, {**foreign.to_dict(), "seal": "x"}) == "release-of-another-ledger"


STUDY = """[budget]
epsilon = 9

[tables.t]
source = "t.csv"
unit = "row"
columns = { g = { type = "text", keys = ["a", "b"] } }
"""


def test_the_command_line_verifies_a_release(folder: Path) -> None:
    study, file = str(folder / "study.toml"), folder / "release.json"
    Path(study).write_text(STUDY)
    run = CliRunner().invoke
    made = run(app, ["ask", COUNT, "--epsilon", "0.5", "--study", study, "--json"])
    file.write_text(made.stdout)
    for language, said in (("en", "as it was released"), ("es", "tal como se publicó")):
        told = run(app, ["ledger", "verify", str(file), "--study", study, "--language", language])
        assert told.exit_code == 0
        assert said in told.stdout
    told = run(app, ["ledger", "verify", str(file), "--study", study, "--json"])
    beside = sorted({"remaining", "repeated"} & json.loads(made.stdout).keys())
    assert json.loads(told.stdout) == {"release": str(file), "charge": "1", "genuine": True, "unsealed": beside}
    file.write_text(json.dumps({**json.loads(made.stdout), "remaining": "a lie"}))
    told = run(app, ["ledger", "verify", str(file), "--study", study])
    assert "Not sealed, and not verified: remaining" in told.stdout
    for nested in ("[" * 200_000, '{"notes":' + "[" * 5000 + "]" * 5000 + "}"):
        file.write_text(nested)
        assert isinstance(run(app, ["ledger", "verify", str(file), "--study", study]).exception, InvalidParameter)
    file.write_text(made.stdout.replace('"epsilon": 0.5', '"epsilon": 0.1').replace('"epsilon":0.5', '"epsilon":0.1'))
    told = run(app, ["ledger", "verify", str(file), "--study", study])
    assert told.exit_code == 1
    assert isinstance(told.exception, InvalidParameter)
    assert told.exception.code == "release-changed"
    twice = made.stdout.rstrip().removesuffix("}") + ', "columns": {"n": [1]}}'
    for forged in (twice, twice.replace('"columns"', '"rows"', 1), "not JSON"):
        file.write_text(forged)
        assert run(app, ["ledger", "verify", str(file), "--study", study]).exit_code == 1
    file.write_text("not JSON")
    assert run(app, ["ledger", "verify", str(file), "--study", study]).exit_code == 1
    assert run(app, ["ledger", "verify", "--study", study]).exit_code == 0


def test_nested_values_are_no_release(folder: Path) -> None:
    released(folder)
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]
    good = released(folder)
    with pytest.raises(InvalidParameter):
        verify_release(open_ledger(folder / "ledger.db"), {**good, "columns": {"n": nested}})
