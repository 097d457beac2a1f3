"""The real curator, with the charge after the answer (as in SmartNoise SQL's odometer, and Lomas)."""

from contextlib import closing, nullcontext
from typing import Any
from unittest.mock import patch

from curador.audit.finding import Finding
from curador.audit.replay.questions import replay_question
from curador.curator.purchase import Bought, Buyer
from tests.mutants.replayed.curators import visits

KIND = "charge-order"


def answer_first(self: Any, purchase: Any, request: Any, held: Any) -> Bought:
    """Run, then reserve."""
    found = purchase.run(self._engines)
    charge = self._reserve(purchase, request, None, None, held, None)
    return Bought(self._ledger.settle(charge.id, found), charge, False)


def audit(sound: bool) -> Finding:
    with nullcontext() if sound else patch.object(Buyer, "_bought", answer_first), closing(visits()) as curator:
        return replay_question(curator, "SELECT COUNT(*) AS n FROM visits", epsilon=1)
