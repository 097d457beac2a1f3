"""A fixed corpus of statements: plain DuckDB judges the answers of ours, and the three engines give the same ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_engines import Opened
from tests.whole.sql.judge import Judge, sections
from tests.whole.sql.worlds import world

CORPUS = sections(Path(__file__).with_name("corpus.sql"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    found = Judge(world(2026))
    yield found
    found.close()


def test_the_corpus_is_large() -> None:
    statements = [case.text for cases in CORPUS.values() for case in cases]
    assert len(set(statements)) == len(statements) >= 550


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("title", CORPUS)
def test_statements_find_what_duckdb_finds(judge: Judge, title: str, half: int) -> None:
    """Every other statement of each section, the others slow."""
    for case in CORPUS[title][half::2]:
        wrong = judge.difference(case)
        assert wrong is None, f"corpus.sql, line {case.place}: {wrong}\n{case.text}"


def test_engines_find_the_same(judge: Judge, opened: Opened, engine_name: str, request: pytest.FixtureRequest) -> None:
    """The very same numbers, to the last bit; Spark compiles every statement for seconds, so it is asked few.

    Both draw the same bytes: between two middle values a median is drawn, however large the budget is.
    """
    seeded = request.config.pluginmanager.get_plugin("seeded")
    assert seeded is not None
    engine = opened(judge.world.raw)
    every = {"duckdb": 100, "postgresql": 8, "spark": 150}[engine_name]
    for case in [case for cases in CORPUS.values() for case in cases][3::every]:
        with seeded.stream.named(case.text):
            _, here = judge.ours(case.text)
        with seeded.stream.named(case.text):
            _, there = judge.ours(case.text, engine)
        assert here == there, f"corpus.sql, line {case.place}: {case.text}"
