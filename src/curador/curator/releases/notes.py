"""What a release says besides its numbers, by code: how it was allowed, and what was bought before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curador.curator.policy import required_notes
from curador.curator.purchase import Bought
from curador.privacy import Guarantee

Note = Mapping[str, Any]
"""A code, under "code", and the facts that its text is filled in with."""


def bought_remarks(bought: Bought, guarantee: Guarantee) -> tuple[Note, ...]:
    """Notes that a release must show of its purchase: how a large cost was allowed, and what was measured before."""
    return (*shared_notes(list(bought.shared)), *required_notes(guarantee, bought.because))


def shared_notes(shared: object) -> tuple[Note, ...]:
    """Notes on measures that were bought before and are drawn again, by the charge that bought them."""
    found = shared if isinstance(shared, list) else []
    said = [{"measures": ", ".join(x["measures"]), "charge": x["charge"]} for x in found]
    return tuple(
        {"code": "contained", **facts} if x.get("contained") else {"code": "shared", **facts}
        for x, facts in zip(found, said, strict=True)
    )


def bought_notes(charge: str) -> tuple[Note, ...]:
    """The note that exactly this was bought before, and that asking for it again is free."""
    return ({"code": "bought-before", "charge": charge},)
