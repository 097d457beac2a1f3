"""How often a model was right, as charges bought it: read from the ledger again, for free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from curador import Charge, Curator
from curador.curator.purchases.kept import opened

if TYPE_CHECKING:
    from curador.learn.recipe import BoughtModel
    from curador.learn.score import ModelScore


def is_classifier(found: BoughtModel) -> bool:
    """Whether it is right or wrong about a row, which can be scored."""
    return hasattr(found.model, "scorer")


def bought_scores(curator: Curator, found: BoughtModel, charges: Iterable[Charge]) -> list[tuple[Charge, ModelScore]]:
    """The scores of this model among these charges."""
    from curador.learn.models.classifier import digest_of
    from curador.learn.score import score_from

    if not is_classifier(found):
        return []
    own, scores = digest_of(found.model), []
    for one in charges:
        code = one.note.get("training")
        content = curator.ledger.answer(one.id) if isinstance(code, Mapping) and code.get("model") == own else None
        made = None if content is None else score_from(opened(content)[1], one.event, one.id)
        scores += [] if made is None else [(one, made)]
    return scores
