"""What a model cost, in words: the guarantee, for whom, and what anyone could conclude."""

from __future__ import annotations

from dataclasses import dataclass

from curador.accounting.events import Event
from curador.accounting.meaning import posterior
from curador.privacy import Guarantee, Neighbors
from curador.show.explain import guarantee_text, whom
from curador.show.words.say import say


@dataclass(frozen=True)
class ModelPrivacy:
    """The privacy of a fitted model.

    ``charge`` is the ledger's number of what was paid, None where no curator counts: then whoever fits has to.
    """

    guarantee: Guarantee
    event: Event
    neighbors: Neighbors
    unit: str | None = None
    charge: str | None = None

    def sentence(self, language: str = "en") -> str:
        promise = say(
            "model-keeps",
            language,
            guarantee=guarantee_text(self.guarantee, language),
            unit=whom(self.unit, language),
            neighbors=say(self.neighbors.value, language),
        )
        paid = (
            say("model-uncounted", language)
            if self.charge is None
            else say("model-charged", language, charge=self.charge)
        )
        return f"{promise} {paid} {posterior(self.guarantee).sentence(language)}"

    def __str__(self) -> str:
        return self.sentence()
