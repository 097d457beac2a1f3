"""Heavy hitters: the exact law of a report, what it supports, and what is found, missed and made up."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local import Tally, task_from_json
from curador.local.task.keys import LocalKey
from curador.local.unlisted import collisions as meetings
from curador.local.unlisted import prefix_search as hunt
from curador.local.unlisted.collisions import Collisions
from curador.local.unlisted.evidence import rarely_reached
from curador.local.unlisted.heavy_hitters import HeavyHitters
from curador.local.unlisted.prefix_search import Hitters, PrefixSearch
from curador.local.unlisted.prefixes import all_places, coded, coefficients, key_of, text_code
from curador.numbers import set_fields
from tests.exact import Stream
from tests.local.all_ways import law_of
from tests.local.exact_law import Law, keeps_its_word, within, worst_ratio
from tests.mutants import hitters as mutants

TINY: dict[str, Any] = {"length": 3, "rows": 2, "places": 3}
WORDS = ["", "a", "ab", "abc", "abcd", "é", "水"]


def laws_of(task: Any, values: Any = WORDS) -> list[Law]:
    def report(value: Any) -> Any:
        return tuple(task.randomize([value])[0].tolist())

    modules = ("curador.local.unlisted.heavy_hitters", "curador.local.frequency.local_hashing", "tests.mutants.hitters")
    return [law_of(partial(report, value), *modules) for value in values]


def support_of(task: Any, tally: Tally, level: int, prefixes: Any) -> Any:
    return PrefixSearch(task, tally, 0, 0.05, 8).support(level, prefixes)


def supports_as_said(task: Any, laws: list[Law]) -> bool:
    """Whether a report is on each level as often as said, and supports prefixes as often as their meetings say."""
    codes, _ = coded(WORDS, task.length, text=True)
    chances = np.full((len(laws), task.levels, len(codes)), Fraction(0))
    for own, one in enumerate(laws):
        for report, probability in one.items():
            tally, level = task.tally(np.array([report])), report[0]
            support = support_of(task, tally, level, codes[:, : task.widths[level]])
            chances[own, level] += support.astype(int) * probability
    for level, width in enumerate(task.widths):
        table = list(all_places(coefficients(codes[:, :width], task.salt, task.places), task.rows, task.places))
        for own in range(len(laws)):
            for key in range(len(codes)):
                met = Fraction(sum(int(row[own] == row[key]) for row in table), task.rows)
                if chances[own, level, key] != task.shares[level] * (met * task.p + (1 - met) * task.q):
                    return False
    return True


@pytest.mark.parametrize("epsilon", ["1/2", 3])
@pytest.mark.parametrize("hash_bits", [1, 2])
def test_every_report_has_its_probability(epsilon: Any, hash_bits: int) -> None:
    task = HeavyHitters(epsilon, hash_bits=hash_bits, **TINY)
    laws = laws_of(task)
    assert keeps_its_word(task, laws)
    assert worst_ratio(laws) == task.ratio
    assert supports_as_said(task, laws)


def test_integers_have_the_same_law() -> None:
    task = HeavyHitters(1, kind="integers", last=1, **TINY)
    laws = laws_of(task, [0, 1, -1, 255, 1 << 70, -(1 << 70)])
    assert keeps_its_word(task, laws)


@pytest.mark.parametrize("mutant", [mutants.LevelOfItself, mutants.RowOfItself])
def test_levels_and_rows_that_depend_on_the_value_are_caught(mutant: Any) -> None:
    assert worst_ratio(laws_of(mutant(1, **TINY), ["a", "ab", "bc"])) == math.inf


def test_two_levels_and_surer_answers_are_caught() -> None:
    twice = mutants.TwoLevels(1, hash_bits=1, length=3, rows=1, places=2)
    laws = laws_of(twice, ["a", "ab", "é"])
    assert not keeps_its_word(twice, laws)
    assert worst_ratio(laws) == twice.ratio**2
    surer = mutants.SurerAnswer(1, hash_bits=1, **TINY)
    assert not keeps_its_word(surer, laws_of(surer, ["a", "ab", "é"]))


def test_a_private_task_that_cannot_find_is_caught() -> None:
    mutant = mutants.NeverTheLast(1, hash_bits=1, **TINY)
    laws = laws_of(mutant)
    assert keeps_its_word(mutant, laws)
    assert not supports_as_said(mutant, laws)


@pytest.mark.parametrize("epsilon", ["1/1000", 1, 4, 6])
def test_the_threshold_is_the_largest_that_keeps_epsilon(epsilon: Any) -> None:
    task = HeavyHitters(epsilon)
    assert within(task.ratio, task.epsilon)
    wider = HeavyHitters(epsilon)
    set_fields(wider, keep=task.keep + 1)
    with pytest.raises(NotPromised):
        task_from_json(wider.to_json())


def test_the_table_is_what_a_loop_counts() -> None:
    task = HeavyHitters(2, length=4, rows=5, places=13)
    reports = task.randomize(WORDS * 40)
    tally = task.tally(reports)
    codes, _ = coded(WORDS, 4, text=True)
    for level, width in enumerate(task.widths):
        table = list(all_places(coefficients(codes[:, :width], task.salt, 13), 5, 13))
        slow = np.zeros(len(codes), int)
        for drawn, row, *masks, answer in reports.astype(int).tolist():
            if drawn == level:
                for key, own in enumerate(table[row].tolist()):
                    slow[key] += answer == sum(((mask & own).bit_count() & 1) << j for j, mask in enumerate(masks))
        assert support_of(task, tally, level, codes[:, :width]).tolist() == slow.tolist()
    assert tally.support[:, 0].tolist() == np.bincount(reports[:, 0]).tolist()


@lru_cache
def zipf(users: int, words: int = 20_000, seed: int = 1) -> tuple[dict[str, float], list[str]]:
    """Words of two to ten letters, of which the k-th is had by a share in proportion to k**-1.1."""
    rng = np.random.default_rng(seed)
    letters = [[*"aeiou"], [*"bcdfghklmnprst"]]
    made: dict[str, None] = {}
    while len(made) < words:
        size = int(rng.integers(2, 11))
        made["".join(letters[i % 2][int(rng.integers(len(letters[i % 2])))] for i in range(size))] = None
    shares = np.arange(1, words + 1) ** -1.1
    drawn = rng.choice(words, users, p=shares / shares.sum())
    names = list(made)
    values = [names[i] for i in drawn]
    true = np.bincount(drawn, minlength=words) / users
    return dict(zip(names, true.tolist(), strict=True)), values


@pytest.mark.parametrize(
    ("epsilon", "surely", "promise"), [(4, 8, 0.025), pytest.param(2, 2, 0.06, marks=pytest.mark.slow)]
)
def test_frequent_words_are_found_and_none_is_made_up(epsilon: int, surely: int, promise: float) -> None:
    """Of 20,000 words, by 200,000 people; at 4 some 14 are found, at 2 some 6."""
    true, values = zipf(200_000)
    task = HeavyHitters(epsilon).named("words")
    found = task.find(task.randomize(values, entropy=Stream(epsilon)))
    assert set(list(true)[:surely]) <= set(found.keys)
    assert all(key in true for key in found.keys)
    assert not any(found.cut)
    assert found.complete_above < promise
    assert {key for key, share in true.items() if share >= found.complete_above} <= set(found.keys)
    first = slice(surely)
    off = found.values[first] - [true[str(key)] for key in found.keys[first]]
    assert (np.abs(off) < 5 * np.sqrt(found.variance[first])).all()
    assert found.counts == pytest.approx(found.values * 200_000)
    assert found.first(2).keys == found.keys[:2]


@pytest.mark.slow
def test_longer_hashes_find_more_than_single_bits() -> None:
    """Apple's and TreeHist's reports are one bit; at epsilon = 4 that costs 14 times the variance."""
    _, values = zipf(100_000)
    found = []
    for hash_bits in (1, None):
        task = HeavyHitters(4, hash_bits=hash_bits).named("words")
        found.append(task.find(task.randomize(values, entropy=Stream(7)), at_least=0.01, beam=256))
    assert len(found[0].keys) < len(found[1].keys)
    assert found[1].complete_above < 0.5 * found[0].complete_above


def test_strings_of_any_length_and_script() -> None:
    people = {"": 0.2, "水を飲む": 0.2, "été\x00": 0.2, "a string that is too long": 0.2, "12345678": 0.2}
    task = HeavyHitters(6, length=8, rows=64, places=251)
    values = [key for key in people for _ in range(1500)]
    found = task.find(task.randomize(values, entropy=Stream(1)), beam=64)
    assert dict(zip(found.keys, found.cut, strict=True)) == {
        "": False,
        "水を": True,
        "été\x00": False,
        "a strin": True,
        "12345678": False,
    }
    assert found.values == pytest.approx([0.2] * 5, abs=0.06)


def test_integers() -> None:
    task = HeavyHitters(5, kind="integers", length=3, rows=64, places=251)
    values = np.array([7] * 3000 + [-70_000] * 3000 + [10**9] * 3000 + list(range(1000)))
    found = task.find(task.randomize(values, entropy=Stream(2)), beam=64)
    assert dict(zip(found.keys, found.cut, strict=True)) == {7: False, -70_000: False, (1 << 23) - 1: True}


@pytest.mark.slow
def test_where_nobody_has_the_same_little_is_made_up() -> None:
    """One of 40 searches in 20 may find something; without shares in the miss most would."""
    task = HeavyHitters(4, length=3, rows=64, places=251)
    values = [f"{i:03x}" for i in range(2000)]
    tallies = [task.tally(task.randomize(values, entropy=Stream(run))) for run in range(40)]

    def made_up() -> int:
        return sum(bool(task.find(tally, beam=32, confidence=0.9).keys) for tally in tallies)

    assert made_up() <= 8  # Bin(40, 0.05) is above with a chance of 1e-4
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hunt, "rarely_reached", lambda people, chance, miss: rarely_reached(people, chance, 0.05))
        patch.setattr(meetings, "by_chance", lambda rows, places, largest, miss: 1 / places)
        assert made_up() > 30


def test_judges_had_no_part_in_the_choice() -> None:
    task = HeavyHitters(4, length=5, rows=16, places=61)
    tally = task.tally(task.randomize(WORDS * 200, entropy=Stream(4)))
    suspects, _ = PrefixSearch(task, tally, 0, 0.05, 128)._search()
    assert len(suspects) == task.levels
    for level, group in enumerate(suspects):
        ends = (group.codes < 0xFE).sum(axis=1) + 1  # the width at which a code says that it ends
        chosen = np.maximum(ends - task.widths[0], 0)
        if level + 1 < task.levels:
            assert (chosen == level).all()
            assert group.levels == range(level + 1, task.levels)
        else:
            assert (chosen >= level).all()
            assert group.levels == range(level, task.levels)
        assert group.people == tally.support[group.levels.start :, 0].sum()
    assert sum(len(group.codes) for group in suspects[:-1]) > 3


def test_whom_a_frequent_key_meets_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With four rows, one string of 15 meets in one the only one that people have: a quarter of them support it."""
    task = HeavyHitters(4, length=2, rows=4, places=61)
    tally = task.tally(task.randomize(["ab"] * 5000, entropy=Stream(3)))
    assert task.find(tally).keys == ("ab",)
    assert task.find(tally).values[0] == pytest.approx(1, abs=0.1)
    monkeypatch.setattr(meetings, "by_chance", lambda rows, places, largest, miss: 1 / places)
    monkeypatch.setattr(Collisions, "allowed", lambda self, codes: np.full(len(codes), self.chance))
    assert len(task.find(tally).keys) > 1000


def shared_prefix(users: int, seed: int, often: float) -> list[str]:
    """Nearly all begin alike and hardly two have the same, but for two values that many have."""
    tails = np.random.default_rng(seed).integers(97, 123, (users, 4)).astype(np.uint8)
    many = int(users * often)
    rare = [f"https://www.{tail.tobytes().decode()}" for tail in tails[2 * many :]]
    return ["tea"] * many + ["https://www.abcd"] * many + rare


def made_up(found: Hitters, values: list[str], length: int) -> list[LocalKey]:
    """What is found that nobody has."""
    codes = {text_code(value, length) for value in values}
    had = {key_of(np.frombuffer(code, np.uint8), text=True) for code in codes}
    return [key for key, cut in zip(found.keys, found.cut, strict=True) if (key, cut) not in had]


@pytest.mark.parametrize("run", [1, 2, 3])
@pytest.mark.parametrize("length", [12, 16])
def test_a_prefix_that_nearly_all_share_makes_nothing_up(length: int, run: int) -> None:
    """A suspect that meets "https://www." in one row of 32 has 3% more support than others."""
    task = HeavyHitters(4, length=length, rows=32, places=127).named(f"run{run}")
    values = shared_prefix(150_000, run, often=0.12)
    found = task.find(task.randomize(values, entropy=Stream(run)), beam=64)
    assert made_up(found, values, length) == []
    assert {"tea", "https://www" if length == 12 else "https://www.abcd"} == set(found.keys)
    assert found.complete_above < 0.12
    assert found.values[found.keys.index("tea")] == pytest.approx(0.12, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("run", "often"), [(0, 0), (1, 0), (2, 0), (3, 0.02)])
def test_a_prefix_that_nearly_all_share_makes_nothing_up_at_the_default_sizes(run: int, often: float) -> None:
    task = HeavyHitters(4, length=16).named(f"run{run}")
    values = shared_prefix(1_000_000, run, often)
    found = task.find(task.randomize(values, entropy=Stream(run)))
    assert made_up(found, values, 16) == []
    assert {"tea", "https://www.abcd"} == set(found.keys) or not often
    assert found.complete_above < 0.02


def test_of_twins_neither_is_named() -> None:
    """All of one's coefficients are the other's, so all that one's people report supports both."""
    task = HeavyHitters(4, length=2, rows=32, places=127).named("twins 7")  # the first such name
    codes = np.array([[*b"px"], [*b"xb"]], np.uint8)
    one, other = coefficients(codes, task.salt, 127).tolist()
    assert one == other
    values = ["px"] * 5000 + ["zz"] * 5000
    for some in (values, [*values, *["xb"] * 2000]):
        found = task.find(task.randomize(some, entropy=Stream(1)))
        assert found.keys == ("zz",)
        assert found.complete_above > 0.4


@pytest.mark.parametrize("epsilon", [4, pytest.param(8, marks=pytest.mark.slow)])
def test_the_variance_is_the_formulas(epsilon: int) -> None:
    """At 4 most of it is of coins, at 8 of who drew the level that judges."""
    users, runs, errors, formula = 1000, 150, [], []
    values = ["a"] * 400 + ["b"] * 300 + [f"c{i}" for i in range(300)]
    for run in range(runs):
        task = HeavyHitters(epsilon, length=3, last=1, rows=32, places=127).named(f"{run}")
        found = task.find(task.randomize(values, entropy=Stream(run)), at_least=0.2, beam=16)
        assert set(found.keys[:2]) == {"a", "b"}
        a = found.keys.index("a")
        errors.append(found.values[a] - 0.4)
        formula.append(found.variance[a])
        assert formula[-1] == pytest.approx(task.variance(users, 0.4, round(users / 2)), rel=0.4)
    assert abs(np.mean(np.square(errors)) / np.mean(formula) - 1) < 5 * math.sqrt(2 / runs)
    assert abs(np.mean(errors)) < 5 * math.sqrt(np.mean(formula) / runs)


@pytest.mark.slow
def test_a_small_beam_says_what_it_may_miss() -> None:
    true, values = zipf(60_000, words=300)
    task = HeavyHitters(4, length=10).named("beam")
    tally = task.tally(task.randomize(values, entropy=Stream(5)))
    few, many = task.find(tally, beam=4), task.find(tally, beam=256)
    assert few.crowded
    assert few.complete_above > 1.5 * many.complete_above
    only = task.find(tally, at_least=0.06)
    assert not only.crowded
    assert only.complete_above == pytest.approx(0.06, rel=0.01)
    for found, beam in ((few, 4), (many, 256), (only, 1024)):
        assert {key for key, f in true.items() if f >= found.complete_above} <= set(found.keys), beam


@pytest.mark.parametrize("length", [2, 3])
def test_what_is_missed_is_rarer_than_promised(length: int) -> None:
    """Twelve keys, each 1.5 times as frequent as the one before; the promise is within 2.5 of what is always found."""
    share = {f"k{i:x}"[-length:]: 1.5**i for i in range(12)}
    task = HeavyHitters(3, length=length, rows=32, places=127)
    values = [key for key, weight in share.items() for _ in range(round(20 * weight))]
    true = {key: values.count(key) / len(values) for key in share}
    ever_missed, promises = 0.0, []
    for run in range(25):
        found = task.find(task.randomize(values, entropy=Stream(run)), beam=32)
        missed = max(f for key, f in true.items() if key not in found.keys)
        assert missed < found.complete_above
        ever_missed = max(ever_missed, missed)
        promises.append(found.complete_above)
    assert ever_missed > 0.005
    assert max(promises) < 2.5 * ever_missed


@pytest.mark.slow
def test_enough_people_are_enough() -> None:
    task = HeavyHitters(4, length=4, rows=64, places=251)
    users = task.users_needed(0.1, confidence=0.9, beam=64)
    assert task.users_needed(0.1, confidence=0.99, beam=64) > users > task.users_needed(0.2, confidence=0.9, beam=64)
    hits = []
    for n in (users, users // 10):
        values = ["this"] * (n // 10) + [f"{i:04}" for i in range(n - n // 10)]
        runs = [task.find(task.randomize(values, entropy=Stream(i)), beam=64, confidence=0.9) for i in range(20)]
        hits.append(sum("this" in found.keys for found in runs))
    assert hits[0] >= 16  # 20 times 0.9: fewer with a chance of 0.04 were the promise tight
    assert hits[1] < hits[0]


def test_parts_add_up_and_a_task_is_a_small_document(monkeypatch: pytest.MonkeyPatch) -> None:
    task = HeavyHitters("2.5", length=4, rows=16, places=61).named("ü")
    again: Any = task_from_json(json.loads(json.dumps(task.to_json())))
    assert again == task
    monkeypatch.setattr("curador.local.unlisted.heavy_hitters.CELLS", 64)
    reports = task.randomize(WORDS * 100)
    assert len(reports) == 700
    rows = task.to_bytes(reports)
    assert rows.shape == (700, task.layout.size)
    parts = [again.tally(again.from_bytes(part)) for part in (rows[:1], rows[1:300], rows[300:])]
    *_, summed = accumulate(parts)
    whole = task.tally(reports)
    assert summed.users == 700
    assert np.array_equal(summed.support, whole.support)
    assert again.find(summed, at_least=0.1).keys == task.find(reports, at_least=0.1).keys
    assert task.randomize([]).shape == (0, reports.shape[1])
    assert sum(task.shares) == 1


def test_one_byte_values_have_one_level() -> None:
    task = HeavyHitters(4, length=1, rows=16, places=251)
    found = task.find(task.randomize(["a"] * 2000 + ["bc"] * 2000, entropy=Stream(1)))
    assert {"a", ""} == set(found.keys)
    assert found.cut[found.keys.index("")]


def test_refusals() -> None:
    task = HeavyHitters(1, length=3, rows=4, places=5)
    with pytest.raises(NotPromised):
        task_from_json({**task.to_json(), "epsilon": "0.9"})
    for name in ("length", "last", "rows", "places", "hash_bits", "keep"):
        for bad in (0, 1 << 33, -1, 0.5, True, "1", None):
            with pytest.raises(InvalidParameter):
                task_from_json({**task.to_json(), name: bad})
    for bad_task in ({"places": 9}, {"rows": 6}, {"kind": "bytes"}, {"kind": ["text"]}):
        with pytest.raises(InvalidParameter):
            task_from_json({**task.to_json(), **bad_task})
    good = task.randomize(["a"] * 100)
    for column in range(good.shape[1]):
        bad_report = good.astype(np.int64)
        bad_report[3, column] = 8
        with pytest.raises(InvalidValue):
            task.tally(bad_report)
    for few in (good[:0], good[:1], Tally(3, np.array([1, 2]))):
        with pytest.raises(InvalidParameter):
            task.find(few)
    for more in ({"at_least": 2}, {"beam": 0}, {"confidence": 1}, {"most": -1}):
        with pytest.raises(InvalidParameter):
            task.find(good, **more)
    for f, people in ((2, None), (0.1, 1000), (0.1, 0)):
        with pytest.raises(InvalidParameter):
            task.variance(100, f, people)
    for f in (0, 2, 1e-9):
        with pytest.raises(InvalidParameter):
            task.users_needed(f)
    for length, places in ((12, 65_521), (64, 2081)):
        with pytest.raises(InvalidParameter, match="numbers"):
            HeavyHitters(1, length=length, rows=places, places=places)
    for f in (0.0078, 0.001):  # others may meet a value in 2 rows of 256
        with pytest.raises(InvalidParameter, match="enough"):
            HeavyHitters(4).users_needed(f)
