"""Planning before launch: the number of people needed, and the best oracle."""

from __future__ import annotations

from collections.abc import Sequence

from curador.errors import InvalidParameter
from curador.local.frequency.hadamard import Hadamard
from curador.local.frequency.krr import KRR
from curador.local.frequency.local_hashing import OLH
from curador.local.frequency.oracle import Oracle
from curador.local.frequency.subset import SubsetSelection
from curador.local.frequency.unary import OUE, SUE
from curador.local.task.keys import LocalKey
from curador.local.task.task import Task
from curador.numbers import Number, number_of_people

ORACLES: tuple[type[KRR | SUE | OUE | OLH | Hadamard | SubsetSelection], ...] = (
    KRR,
    Hadamard,
    OLH,
    SUE,
    OUE,
    SubsetSelection,
)

AS_GOOD = 1.01
"""The factor within which errors count as equal, so that the shorter report decides."""


def users_needed(task: Task, within: Number, confidence: float = 0.95) -> int:
    """The number of reports for ``task.error`` to be at most ``within``.

    The error is that of all keys at once, or of the mean.

    >>> from curador.local import KRR
    >>> task = KRR(keys=4, epsilon=1)
    >>> n = users_needed(task, within=0.05)
    >>> task.error(n) <= 0.05 < task.error(int(0.98 * n))
    True
    """
    return task.users_needed(within, confidence)


def best_oracle(
    keys: int | Sequence[LocalKey],
    epsilon: Number,
    users: int,
    *,
    rest: LocalKey | None = None,
    most_bits: int | None = None,
    confidence: float = 0.95,
) -> Oracle:
    """The oracle with the least error for these keys and users; a tie goes to the shortest report.

    The errors compared are the reach of all keys' intervals for rare keys; most of many keys are rare.

    >>> [type(best_oracle(k, 1, users=10**5)).__name__ for k in (2, 16, 1024)]
    ['KRR', 'SubsetSelection', 'OLH']
    >>> type(best_oracle(1024, 1, users=10**5, most_bits=12)).__name__
    'Hadamard'
    """
    n = number_of_people(users)
    tasks = [made(keys, epsilon, rest=rest) for made in ORACLES]
    fitting = [task for task in tasks if most_bits is None or task.report_bits <= most_bits]
    if not fitting:
        raise InvalidParameter(
            f"No oracle reports on this many keys in {most_bits} bits.",
            fix=f"Allow {min(task.report_bits for task in tasks)}.",
        )
    errors = {task: task.rare_error(n, confidence) for task in fitting}
    least = min(errors.values())
    return min((task for task in fitting if errors[task] <= AS_GOOD * least), key=lambda task: task.report_bits)
