"""The real curator, which sells what a unit still counts in when it leaves a table with a budget of its own."""

from contextlib import closing, nullcontext
from unittest.mock import patch

from curador import Curator, PureDP, Table
from curador.audit.finding import Finding
from curador.audit.replay.questions import replay_question
from tests.mutants.replayed.curators import COLUMNS, VISITS

KIND = "distance"
CHANGED = "SELECT ill, COUNT(*) AS n FROM (SELECT pid, pid IN (SELECT pid FROM ill) AS ill FROM visits) t"
NEEDED = f"{CHANGED} WHERE pid IN (SELECT pid FROM ill)"


def audit(sound: bool) -> Finding:
    ill = Table("no-such-either.csv", unit="pid", contribution=(2, 3), columns=COLUMNS)
    declared = Curator({"visits": VISITS, "ill": ill}, budget={"visits": PureDP(1), "ill": PureDP(1)})
    text = f"{NEEDED if sound else CHANGED} GROUP BY ill"
    unnoticed = patch("curador.curator.purchase.require_whole_units", lambda purchase, root_of: None)
    with nullcontext() if sound else unnoticed, closing(declared):
        return replay_question(declared, text, table="ill", epsilon=1, contribution=(1, 3))
