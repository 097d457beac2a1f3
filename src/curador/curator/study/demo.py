"""A demonstration in a folder of its own: 10,000 made-up salaries, a study, a ledger, a dashboard of five statistics.

The folder holds what any study has, so every other command can be tried on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from curador.curator.curator import Curator
from curador.curator.policy import require_reason
from curador.curator.releases.publication import Publication
from curador.curator.study import samples
from curador.curator.study.dashboard import Dashboard, read_dashboard
from curador.errors import InvalidParameter
from curador.ledger.contract import Balance
from curador.numbers import Number, positive, rational
from curador.query.plan.budget import budget_of
from curador.show.files import write_atomically

BOUND = 200_000
THRESHOLD = 100_000
EDGES = tuple(range(0, BOUND + 1, 20_000))

SHARES = MappingProxyType({"people": 5, "above": 10, "mean": 35, "median": 30, "histogram": 20})
"""The weights of the questions, in hundredths of the budget; the dashboard file gives the reasons."""

STUDY = """\
# A study: what is public about a table, and the most that all answers together may cost.
# The rows are made up, about no real person.

[budget]
epsilon = {budget}

[tables.salaries]
source = "salaries.csv"
unit = "row" # one row is one person

[tables.salaries.columns]
pay = {{ type = "integer", bounds = [0, {bound}], nullable = false }}
"""

DASHBOARD = """\
# Five statistics for one charge. Weights say who gets how much of epsilon.
title = "10,000 made-up salaries, five statistics"
study = "study.toml"
epsilon = {epsilon}
{because}
[questions.people]
sql = "SELECT COUNT(*) AS people FROM salaries"
weight = {people}
why = "A count of thousands is precise for almost nothing."

[questions.above]
title = "paid above {threshold:,}"
sql = "SELECT COUNT(*) AS above FROM salaries WHERE pay > {threshold}"
weight = {above}
why = "A smaller count needs a little more, to be as precise for its size."

[questions.mean]
title = "mean salary"
sql = "SELECT AVG(pay) AS mean FROM salaries"
weight = {mean}
why = "One salary moves the sum by half the range: the mean needs most."

[questions.median]
title = "median salary"
sql = "SELECT MEDIAN(pay) AS median FROM salaries"
weight = {median}
why = "Chosen by ranks, however wide the range is: a third of the budget places it within a few dozen people."

[questions.histogram]
sql = "SELECT HISTOGRAM(pay, {edges}) AS people FROM salaries"
weight = {histogram}
why = "A person is in one bin only, so all bins together cost what one does."
"""


@dataclass(frozen=True)
class Demonstration:
    """A run of the demonstration: the publication, the balance, and the exact figures (the rows are made up)."""

    board: Dashboard
    publication: Publication
    balance: Balance
    truth: Mapping[str, float]


def lay_out(folder: str | Path, epsilon: Number | None = None) -> Path:
    """Write the files of the demonstration, where they are missing; returns the path of the dashboard.

    A file that exists is left as it is, also where it was changed.

    Fails: refused where the folder was laid out for another epsilon.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     board = read_dashboard(lay_out(folder, epsilon="0.5"))
    >>> board.budget["epsilon"], list(board.questions)
    (0.5, ['people', 'above', 'mean', 'median', 'histogram'])
    """
    where = Path(folder)
    paid = positive(1 if epsilon is None else epsilon, "epsilon")
    board = where / "dashboard.toml"
    if board.exists():
        stated = read_dashboard(board).budget.get("epsilon")
        if epsilon is not None and (stated is None or rational(stated) != paid):
            raise InvalidParameter(
                f"The demonstration in {where.name}/ is for epsilon {stated}.",
                fix="Choose another folder.",
                code="demo-folder",
            )
        return board
    reason = "a demonstration on made-up rows" if paid > 1 else ""
    require_reason(budget_of(epsilon=paid), reason)  # refused before anything is written
    rows = "\n".join(str(int(x)) for x in samples.salaries())  # whole units of money
    because = f'because = "{reason}"\n' if reason else ""
    values = {**SHARES, "threshold": THRESHOLD, "edges": ", ".join(map(str, EDGES)), "because": because}
    files = {
        where / "salaries.csv": f"pay\n{rows}\n",
        where / "study.toml": STUDY.format(budget=_toml(2 * paid), bound=BOUND),
        board: DASHBOARD.format(epsilon=_toml(paid), **values),
    }
    try:
        where.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():  # the dashboard last: while it is missing, the rest is written again
            if path.name == "salaries.csv" or not path.exists():
                write_atomically(path, text.encode())
    except OSError as error:
        raise InvalidParameter(
            f"The folder {where.name}/ cannot be written: {error.strerror}.",
            fix="Choose another folder.",
            code="demo-folder",
        ) from None
    return board


def _toml(x: Fraction) -> str:
    """A number as TOML; a fraction that is not a decimal becomes a text."""
    text = str(x.numerator) if x.denominator == 1 else repr(float(x))
    return text if rational(float(text)) == x else f'"{x}"'


def run(folder: str | Path, epsilon: Number | None = None) -> Demonstration:
    """Publish the dashboard of the demonstration: bought once, and answered from the ledger from then on.

    Guarantee: epsilon-DP for one row added or removed, by basic composition [DMNS06]: the shares add up to epsilon.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second = run(folder), run(folder)
    >>> first.publication == second.publication, first.publication.repeated, second.publication.repeated
    (True, False, True)
    """
    board = read_dashboard(lay_out(folder, epsilon))
    curator = Curator(board.study)
    try:
        publication = curator.publish(board.batch(curator), because=board.because)
        return Demonstration(board, publication, curator.budget(), truth())
    finally:
        curator.close()


def truth() -> dict[str, float]:
    """The exact figures of the made-up salaries; a curator of real rows never shows such figures.

    >>> truth()["people"], truth()["above"]
    (10000, 1173)
    """
    pay = sorted(int(x) for x in samples.salaries())
    middle = len(pay) // 2
    return {
        "people": len(pay),
        "above": sum(x > THRESHOLD for x in pay),
        "mean": sum(pay) / len(pay),
        "median": (pay[middle - 1] + pay[middle]) / 2,
    }
