"""What a model cost, in words: the guarantee, for whom, and what anyone could conclude."""

from __future__ import annotations

from dataclasses import dataclass

from curador.accounting.events import Event
from curador.accounting.meaning import posterior
from curador.privacy import Guarantee, Neighbors
from curador.show.models import model_text


@dataclass(frozen=True)
class ModelPrivacy:
    """The privacy of a fitted model.

    ``charge`` is the ledger's number of what was paid, None where no curator counts: then whoever fits has to.
    ``arrays`` says that the rows were given to ``fit``, and not read from a table.

    Assumes: of arrays, that they were made from each row by itself: see :func:`curador.learn.check_pipeline`.
    """

    guarantee: Guarantee
    event: Event
    neighbors: Neighbors
    unit: str | None = None
    charge: str | None = None
    arrays: bool = False

    def sentence(self, language: str = "en") -> str:
        """The guarantee, and what anyone could conclude, in words."""
        said = model_text(self.guarantee, self.unit, self.neighbors.value, self.charge, language, self.arrays)
        return f"{said} {posterior(self.guarantee).sentence(language)}"

    def __str__(self) -> str:
        return self.sentence()
