"""Models fitted to arrays, replayed on neighbours of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from curador.accounting.events import Event
from curador.audit.finding import Finding
from curador.audit.replay.neighbours import array_victims
from curador.audit.replay.run import replay


def replay_fit(
    make: Callable[[], Any],
    X: Any,
    y: Any = None,
    *,
    labels: Sequence[Any] = (None,),
    charged: Event | None = None,
    neighbours: Iterable[tuple[str, tuple[Any, Any]]] | None = None,
) -> Finding:
    """A model fitted to arrays, replayed with one row more.

    ``make`` makes an unfitted model, with ``fit(X, y)`` and ``privacy_`` once it is fitted; ``labels`` are those that
    the new row is given in turn, some of which should be no class.  ``charged`` is the event that it says it costs; by
    default what the model itself says.

    >>> from curador.learn import GaussianNB
    >>> rows = np.arange(40.0).reshape(20, 2)
    >>> found = replay_fit(lambda: GaussianNB(epsilon=1, bounds=(0, 40), classes=[0, 1]), rows,
    ...                    np.arange(20) % 2, labels=[1, 7])
    >>> found.violated, found.samples
    (False, 18)
    """
    fitted = make().fit(X, y) if charged is None else None
    event = charged if fitted is None else fitted.privacy_.event
    claim = None if fitted is None else fitted.privacy_.guarantee
    tried = array_victims(X, y, labels) if neighbours is None else neighbours

    def run(world: tuple[Any, Any]) -> object:
        return make().fit(*world)

    base = np.asarray(X, float), None if y is None else np.asarray(y).astype(object)
    return replay(type(make()).__name__, run, base, tried, charged=event, claim=claim)
