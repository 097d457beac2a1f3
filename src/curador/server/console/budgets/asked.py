"""What was bought with a charge, in words of the visitor's language where it is one question."""

from __future__ import annotations

from curador import Charge
from curador.curator.releases.titles import noted_title


def asked(charge: Charge, language: str) -> str:
    """The question of a charge as a title; what is more than one, or a model, as it was noted for people."""
    return noted_title(charge.note, language) or charge.asked
