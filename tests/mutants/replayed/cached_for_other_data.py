"""The real curator, with exact answers kept by what was asked, whichever table it was asked of."""

from contextlib import closing, nullcontext
from typing import Any
from unittest.mock import patch

from curador import Curator, PureDP, Table
from curador.audit.finding import Finding
from curador.audit.replay.questions import replay_act
from curador.engines.duckdb.engine import DuckDB
from tests.mutants.replayed.curators import COLUMNS, VISITS

KIND = "undercharged"
RUN = DuckDB.run


def kept_by_question(self: Any, exact: Any, progress: Any = None) -> Any:
    """Found again by the columns of the answer alone."""
    known = self.__dict__.setdefault("_kept", {})
    if "n" not in known:
        known["n"] = RUN(self, exact, progress)
    return known["n"]


def audit(sound: bool) -> Finding:
    budget = {"visits": PureDP(1), "others": PureDP(1)}
    others = Table("no-such-either.csv", unit="pid", contribution=(2, 3), columns=COLUMNS)
    declared = Curator({"visits": VISITS, "others": others}, budget=budget)

    def act(stage: Curator) -> object:
        return [stage.ask(f"SELECT COUNT(*) AS n FROM {table}", epsilon=1) for table in ("visits", "others")]

    with nullcontext() if sound else patch.object(DuckDB, "run", kept_by_question), closing(declared):
        return replay_act("two tables", declared, act, table="visits", budget=budget)
