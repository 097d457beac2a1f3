"""Searches under a number instead of a name: AOL's log, in which people had searched for themselves."""

from __future__ import annotations

import numpy as np

from curador.audit.linkage.people import DIAGNOSES, FIRST, LAST
from curador.audit.stage import MadeUp, staged
from curador.numbers import whole
from curador.privacy import ApproxDP
from curador.show.pages.bars import Bar
from curador.show.pages.charts import Axis
from curador.show.pages.exhibits import Drawing, Exhibit, Listing, Part

TOWNS = tuple(
    f"{a}{b}" for a in ("Al", "Bel", "Car", "Dol", "Es", "Fon", "Gar", "Hos") for b in ("mar", "ona", "seda", "tera")
)
COMMON = ("weather", "maps", "news", "recipes", "train times", "films", "translate", "football", "flights", "jobs")
VAIN = 0.35
"""The share of people who search for their own name, once."""

CURIOUS = 0.15
"""The share who search for somebody else's."""

EACH = 12
"""Common searches of one person."""


def link_searches(people: int = 2000, seed: int = 0) -> Exhibit:
    """Read a log of searches beside a telephone book [BZ06].

    >>> found = link_searches(people=300)
    >>> found.facts["right"] > 0.9, found.facts["personal_shown"]
    (True, 0)
    """
    n, rng = whole(people, "people", 20), np.random.default_rng([seed, 6])
    book = [(f"{FIRST[a]} {LAST[b]}", TOWNS[t]) for a, b, t in zip(
        rng.integers(0, len(FIRST), n), rng.integers(0, len(LAST), n), rng.integers(0, len(TOWNS), n), strict=True
    )]  # fmt: skip
    log = _log(book, rng)
    guesses = _read(log, book)
    right = [k for k, who in guesses.items() if who == k]
    secret = sum(any(text.startswith("symptoms of ") for text in log[k]) for k in right)
    rows = tuple((str(k + 100_000), text) for k in right[:1] for text in log[k][-4:])
    facts = {
        "people": n, "searches": sum(map(len, log)), "named": len(guesses), "share": len(guesses) / n,
        "right": len(right) / max(1, len(guesses)), "secret": secret,
    }  # fmt: skip
    shown, distinct, personal, drawing = _privately(log, book)
    facts |= {"shown": shown, "distinct": distinct, "personal_shown": personal}
    listing = Listing("searches-table", ("searches-number", "searches-text"), rows)
    parts = (
        Part("the-attack", ("searches-how", "searches-found"), (), (listing,)),
        Part("privately", ("searches-private",), (drawing,)),
    )
    return Exhibit("searches", facts, parts)


def _log(book: list[tuple[str, str]], rng: np.random.Generator) -> list[list[str]]:
    """What each person searched for: things that many do, things of their town, their symptoms, and some themselves."""
    popular = 1.0 / np.arange(1, len(COMMON) + 1)
    log = []
    for name, town in book:
        texts = [COMMON[k] for k in rng.choice(len(COMMON), EACH, p=popular / popular.sum())]
        texts.append(f"plumber {town}")
        if rng.random() < 0.5:
            texts.append(f"symptoms of {DIAGNOSES[rng.integers(0, len(DIAGNOSES))]}")
        if rng.random() < VAIN:
            texts.append(name)
        if rng.random() < CURIOUS:
            texts.append(book[rng.integers(0, len(book))][0])
        log.append(texts)
    return log


def _read(log: list[list[str]], book: list[tuple[str, str]]) -> dict[int, int]:
    """For each number the person it must be: the one with that name in that town, if there is only one."""
    known: dict[tuple[str, str], list[int]] = {}
    for i, entry in enumerate(book):
        known.setdefault(entry, []).append(i)
    names = {name for name, _ in book}
    guesses = {}
    for number, texts in enumerate(log):
        town = next(t.removeprefix("plumber ") for t in texts if t.startswith("plumber "))
        people = [i for text in texts if text in names for i in known.get((text, town), [])]
        if len(people) == 1:
            guesses[number] = people[0]
    return guesses


def _privately(log: list[list[str]], book: list[tuple[str, str]]) -> tuple[int, int, int, Drawing]:
    """Which searches are frequent, their texts chosen privately."""
    columns = {"person": {"type": "integer", "nullable": False}, "search": {"type": "text", "nullable": False}}
    pairs = [(k, text) for k, texts in enumerate(log) for text in texts]
    made = MadeUp(columns, {"person": [k for k, _ in pairs], "search": [t for _, t in pairs]}, "person", (10, 1))
    with staged({"log": made}, ApproxDP(1, 1e-6)) as curator:
        text = "SELECT search, COUNT(*) AS n FROM log GROUP BY search"
        release = curator.ask(text, epsilon=1, delta=1e-6)
    shown = sorted(
        zip([str(s) for s in release["search"]], map(float, map(str, release["n"])), strict=True),
        key=lambda p: -p[1],
    )
    names = {name for name, _ in book}
    bars = tuple(Bar(search, n) for search, n in shown[:10]) or (Bar("@nothing-shown", 0.0),)
    personal = sum(search in names for search, _ in shown)
    distinct = len({text for _, text in pairs})
    return len(shown), distinct, personal, Drawing("searches-private-chart", bars=bars, x=Axis("@searches-people"))
