"""D against D plus a victim in every storage: hostile statements and hostile values, and all that is seen is the same.

tests/audit/doors/test_attacks.py sends every attack to the three engines; here each is sent to some storage with some
victim, the same every time, and others in ``make fuzz``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curador.audit.doors.scenes import SCENES, VICTIMS
from curador.audit.doors.table import ATTACKS, Attack, Safe
from curador.curator.curator import Curator
from curador.engines.engine import Engine
from curador.engines.registry import open_engine
from curador.privacy import ApproxDP
from curador.query.tables.table import Table
from tests.audit.doors.moves import changes
from tests.audit.doors.storages import EVERYWHERE, storage
from tests.audit.doors.test_attacks import Opens, arrow, declared, held
from tests.real_engines import shown

STATEMENTS = [a for a in ATTACKS if a.safe is not Safe.REFUSED and len(a.sql) < 10_000]
SOME = 6


@pytest.fixture(scope="module")
def opens(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opens]:
    """Opens the storage that a test names on D, or on D plus a victim; each once."""
    keep, folder = storage(request.param, request), tmp_path_factory.mktemp("storages")
    opened: dict[str | None, Engine] = {}

    def engine(victim: str | None) -> Engine:
        if victim not in opened:
            extra = {} if victim is None else VICTIMS[victim]
            made = {name: keep(arrow(scene, extra.get(name, ())), folder) for name, scene in SCENES.items()}
            opened[victim] = open_engine(made, shown)
            opened[victim].check(declared())
        return opened[victim]

    yield engine
    for each in opened.values():
        each.close()


def sent(opens: Opens, attacks: list[Attack]) -> None:
    for attack in attacks:
        print(attack.sql, attack.victim)  # shown if it fails
        held(attack, opens)


@pytest.mark.parametrize("opens", [s for s in EVERYWHERE if s not in ("arrow", "postgresql")], indirect=True)
def test_some_statements(opens: Opens) -> None:
    """As they are listed, and to another victim than the one that they were made for."""
    chosen = random.sample(STATEMENTS, SOME)
    victims = random.sample(sorted(VICTIMS), 4)
    others = [replace(a, victim=random.choice(victims), most=None) for a in random.sample(STATEMENTS, SOME)]
    sent(opens, chosen + others)


@pytest.mark.slow
@pytest.mark.parametrize("opens", EVERYWHERE, indirect=True)
@pytest.mark.parametrize("part", range(8))
def test_all_statements(opens: Opens, part: int) -> None:
    sent(opens, [replace(a, victim=v, most=None) for a in STATEMENTS[part::8] for v in ("plain", "broken", "late")])


@pytest.mark.parametrize("unit", [None, "id"])
def test_bytes_that_are_no_text_beside_statistics(unit: str | None, tmp_path: Path) -> None:
    """In a file sorted by name, whether others' rows are read may not depend on where a victim's name is sorted."""
    own: dict[str, Any] = {} if unit is None else {"unit": unit, "contribution": (2, 3)}
    name = {"type": "text", "keys": ["Mu?oz", "Navas"]}
    names = [b"Muelas"] * 3 + [b"Mu\xf1oz"] * 60 + [b"Navas"] * 3
    pair = []
    for i, victim in enumerate(([], [b"Abad"])):
        raw = pa.array([*victim, *names], pa.binary())
        texts = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
        table = pa.table({"id": range(len(raw)) if victim else range(1, len(raw) + 1), "s": texts})
        pq.write_table(table, tmp_path / f"{i}.parquet")
        columns = {"id": "integer", "s": name}
        made = Table(str(tmp_path / f"{i}.parquet"), columns=columns, **own)
        pair.append(Curator({"t": made}, budget=ApproxDP(1, 1e-3)))
    for text in (
        "SELECT COUNT(*) AS n FROM t WHERE s = 'Mu?oz'",
        "SELECT COUNT(*) AS n FROM t WHERE s IN ('Mu?oz', 'x')",
        "SELECT s, COUNT(*) AS n FROM t GROUP BY s",
    ):
        plans = [curator.plan(text, epsilon=1) for curator in pair]
        changes(plans[0], *(c._engines.of({"t"}).run(p.exact) for c, p in zip(pair, plans, strict=True)))
    for curator in pair:
        curator.close()
