"""Passwords: slow hashes of the strength that is claimed, set once with a code, known to every process."""

from __future__ import annotations

import pytest

from curador import Access
from curador.errors import NotAllowed
from curador.ledger.stores.memory import MemoryLedger
from curador.server.access.auth import caller, give
from curador.server.access.passwords import set_password, signed_in


def test_a_password_is_kept_as_a_slow_hash_and_opens_by_its_login() -> None:
    ledger = MemoryLedger()
    code = give(ledger, Access("", "auditor", once=True))
    made = set_password(ledger, code, "Eva", "four words are long")
    assert made.secret.startswith("$argon2id$v=19$m=65536,t=3,p=4$")  # the second choice of RFC 9106
    assert signed_in(ledger, "EVA", "four words are long") == made
    with pytest.raises(NotAllowed, match="belong together"):
        signed_in(ledger, "eva", "four words are short")
    with pytest.raises(NotAllowed, match="used"):
        set_password(ledger, code, "other", "four words are long")
    ledger.end_access(made.token)
    with pytest.raises(NotAllowed, match="belong together"):
        signed_in(ledger, "eva", "four words are long")


def test_a_code_opens_nothing_by_itself() -> None:
    ledger = MemoryLedger()
    with pytest.raises(NotAllowed):
        caller(ledger, give(ledger, Access("", "curator", once=True)))
