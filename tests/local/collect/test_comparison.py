"""Differences between periods and segments: unbiased, covered as often as said, and of the same question only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from curador.cli.app import app
from curador.errors import InvalidParameter
from curador.local import KRR, Difference, Duchi, HeavyHitters, Longitudinal, Range, Record, SquareWave, compare
from curador.local.collect.collector import Collector
from curador.local.collect.wire import messages

KEYS = ["tea", "water", "juice"]
SHARES = [np.array([500, 300, 200]), np.array([300, 300, 400])]
TRUE = (SHARES[1] - SHARES[0]) / 1000


def people(shares: Any) -> Any:
    return np.repeat(np.arange(3), shares)


@pytest.mark.parametrize("confidence", [0.6, 0.95])
def test_the_true_differences_are_covered_together(confidence: float) -> None:
    task, covered, off = KRR(3, 1), 0, []
    for _ in range(200):
        found = Difference(*(task.estimate(task.randomize(people(shares))) for shares in SHARES))
        [one] = found.summaries(confidence)
        covered += bool(np.all((np.array(one.low) <= TRUE) & (np.array(one.high) >= TRUE)))
        off.append(np.array(one.values) - TRUE)
    assert covered >= 200 * confidence
    assert np.all(np.abs(np.mean(off, axis=0)) < 4 * np.std(off, axis=0) / np.sqrt(200))


def test_the_same_people_in_both_periods_are_no_reason_for_narrower_intervals() -> None:
    """With one permanent answer the noise of two periods is nearly the same; the intervals do not count on either."""
    task = Longitudinal(3, 4, values=1, first=2)
    kept = task.permanent(people(SHARES[0]))
    [one] = Difference(*(task.estimate(task.instant(kept)) for _ in range(2))).summaries()
    assert all(low <= 0 <= high for low, high in zip(one.low, one.high, strict=True))
    assert one.users == 2000


def test_a_difference_is_a_table_a_figure_and_a_file() -> None:
    task = Record({"age": Range(0, 10), "drink": KEYS}, 4, sampled=2)
    ages = zip((2, 4), SHARES, strict=True)
    columns = [{"age": np.full(1000, age), "drink": [KEYS[i] for i in people(shares)]} for age, shares in ages]
    found = Difference(*(task.estimate(task.randomize(one)) for one in columns))
    age, drink = found.summaries(0.9)
    assert age.low[0] < 2 < age.high[0]
    assert [row["attribute"] for row in found.to_pandas().to_dict("records")] == ["age", *["drink"] * 3]
    assert found.to_csv().startswith("attribute,")
    assert [one["name"] for one in json.loads(found.to_json())["findings"]] == ["age", "drink"]
    assert len(found.plot(title="drinks").axes) == 2
    assert found.to_polars().shape[0] == found.to_arrow().num_rows == 4
    assert "The second less the first" in drink.note


def test_only_the_same_question_is_compared() -> None:
    task = KRR(KEYS, 1)
    a, b = task.named("drinks", period="1"), task.named("drinks", period="2")
    one = a.estimate([0, 1, 2])
    for other in (a, task.named("food"), Duchi(0, 1, 1).named("drinks")):
        with pytest.raises(InvalidParameter):
            compare(a, other, one, one)
    assert compare(a, b, one, one).users == 6
    fewer = KRR(KEYS[:2], 1).estimate([0, 1])
    with pytest.raises(InvalidParameter, match="same keys"):
        Difference(one, fewer).summaries()
    wave = SquareWave(0, 1, 1, buckets=8)
    made = wave.estimate(wave.randomize([0.5] * 50))
    with pytest.raises(InvalidParameter, match="without intervals"):
        Difference(made, made).summaries()


def test_folders_are_compared_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, shares in zip(("october", "november"), SHARES, strict=True):
        task = KRR(KEYS, 4).named("drinks", period=name)
        Collector.create(name, task).collect(messages(task, task.randomize([KEYS[i] for i in people(shares)])))
    Collector.create("other", KRR(KEYS, 4).named("food"))

    def run(*words: str) -> Any:
        return CliRunner().invoke(app, ["local", "compare", *words])

    told = json.loads(run("october", "november", "--json").output)
    rows = {row["key"]: row for row in told["findings"][0]["estimates"]}
    assert rows["tea"]["low"] < -0.2 < rows["tea"]["high"] < 0
    shown = run("october", "november", "--csv", "d.csv", "--plot", "d.svg")
    assert shown.exit_code == 0
    assert "drinks · november less drinks · october" in shown.output
    assert Path("d.csv").read_text().startswith("key,value,low,high\n")
    assert Path("d.svg").read_bytes()[:5] == b"<?xml"
    assert isinstance(run("october", "other").exception, InvalidParameter)
    assert isinstance(run("october", "october").exception, InvalidParameter)


# ---- planning of heavy hitters ---------------------------------------------------------------------------------------


def test_the_chance_that_a_value_is_found_is_about_right() -> None:
    """Three searches each, for a value that is too rare and for one that is not."""
    task, users = HeavyHitters(4, length=3), 20_000
    for frequency in (0.008, 0.025):
        found = 0
        for run in range(3):
            named = task.named(f"run {run}")
            mine = int(frequency * users)
            rest = [chr(97 + i % 26) + chr(97 + i // 26 % 26) + chr(97 + i // 676 % 26) for i in range(users - mine)]
            found += "a-z" in named.find(named.randomize(["a-z"] * mine + rest)).keys
        chance = task.chance(users, frequency)
        assert abs(found / 3 - chance) < 0.34, (frequency, found, chance)
    rising = [task.chance(users, f) for f in (0.005, 0.012, 0.017, 0.03, 0.1)]
    assert rising == sorted(rising)
    assert rising[0] < 0.01
    assert rising[-1] > 0.999


def test_the_worst_case_is_many_times_what_suffices() -> None:
    """An outsider's runs: 1,000,000 people found a word that 1% have in 1 of 5 searches, 2,000,000 in 5 of 5."""
    task = HeavyHitters(2)
    assert 0.05 < task.chance(10**6, 0.01, size=5) < 0.6
    assert task.chance(2 * 10**6, 0.01, size=5) > 0.8
    assert task.users_needed("0.01") > 10 * 10**6
    assert task.chance(task.users_needed("0.01"), 0.01) > 0.99
