"""Medical records without names, and a list of voters: the join that found the governor of Massachusetts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curador.accounting.meaning import posterior
from curador.audit.linkage.people import DIAGNOSES, SEXES, Population, population
from curador.audit.stage import MadeUp, released_bars, staged
from curador.errors import QuestionRefused
from curador.privacy import PureDP
from curador.show.pages.exhibits import Drawing, Exhibit, Listing, Part


def link_join(people: int = 20_000, seed: int = 0) -> Exhibit:
    """Join records and voters on zip code, birth date and sex [Swe02].

    >>> found = link_join(people=800)
    >>> found.facts["right"] > 0.9, found.facts["refused"]
    (True, True)
    """
    made, rng = population(people, seed), np.random.default_rng([seed, 2])
    ill, votes = rng.random(len(made)) < 0.5, (rng.random(len(made)) < 0.7) & (made.age >= 18)
    records, voters = np.flatnonzero(ill), np.flatnonzero(votes)
    pairs = _matched(made, records, voters)
    right = [(r, v) for r, v in pairs if r == v]
    shown = right[:3]
    rows = tuple(
        (
            made.name(v),
            made.zips[made.zip[v]],
            made.birth(v),
            SEXES[made.sex[v]],
            f"@ill-{DIAGNOSES[made.diagnosis[r]].replace(' ', '-')}",
        )
        for r, v in shown
    )
    headings = ("join-name", "join-zip", "join-born", "join-sex", "join-diagnosis")
    facts = {
        "records": len(records), "voters": len(voters), "matched": len(pairs), "share": len(pairs) / len(records),
        "right": len(right) / max(1, len(pairs)),
    }  # fmt: skip
    asked, drawing = _privately(made, records)
    return Exhibit(
        "join",
        {**facts, **asked},
        (
            Part("the-attack", ("join-how", "join-found"), (), (Listing("join-table", headings, rows),)),
            Part("privately", ("join-private", "join-refused" if asked["refused"] else "join-answered"), (drawing,)),
        ),
    )


def _matched(made: Population, records: NDArray[np.int64], voters: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Records and voters that have zip code, birth date and sex in common with nobody else of either list."""
    alone = []
    for some in (records, voters):
        codes, first, counts = np.unique(made.quasi[some], return_index=True, return_counts=True)
        alone.append({int(c): int(some[i]) for c, i, n in zip(codes, first, counts, strict=True) if n == 1})
    return [(record, alone[1][code]) for code, record in alone[0].items() if code in alone[1]]


def _privately(made: Population, records: NDArray[np.int64]) -> tuple[dict[str, object], Drawing]:
    columns = {
        "zip": {"type": "text", "keys": list(made.zips), "nullable": False},
        "diagnosis": {"type": "text", "keys": list(DIAGNOSES), "nullable": False},
    }
    values = {
        "zip": [made.zips[made.zip[i]] for i in records],
        "diagnosis": [DIAGNOSES[made.diagnosis[i]] for i in records],
    }
    with staged({"records": MadeUp(columns, values)}, PureDP(1)) as curator:
        release = curator.ask("SELECT diagnosis, COUNT(*) AS n FROM records GROUP BY diagnosis", epsilon=1)
        try:
            curator.ask(f"SELECT diagnosis FROM records WHERE zip = '{made.zips[0]}'", epsilon=1)
            refused = False
        except QuestionRefused:
            refused = True
    exact = {name: float((made.diagnosis[records] == k).sum()) for k, name in enumerate(DIAGNOSES)}
    bars, reach = released_bars(release, exact, "ill")
    facts: dict[str, object] = {"reach": reach, "refused": refused, "most": posterior(1).upper}
    return facts, Drawing("join-private-chart", bars=bars, mark="@true-value")
