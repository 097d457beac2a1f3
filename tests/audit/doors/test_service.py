"""The service is attacked as its users reach it: sound doors pass, and a door that leaks is found, with a floor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from curador.audit.doors.run import ANSWERED, UNSENT, AttackRequest, Door, Observation, library
from curador.audit.doors.scenes import SCENES, VICTIMS
from curador.audit.doors.service import NAMES, attack_service, faults
from curador.audit.doors.stage import ScenesOnDisk
from curador.audit.doors.table import ATTACKS, Safe
from curador.audit.doors.times import TimedPair, time_service, times_exhibit
from curador.cli.audit.door import command_line
from curador.cli.audit.web_door import web
from curador.curator.curator import Curator
from curador.errors import InvalidParameter
from curador.privacy import PureDP
from curador.show.words.say import LANGUAGES
from tests.audit.doors.in_postgres import ScenesInPostgres, own_database
from tests.audit.doors.test_attacks import declared


def test_every_kind_of_attack_has_a_name() -> None:
    assert set(NAMES) == {a.id for a in ATTACKS}


def test_the_study_on_disk_declares_what_the_scenes_do(tmp_path: Path) -> None:
    ScenesOnDisk(tmp_path)
    curator = Curator(tmp_path / "study.toml", ledger="memory:")
    for name, table in declared().items():
        there = curator.tables[name]
        assert (there.columns, there.unit, there.contribution, there.public) == (
            table.columns,
            table.unit,
            table.contribution,
            table.public,
        )
    curator.close()


def test_a_place_is_as_new_and_has_the_victim_or_not(tmp_path: Path) -> None:
    stage = ScenesOnDisk(tmp_path)
    before = {name: (tmp_path / f"{name}.parquet").read_bytes() for name in SCENES}
    (tmp_path / "study.ledger").write_text("left over")
    (tmp_path / "study.ledger.keep").mkdir()
    stage.place("plain")
    after = {name: (tmp_path / f"{name}.parquet").read_bytes() for name in SCENES}
    assert {name for name in SCENES if before[name] != after[name]} == set(VICTIMS["plain"])
    assert {p.name for p in tmp_path.iterdir()} == {"study.toml", *(f"{name}.parquet" for name in SCENES)}
    stage.place(None)
    assert {name: (tmp_path / f"{name}.parquet").read_bytes() for name in SCENES} == before


@pytest.mark.parametrize("name", ["library", "command-line", "http"])
def test_a_sound_door_passes(name: str) -> None:
    opens = {"library": library, "command-line": command_line, "http": web}[name]
    found = attack_service({name: opens}, ["E1", "P4", "M3"], limit=1)
    assert [f.subject.split()[0] for f in found] == ["E1", "M3", "P4"]
    assert not any(f.violated for f in found)
    assert {f.claim for f in found} == {PureDP(0)}
    assert all("no violation found with n = 1;" in f.sentence() for f in found)


SOME = ["B14", "E1", "E2", "E6", "P3", "P5"]
"""A balance, an error in one row, a hostile value, an order, a single person: one attack of each in every run."""


@pytest.mark.parametrize("part", [SOME, *(pytest.param([id], marks=pytest.mark.slow) for id in NAMES)], ids=" ".join)
def test_http_over_postgresql_passes(part: list[str], postgres_url: str) -> None:
    """Rows and charges in one database; in the long run every attack of the table."""
    found = attack_service(
        {"http": web},
        part,
        limit=1 if part is SOME else None,
        stage=partial(ScenesInPostgres, own_database(postgres_url)),
    )
    assert [f.subject.split()[0] for f in found] == sorted(part)
    assert [(f.subject, f.witness) for f in found if f.violated] == []


class Leaks:
    """A door that shows whether the victim is there: by an error, by the balance, or by its numbers."""

    def __init__(self, folder: Path, how: str) -> None:
        self._how = how
        self._victim = (folder / "people.parquet").read_bytes() != Leaks.plain

    plain = b""

    def ask(self, request: AttackRequest) -> Observation:
        seen = Observation(ANSWERED, "", (1, ("n",)), (), "spent", "plan", ((3.0,),), 0.01)
        if not self._victim:
            return seen
        if self._how == "error":
            return replace(seen, status="DivisionByZero", text="division by zero", shape=(0, ()), order=())
        if self._how == "balance":
            return replace(seen, balance="nothing was charged")
        return replace(seen, numbers=((1e6,),))


@pytest.mark.parametrize(
    ("how", "kind", "certified"), [("error", "E1", True), ("balance", "B14", True), ("moved", "S3", False)]
)
def test_a_leak_is_found_and_certified(how: str, kind: str, certified: bool, tmp_path: Path) -> None:
    ScenesOnDisk(tmp_path)
    Leaks.plain = (tmp_path / "people.parquet").read_bytes()

    @contextmanager
    def leaky(folder: Path) -> Iterator[Door]:
        yield Leaks(folder, how)

    (found,) = attack_service({"leaky": leaky}, [kind], limit=1)
    assert found.violated
    assert f"{kind} " in found.sentence()
    assert "violated" in found.sentence()
    assert (found.floor > 1) == certified  # thirty times seen with the victim, never without
    assert found.details["differences"]


def test_what_should_be_refused_and_is_answered_is_a_fault() -> None:
    refused = next(a for a in ATTACKS if a.safe is Safe.REFUSED)
    answered = next(a for a in ATTACKS if a.safe is Safe.ANSWERED and a.most is None)
    seen = Observation(ANSWERED, "", (1, ("n",)), (), "spent", "plan")
    no = replace(seen, status="QuestionRefused")
    assert list(faults(answered, seen, seen)) == []
    assert [f.split(":")[0] for f in faults(refused, seen, seen)] == ["status"]
    assert list(faults(refused, no, no, untouched="spent")) == []
    assert [f.split(":")[0] for f in faults(refused, no, no, untouched="nothing")] == ["balance"]
    assert [f.split(":")[0] for f in faults(answered, no, no)] == ["status"]


def test_a_door_that_cannot_send_an_attack_is_not_blamed() -> None:
    @contextmanager
    def mute(folder: Path) -> Iterator[Door]:
        class Mute:
            def ask(self, request: AttackRequest) -> Observation:
                return Observation(UNSENT, "", (0, ()), (), "", "")

        yield Mute()

    assert attack_service({"mute": mute}, ["E1"], limit=1) == []
    with pytest.raises(InvalidParameter, match="no attack 'Z9'"):
        attack_service({"mute": mute}, ["Z9"])


# ---- times: measured, and never asserted -------------------------------------------------------------------------


def test_times_are_taken_of_both_sides() -> None:
    @contextmanager
    def quick(folder: Path) -> Iterator[Door]:
        yield Leaks(folder, "balance")

    pairs = time_service({"quick": quick}, turns=5)
    assert [len(side) for p in pairs for side in (p.without, p.within)] == [5] * 8
    assert all(min(*p.without, *p.within) > 0 for p in pairs)
    for language in LANGUAGES:
        assert list(times_exhibit(pairs).sentences(language))


def test_a_difference_of_times_is_a_floor_and_no_claim_is_broken() -> None:
    apart = TimedPair("q", "library", tuple(0.010 + 1e-5 * i for i in range(80)), (0.020,) * 80)
    found = apart.finding()
    assert found.floor > 1
    assert found.claim is None
    assert not found.violated
    assert apart.share[0] == 1
    # Whoever is asked first is faster, by turns: no difference.
    same = TimedPair("q", "library", (0.01, 0.02) * 40, (0.02, 0.01) * 40)
    assert same.finding().floor == 0
    low, high = same.share[1:]
    assert low < 0.5 < high
