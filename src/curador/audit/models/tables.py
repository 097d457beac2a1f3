"""Canaries in made-up tables of a curator's declarations: a model audited as it would be bought, with nobody's rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.audit.finding import Finding
from curador.audit.models.canaries import finding_of
from curador.audit.models.scores import Score, membership_score
from curador.audit.replay.neighbours import base_world
from curador.audit.replay.stage import staged
from curador.curator.curator import Curator
from curador.errors import InvalidParameter
from curador.numbers import whole
from curador.privacy import ZCDP, ApproxDP

MUCH = 10_000
READABLE = ("integer", "real", "boolean", "text")


def audit_table_canaries(
    curator: Curator,
    make: Callable[[], Any],
    table: str,
    features: Sequence[str],
    label: str | None = None,
    *,
    canaries: int = 200,
    runs: int = 5,
    rows: int = 100,
    score: Score = membership_score,
    confidence: float = 0.99,
    seed: int = 0,
) -> Finding:
    """A floor under the epsilon of a model of a table, fitted to made-up rows and canaries put in by coins.

    Canaries are drawn anywhere within what is declared, label and all: unlike any population, and so remembered.  The
    curator itself is asked nothing, and none of its rows are read.

    Guarantee: as :func:`audit_canaries`.
    Fails: refused for features that are expressions, dates or times: use arrays and :func:`audit_canaries`.
    """
    declared = curator.tables[table]
    columns = [*features, *([] if label is None else [label])]
    for name in columns:
        if name not in declared.columns or str(declared.columns[name].kind) not in READABLE:
            raise InvalidParameter(f"Canaries have no {name!r}.", fix="Learn from columns of numbers, texts or truths.")
    world, wild = base_world(curator, rows, seed), base_world(curator, whole(canaries, "canaries", 1), seed + 1)[table]
    unit = declared.unit.id
    if unit is not None:
        text = str(declared.columns[unit].kind) == "text"
        wild[unit] = [f"canary {i}" if text else 10**6 + i for i in range(canaries)]
    claim = curator.training(make(), table, features=features, label=label).guarantee
    budget = ZCDP(MUCH, 0.1) if isinstance(claim, ZCDP) else ApproxDP(MUCH, 0.1)
    given = np.empty((canaries, len(features)), object)
    for j, name in enumerate(features):
        given[:, j] = [np.nan if x is None else x for x in wild[name]]
    labels = None if label is None else np.array(wild[label], object)
    rng = np.random.default_rng(seed)
    scores, inside = [], []
    for _ in range(whole(runs, "runs", 1)):
        coins = rng.random(canaries) < 0.5
        with staged(curator, {**world, table: _with(world[table], wild, coins)}, budget) as stage:
            model = stage.fit(
                make(), table, features=features, label=label, because="an audit", override=True, anyway=True
            )
        scores.append(score(model, given, labels))
        inside.append(coins)
    return finding_of(
        f"{type(make()).__name__} of {table}",
        np.concatenate(scores),
        np.concatenate(inside),
        claim,
        confidence,
        "canaries",
        runs=runs,
    )


def _with(columns: dict[str, list[Any]], wild: dict[str, list[Any]], coins: NDArray[np.bool_]) -> dict[str, list[Any]]:
    return {c: [*values, *(wild[c][i] for i in np.flatnonzero(coins))] for c, values in columns.items()}
