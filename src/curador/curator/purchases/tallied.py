"""The rows of a training run where they are, and what models may ask for of them: rows, or sums inside the engine."""

from __future__ import annotations

from dataclasses import dataclass

from curador.engines.engine import Cells as Cells  # these, because models go through the curator
from curador.engines.engine import Engine, Take
from curador.query.records.columns import Records
from curador.query.records.lower import lower_records
from curador.query.records.tally import RecordTally as RecordTally
from curador.query.records.tally import TalliedRows as TalliedRows
from curador.query.records.tally import first_least as first_least
from curador.query.records.tally import folded_square as folded_square
from curador.query.records.tally import lower_tallies
from curador.query.records.tally import on_grid as on_grid
from curador.query.records.tally import part_of as part_of
from curador.query.records.tally import record as record
from curador.query.records.tally import weighed as weighed
from curador.query.sql_plan.ir import Node as Node
from curador.query.sql_plan.ir import column as column


@dataclass(frozen=True, repr=False)
class TableRows:
    """The rows of a training run where they are: given out some at a time, or tallied inside the engine.

    Each call reads one snapshot; where rows change between two, each reads those of its time, cut in the same way.
    """

    engine: Engine
    records: Records

    def __call__(self, take: Take) -> None:
        self.engine.records(lower_records(self.records), take)

    def tallied(self, wanted: TalliedRows) -> list[Cells]:
        """Counts and sums over the rows, as exact integers: no row leaves the engine."""
        return self.engine.tallied(lower_tallies(self.records, wanted))
