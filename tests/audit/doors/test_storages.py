"""D against D plus a victim in every storage: hostile statements and hostile values, and all that is seen is the same.

tests/audit/doors/test_attacks.py sends every attack to the three engines; here each is sent to some storage with some
victim, the same every time, and others in ``make fuzz``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from curador.audit.doors.scenes import SCENES, VICTIMS
from curador.audit.doors.table import ATTACKS, Attack, Safe
from curador.engines.engine import Engine
from curador.engines.registry import open_engine
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
