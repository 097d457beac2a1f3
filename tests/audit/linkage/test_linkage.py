"""Linkage: made-up people are found where the course says so, and the private release tells nobody apart."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from curador.audit.linkage.all import LINKAGES, linked
from curador.audit.linkage.classes import classes, link_classes
from curador.audit.linkage.join import link_join
from curador.audit.linkage.people import population
from curador.audit.linkage.ratings import link_ratings
from curador.audit.linkage.searches import link_searches
from curador.audit.linkage.unique import link_unique, unique_share
from curador.errors import InvalidParameter
from curador.show.pages.page import report_html, report_plain
from curador.show.pages.svg import escaped
from curador.show.words.say import LANGUAGES


def test_as_many_are_alone_as_in_the_census() -> None:
    """Sweeney's 87 %: the made-up population has as many people in a zip code as the real one had."""
    made = population(50_000)
    assert unique_share(made.quasi) == pytest.approx(0.87, abs=0.01)
    assert unique_share(made.sex) == 0
    assert population(500, seed=3).born.tolist() == population(500, seed=3).born.tolist()


def test_alone_with_everything_that_is_known() -> None:
    facts: Any = link_unique(people=1500).facts
    assert facts["sex"] == 0
    assert facts["year"] < facts["date"] < facts["all"]
    assert facts["low"] <= facts["released"] <= facts["high"]
    assert facts["high"] - facts["low"] >= 8  # more than one person, on either side


def test_the_join_names_records_rightly() -> None:
    found = link_join(people=1500)
    facts: Any = found.facts
    assert facts["share"] > 0.3
    assert facts["right"] > 0.95
    assert facts["refused"] is True
    table = found.parts[0].listings[0]
    assert len(table.rows) == 3
    assert len(table.rows[0]) == len(table.headings)


def test_ratings_find_people_and_days_help() -> None:
    found = link_ratings(people=400, victims=40)
    with_days, without = found.parts[0].drawings[0].series
    assert all(a >= b for a, b in zip(with_days.y, without.y, strict=True))
    assert with_days.y[-1] > 0.95
    assert list(without.y) == sorted(without.y)
    facts: Any = found.facts
    assert 0 < facts["reach"] < 1


def test_searches_name_people_and_the_private_release_names_nobody() -> None:
    """A search that one person made is shown with a chance of at most 1e-6."""
    facts: Any = link_searches(people=400).facts
    assert 0.1 < facts["share"] < 0.5
    assert facts["right"] > 0.8
    assert facts["personal_shown"] == 0
    assert 0 < facts["shown"] < facts["distinct"]


@pytest.mark.parametrize("k", [2, 5, 9])
def test_classes_are_k_anonymous_and_hold_everybody(k: int) -> None:
    made = population(300)
    columns = np.stack([made.age, made.sex], axis=1)
    parts = classes(columns, np.arange(300), k)
    assert min(map(len, parts)) >= k
    assert sorted(np.concatenate(parts).tolist()) == list(range(300))
    assert len(parts) > 300 / (8 * k)  # and not one class of all


def test_every_way_of_breaking_classes_tells_more_than_the_last() -> None:
    facts: Any = link_classes(people=1500, k=3).facts
    assert 0 < facts["alike"] < facts["known"]
    assert facts["two"] > facts["alike"]
    assert facts["smallest"] >= 3


@pytest.mark.parametrize("name", LINKAGES)
def test_each_is_told_in_both_languages_drawn_and_given_to_programs(name: str) -> None:
    (found,) = linked([name], people=200)
    said = [list(found.sentences(language)) for language in LANGUAGES]
    assert len(said[0]) == len(said[1]) >= 3
    assert not set(said[0]) & set(said[1])
    assert found.parts[-1].heading == "privately"
    for language in LANGUAGES:
        assert escaped(found.title(language)) in report_html("t", "l", exhibits=[found], language=language)
    assert json.loads(json.dumps(report_plain("t", "l", exhibits=[found]), default=str))["exhibits"][0]["code"] == name


def test_there_is_no_other_attack() -> None:
    with pytest.raises(InvalidParameter, match="no attack 'weld'"):
        linked(["weld"])
