"""A study that is served."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from curador.server.access import passwords
from tests.server.served import Served, serving, write_study


@pytest.fixture(scope="module", autouse=True)
def cheap_hashes() -> Iterator[None]:
    """Passwords hashed with a hundredth of the usual work; tests/server/access has the usual one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1))
        passwords._nobody.cache_clear()
        yield
    passwords._nobody.cache_clear()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study with two analysts, of whom one has asked."""
    with serving(
        write_study(tmp_path_factory.mktemp("study")), sign_ins=1000, per_token=10000, per_address=10000
    ) as found:
        found.curator.ask("SELECT COUNT(*) AS n FROM people", epsilon="0.5")
        found.curator.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon="0.7", analyst="ana")
        yield found
