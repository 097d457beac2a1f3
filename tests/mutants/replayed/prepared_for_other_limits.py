"""The real curator, whose prepared copy is cut to more rows than the question pays for."""

from contextlib import closing, nullcontext
from typing import Any
from unittest.mock import patch

from curador import Curator
from curador.audit.finding import Finding
from curador.audit.replay.questions import replay_act
from curador.mechanisms.sensitivity import Contribution
from curador.query.sql_plan.prepared import Prepared
from tests.mutants.replayed.curators import visits

KIND = "distance"
KEPT = Prepared.kept


def of_other_limits(self: Any, limits: Contribution) -> Any:
    """As it was cut for the first question."""
    return KEPT(self, Contribution(rows=50, groups=limits.groups))


def audit(sound: bool) -> Finding:
    def act(stage: Curator) -> object:
        stage.prepare("visits", group_by=["place"])
        text = "SELECT place, COUNT(*) AS n FROM visits GROUP BY place"
        return stage.ask(text, epsilon=1, prepared=True, because="a test")

    with nullcontext() if sound else patch.object(Prepared, "kept", of_other_limits), closing(visits()) as curator:
        return replay_act("a prepared copy", curator, act)
