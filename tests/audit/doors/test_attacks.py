"""Every attack on questions, through every door on every engine: D and D plus one victim look the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from curador.audit.doors.run import ANSWERED, AttackRequest, Library, Observation, differences, distance, error_chain
from curador.audit.doors.scenes import GROUPS, ROWS, SCENES, SLOTS, TOWNS, VICTIM, VICTIMS, Scene, person, visit
from curador.audit.doors.table import ATTACKS, Attack, Safe
from curador.curator.curator import Curator
from curador.curator.purchase import Request
from curador.engines.duckdb.engine import DuckDB
from curador.engines.engine import Engine
from curador.errors import CuradorError
from curador.privacy import ApproxDP, PureDP
from curador.query.plan.expected import within
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table
from tests.real_engines import OPENERS
from tests.steps import at_most

BUDGET = ApproxDP(200_000, 1e-6)
STEPS = 10_000_000  # for a pair; the longest takes a tenth


# ---- D, D', and a door to each -----------------------------------------------------------------------------------


def arrow(scene: Scene, extra: tuple[Mapping[str, object], ...] = ()) -> pa.Table:
    rows = (*scene.rows, *extra)
    return pa.table({n: pa.array([r[n] for r in rows], pa.type_for_alias(t)) for n, t in scene.stored.items()})


@cache
def declared() -> dict[str, Table]:
    """What is public about the tables: the same for D and D', so the rows are not here."""
    return {
        name: Table(arrow(scene).slice(0, 0), columns=scene.columns, public=True)
        if scene.public
        else Table(arrow(scene).slice(0, 0), unit=scene.id, columns=scene.columns, contribution=(GROUPS, ROWS))
        for name, scene in SCENES.items()
    }


class Watched:
    """An engine that counts how often it was made to read data, and fails if told to."""

    def __init__(self, engine: Any, fails: Exception | None = None) -> None:
        self._engine, self._fails, self.reads = engine, fails, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run(self, exact: Any, progress: Any = None) -> Any:
        self.reads += 1
        if self._fails is not None:
            raise self._fails
        return self._engine.run(exact, progress)


Opens = Callable[[str | None], Engine]
"""Opens an engine on D (None), or on D plus a victim; each once."""


def opener(name: str, request: pytest.FixtureRequest) -> Iterator[Opens]:
    opened: dict[str | None, Any] = {}

    def engine(victim: str | None) -> Engine:
        if victim not in opened:
            extra = {} if victim is None else VICTIMS[victim]
            opened[victim] = OPENERS[name](request, {n: arrow(s, extra.get(n, ())) for n, s in SCENES.items()})
            opened[victim].check(declared())
        return opened[victim]  # type: ignore[no-any-return]

    yield engine
    for each in opened.values():
        each.close()


@pytest.fixture(scope="module")
def opens(request: pytest.FixtureRequest) -> Iterator[Opens]:
    """The engine that a test names."""
    yield from opener(request.param, request)


@pytest.fixture(scope="module")
def duckdb_opens(request: pytest.FixtureRequest) -> Iterator[Opens]:
    """DuckDB."""
    yield from opener("duckdb", request)


def curator_of(engine: Any, budget: Any = BUDGET) -> Curator:
    return Curator(declared(), budget=budget, engine=engine)


def nameless(seen: Observation) -> Observation:
    """Without the random names that the fixtures give to tables: those are ours, not the data's."""
    plain = re.sub(r"\bt[0-9a-f]{32}\b", "t", seen.explain)
    return Observation(seen.status, seen.text, seen.shape, seen.order, seen.balance, plain, seen.numbers)


def attack_both(attack: Attack, opens: Opens) -> tuple[Observation, Observation, int]:
    """What is seen on D and on D', and how often data was read."""
    here, there = Watched(opens(None)), Watched(opens(attack.victim))
    seen = [nameless(Library(curator_of(e)).ask(attack.request)) for e in (here, there)]
    return seen[0], seen[1], here.reads + there.reads


def held(attack: Attack, opens: Opens) -> None:
    opens(None), opens(attack.victim)
    with at_most(STEPS):
        here, there, reads = attack_both(attack, opens)
    assert list(differences(here, there, shuffled=attack.safe is Safe.SHUFFLED)) == []
    if attack.safe is Safe.REFUSED:
        assert here.status in ("QuestionRefused", "InvalidParameter", "BudgetExceeded"), here.text
        assert "To do: " in here.text
        assert (
            here.balance == Library(curator_of(opens(None))).ask(AttackRequest("")).balance
        )  # as if nothing was asked
        assert reads == 0
    else:
        assert here.status == ANSWERED, here.text
        assert reads == 2
    if attack.most is not None:
        # Noise at this epsilon is below a hundredth of what one unit may do.
        moved = distance(here.numbers, there.numbers)
        assert moved <= attack.most * 1.01
        assert moved >= attack.most * 0.2  # the victim was there, or nothing was tested


def names(attacks: list[Attack]) -> list[str]:
    """Short ids: some texts are 10 MB long."""
    return [f"{a.id}-{i}" for i, a in enumerate(attacks)]


LIBRARY = list(ATTACKS)
EVERYWHERE = [a for a in ATTACKS if a.everywhere]
# Spark takes a second or two for each: some of one attack of every kind and one broken value of every column.
_ONCE = {(a.id, a.victim, a.sql.partition("(")[2][:6]): a for a in reversed(EVERYWHERE) if a.victim == "broken"}
KINDS = list({a.id: a for a in reversed(EVERYWHERE)}.values())
FIRST = [*KINDS, *_ONCE.values()]


@pytest.mark.parametrize("attack", LIBRARY, ids=names(LIBRARY))
def test_attack_on_duckdb(attack: Attack, duckdb_opens: Opens) -> None:
    held(attack, duckdb_opens)


@pytest.mark.parametrize("attack", EVERYWHERE, ids=names(EVERYWHERE))
@pytest.mark.parametrize("opens", ["postgresql"], indirect=True)
def test_attack_on_postgresql(attack: Attack, opens: Opens) -> None:
    held(attack, opens)


@pytest.mark.thin(18)
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(a, marks=[] if a in FIRST else [pytest.mark.slow], id=n)
        for a, n in zip(EVERYWHERE, names(EVERYWHERE), strict=True)
    ],
)
@pytest.mark.parametrize("opens", ["spark"], indirect=True)
def test_attack_on_spark(attack: Attack, opens: Opens) -> None:
    held(attack, opens)


def test_the_list_covers_what_concerns_questions() -> None:
    wanted = {"E1", "E2", "E3", "E4", "E5", "E6", "E7", "P1", "P2", "P3", "P4", "P5", "P6", "P7"}
    wanted |= {"S1", "S2", "S3", "S4", "S5", "S6", "M3", "B14", "H4", "H5"}
    assert {a.id for a in ATTACKS} == wanted


def test_a_join_does_not_fan_out() -> None:
    """S1: a victim with n rows on both sides does not cost n * n rows, which a limit of memory would show."""
    request = AttackRequest("SELECT SUM(visits.cost) AS s FROM people JOIN visits ON people.pid = visits.pid")
    seen = []
    for n in (0, 3000):
        extra = {"people": (person(VICTIM),) * n, "visits": tuple(visit(VICTIM, i) for i in range(n))}
        frames = {name: Frame(arrow(scene, extra.get(name, ()))) for name, scene in SCENES.items()}
        engine = DuckDB(frames, threads=1, memory="150MB", spill="/no/such/folder")
        seen.append(Library(curator_of(engine)).ask(request))
        engine.close()
    assert [o.status for o in seen] == [ANSWERED, ANSWERED]
    assert list(differences(seen[0], seen[1])) == []


def broken_text(texts: list[bytes]) -> pa.Array:
    """Text as Arrow holds it without looking: the last one is no UTF-8."""
    plain = pa.array(texts, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(plain), plain.buffers())


SECONDS_BEYOND = pa.array([1_600_000_000] * 99 + [2**55], pa.int64())
STORED: dict[str, tuple[pa.Array, str]] = {
    "seconds": (SECONDS_BEYOND.cast(pa.timestamp("s")), "date"),
    "seconds with a zone": (SECONDS_BEYOND.cast(pa.timestamp("s", "UTC")), "date"),
    "milliseconds": (pa.array([10**12] * 99 + [2**62], pa.int64()).cast(pa.timestamp("ms")), "date"),
    "text": (broken_text([b"ok"] * 99 + [b"a\xc3"]), "text"),
}
"""Values that DuckDB itself fails on: the column with the victim's last, and its declared type."""


@pytest.mark.parametrize("name", STORED)
def test_what_the_engine_cannot_hold_is_not_there(name: str, request: pytest.FixtureRequest) -> None:
    """E6: such a value is NULL, in a group of its own that is not selected; the answer looks the same."""
    column, kind = STORED[name]
    frame = pa.table({"pid": pa.array(range(100)), "x": column})
    seen = []
    for data in (frame.slice(0, 99), frame):
        table = Table(data, unit="pid", columns={"pid": "integer", "x": kind}, contribution=(GROUPS, ROWS))
        engine = OPENERS["duckdb"](request, {"t": data})
        ask = AttackRequest("SELECT x AS x, COUNT(*) AS n FROM t GROUP BY x", {"epsilon": 10, "delta": 1e-9})
        seen.append(Library(Curator({"t": table}, budget=BUDGET, engine=engine)).ask(ask))
        engine.close()
    assert [o.status for o in seen] == [ANSWERED, ANSWERED]
    assert list(differences(seen[0], seen[1])) == []


# ---- the harness sees what it should -----------------------------------------------------------------------------


@pytest.mark.parametrize("fails", [ZeroDivisionError("row 5000"), ValueError("income 7"), CuradorError("x", fix="y")])
def test_a_leak_through_an_error_is_seen(fails: Exception, duckdb_opens: Opens) -> None:
    request = AttackRequest("SELECT COUNT(*) AS n FROM people")
    good = Library(curator_of(duckdb_opens(None))).ask(request)
    bad = Library(curator_of(Watched(duckdb_opens("plain"), fails))).ask(request)
    assert {line.split(":")[0] for line in differences(good, bad)} == {"status", "text", "shape", "order", "balance"}


def test_a_leak_through_order_names_length_or_plan_is_seen() -> None:
    one = Observation(ANSWERED, "", (2, ("k", "n")), (("a",), ("b",)), "spent 1", "plan")
    for field, value in {
        "order": (("b",), ("a",)),
        "shape": (1, ("k", "n")),
        "balance": "spent 2",
        "explain": "another plan",
        "text": "a note",
    }.items():
        other = Observation(**{**{f: getattr(one, f) for f in one.__dataclass_fields__}, field: value})
        assert [line.split(":")[0] for line in differences(one, other)] == [field]
    more = Observation(ANSWERED, "", (2, ("k", "m")), (("a",), ("b",)), "spent 1", "plan")
    assert list(differences(one, more, shuffled=True)) != []


def test_an_error_that_carries_another_is_seen() -> None:
    def hides() -> None:
        try:
            raise ValueError("row 5000")
        except ValueError:
            raise KeyError("constant") from None

    with pytest.raises(KeyError) as caught:
        hides()
    assert "row 5000" in error_chain(caught.value)  # `from None` hides it from a traceback, not from a program


# ---- B11: charge kept, one constant error ------------------------------------------------------------------------


def test_a_failure_after_the_charge_keeps_it_and_says_nothing(duckdb_opens: Opens) -> None:
    request = AttackRequest("SELECT COUNT(*) AS n FROM people")
    causes = [ZeroDivisionError("pid 5000"), MemoryError(), TimeoutError("late"), CuradorError("age 79", fix="none")]
    seen = [Library(curator_of(Watched(duckdb_opens(v), e))).ask(request) for v in (None, "plain") for e in causes]
    assert {o.status for o in seen} == {"EngineFailed"}
    assert all(list(differences(seen[0], o)) == [] for o in seen)
    paid = Library(curator_of(duckdb_opens(None))).ask(request)
    assert seen[0].balance.split(" [")[0] == paid.balance.split(" [")[0]
    assert "5000" not in seen[0].text
    assert "79" not in seen[0].text
    assert "BEHIND IT" not in seen[0].text  # nothing hangs on the error


# ---- B13, B14, P6: what is free, what is left, what is repeated --------------------------------------------------


def test_accuracy_is_explained_alike(duckdb_opens: Opens) -> None:
    texts = set()
    for victim in (None, "plain", "broken", "many rows"):
        engine = Watched(duckdb_opens(victim))
        curator = curator_of(engine)
        plan = curator.explain("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", accuracy=within(20))
        texts.add((str(plan), str(curator.budget()), str(curator.history())))
        assert engine.reads == 0
    assert len(texts) == 1


def test_the_budget_ends_averaging_at_the_same_question(duckdb_opens: Opens) -> None:
    ends = []
    for victim in (None, "plain"):
        door = Library(curator_of(duckdb_opens(victim), PureDP(1)))
        ask = [
            AttackRequest(f"SELECT COUNT(*) AS n FROM people WHERE pid {op} 5000", {"epsilon": "0.1"})
            for op in ("=", "<>")
        ]
        ends.append([door.ask(ask[i % 2]) for i in range(12)])
    assert [o.status for o in ends[0]] == [ANSWERED] * 10 + ["BudgetExceeded"] * 2
    for here, there in zip(*ends, strict=True):
        assert list(differences(here, there)) == []


# ---- P1, P2: what numbers must look like -------------------------------------------------------------------------


def test_a_town_of_one_person_does_not_show(duckdb_opens: Opens) -> None:
    """With delta = 1e-9, the chance that it shows once in 200 answers is below 2e-7."""
    attack = next(a for a in ATTACKS if a.id == "P1")
    assert attack.budget["delta"] == 1e-9
    curator = curator_of(duckdb_opens("plain"))
    plan = curator.plan(attack.sql, **attack.budget)
    how = Request(because="an attack", override=True, fresh=True)
    assert {curator.release(plan, how)["town"] for _ in range(200)} == {TOWNS}


def test_empty_public_keys_get_noise_of_their_own(duckdb_opens: Opens) -> None:
    door = Library(curator_of(duckdb_opens(None)))
    seen = door.ask(AttackRequest("SELECT slot, COUNT(*) AS n FROM people GROUP BY slot"))
    assert seen.order == tuple((str(i),) for i in range(SLOTS))
    drawn = np.array([row[0] for row in seen.numbers[3:]], float)  # slots 0, 1 and 2 are not empty
    assert len(set(drawn)) > 10
    # Independent draws: the correlation of 496 pairs is normal with deviation 0.045, so 0.3 is beyond six of them.
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.3
    again = door.ask(AttackRequest("SELECT slot, COUNT(*) AS n FROM people GROUP BY slot"))
    assert again.numbers != seen.numbers
