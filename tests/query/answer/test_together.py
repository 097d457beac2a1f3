"""Tables of a batch about the same rows: they agree exactly, with intervals of their own, or are left alone."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.curator.releases.publication import Publication
from curador.errors import InvalidParameter, QuestionRefused
from curador.privacy import ZCDP, Guarantee, PureDP
from curador.query.answer.noise import noise
from curador.query.answer.postprocess import answered, answered_together
from curador.query.answer.together import families
from curador.query.ask.sql.read import parse
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from curador.query.tables.table import Table
from tests.query.answer.found import Answers

EDU = ["a", "b", "c", "d", "e"]


def keyed(keys: list[str], nullable: bool = False) -> dict[str, Any]:
    return {"type": "text", "keys": keys, "nullable": nullable}


COLUMNS: dict[str, Any] = {
    "sex": keyed(["F", "M"]),
    "edu": keyed(EDU),
    "town": keyed(["x", "y"], nullable=True),
    "age": {"type": "integer", "bounds": [0, 90], "nullable": False},
}
TABLES = {
    "t": Table("no-such.csv", columns=COLUMNS),
    "u": Table("u.csv", unit="id", columns={**COLUMNS, "id": "integer"}, contribution=(2, 3)),
}


def total(column: str, keys: list[str]) -> str:
    """The column with its last key for all else: it may hold what is no key, and a CASE with ELSE has no others."""
    whens = " ".join(f"WHEN {column} = '{x}' THEN '{x}'" for x in keys[:-1])
    return f"CASE {whens} ELSE '{keys[-1]}' END AS {column}"


SEX, LEVEL = total("sex", ["F", "M"]), total("edu", EDU)
T = f"(SELECT {SEX}, {LEVEL}, age FROM t) t"
QUESTIONS = {
    "sex": f"SELECT sex, COUNT(*) AS n, AVG(age) AS m FROM {T} GROUP BY sex",
    "edu": f"SELECT edu, COUNT(*) AS n FROM {T} GROUP BY edu",
    "cross": f"SELECT sex, edu, COUNT(*) AS n FROM {T} GROUP BY ROLLUP (edu, sex)",
    "all": "SELECT COUNT(*) AS n, SUM(age) AS s FROM t",
}


def planned(questions: dict[str, str], budget: Guarantee | None = None) -> dict[str, Plan]:
    return {name: plan(check(parse(text, TABLES), TABLES), budget or PureDP(0.5)) for name, text in questions.items()}


def cells(seed: int = 0) -> dict[tuple[str, str], int]:
    rng = np.random.default_rng(seed)
    return {(sex, edu): int(rng.integers(100, 900)) for sex in "FM" for edu in EDU}


def found(made: Plan, true: dict[tuple[str, str], int]) -> Answers:
    """What an engine finds of rows of these numbers, every one of age 50."""
    names = [g.name for g in made.question.group_by]
    places = [{"sex": 0, "edu": 1}[name] for name in names]
    keys = made.checked.keys or ((),)
    rows = [sum(n for cell, n in true.items() if tuple(cell[i] for i in places) == key) for key in keys]
    each = {"rows": 1, "centred": 50 - 45, "sum": 50}
    return Answers(keys, {m: [n * each[m.kind.value] for n in rows] for m in made.measures})


def test_totals_agree_exactly_and_the_fit_is_better() -> None:
    plans, true = planned(QUESTIONS), cells()
    off: dict[str, list[tuple[float, float]]] = {name: [] for name in plans}
    for _ in range(25):
        noisy = {name: noise(made, found(made, true)) for name, made in plans.items()}
        shown = answered_together(plans, noisy)
        n = {name: one.columns["n"] for name, one in shown.items()}
        assert sum(n["sex"]) == sum(n["edu"]) == n["all"][0] == n["cross"][-1]
        rolled = list(zip(shown["cross"].columns["edu"], shown["cross"].columns["sex"], n["cross"], strict=True))
        assert [x for edu, sex, x in rolled if edu and not sex] == list(n["edu"])
        for sex, x in zip(("F", "M"), n["sex"], strict=True):
            assert sum(y for _, s, y in rolled if s == sex) == x
        for name in plans:
            alone = answered(plans[name], noisy[name]).columns["n"]
            truth = found(plans[name], true).column(plans[name].measures[0])
            here = n[name][: len(truth)]
            off[name] += [(a - t, b - t) for a, b, t in zip(here, alone, truth, strict=False)]
    for name, pairs in off.items():
        fitted, alone = np.std(np.array(pairs), axis=0)
        assert fitted < alone * 1.001, name


@pytest.mark.parametrize("budget", [PureDP(0.5), ZCDP(0.05)])
def test_adjusted_intervals_cover(budget: Guarantee) -> None:
    counts = {**QUESTIONS, "sex": QUESTIONS["sex"].replace(", AVG(age) AS m", "")}
    plans, true = planned(counts, budget), cells()
    hits = dict.fromkeys(plans, 0)
    seen = dict.fromkeys(plans, 0)
    for _ in range(80):
        noisy = {name: noise(made, found(made, true)) for name, made in plans.items()}
        for name, one in answered_together(plans, noisy).items():
            truth = found(plans[name], true).column(plans[name].measures[0])
            for t, (low, high) in zip(truth, one.intervals["n"], strict=False):
                hits[name] += low <= t <= high
                seen[name] += 1
    for name in plans:
        assert (0.85 if seen[name] < 300 else 0.91) < hits[name] / seen[name] <= (1 if seen[name] < 300 else 0.99), name


def test_only_what_agrees_before_noise_is_adjusted() -> None:
    more = {
        **QUESTIONS,
        "town": "SELECT town, COUNT(*) AS n FROM t GROUP BY town",
        "some": "SELECT sex, COUNT(*) AS n FROM t WHERE age > 3 GROUP BY sex",
        "units": "SELECT sex, COUNT(*) AS n FROM u GROUP BY sex",
        "people": "SELECT COUNT(*) AS n FROM u",
        "old": "SELECT CASE WHEN age > 60 THEN 'old' ELSE 'young' END AS old, COUNT(*) AS n FROM t GROUP BY old",
        "top": "SELECT edu, TOP_K(2) AS n FROM t GROUP BY edu",
        "listed": "SELECT edu, COUNT(*) AS n FROM t GROUP BY edu",
        "filled": "SELECT COALESCE(town, 'x') AS town, COUNT(*) AS n FROM t GROUP BY 1",
        "upper": "SELECT COALESCE(UPPER(town), 'X') AS town, COUNT(*) AS n FROM t GROUP BY 1",
        "age": "SELECT age, COUNT(*) AS n FROM t GROUP BY age",
    }
    (family,), apart = families(planned(more))
    assert family.adjusted == {*QUESTIONS, "old", "upper", "age"}
    assert apart == {
        **dict.fromkeys(("town", "listed", "filled"), "apart-null"),
        **{"units": "apart-cut", "people": "apart-cut", "top": "apart-otherwise"},
    }


def test_tables_that_leave_out_what_is_no_key_keep_their_own_totals() -> None:
    """Found by attack: of 40 rows 15 had no key, and all tables were made to agree on 36.25, within 0.001."""
    data = {"sex": ["F"] * 10 + ["M"] * 15 + ["?"] * 15, "edu": ["a", "b", "c", "d"] * 10}
    columns = {name: COLUMNS[name] for name in data}
    texts = {name: f"SELECT {name}, COUNT(*) AS n FROM t GROUP BY {name}" for name in data}
    with closing(Curator({"t": Table(pa.table(data), columns=columns)}, budget=PureDP(1000))) as curator:
        batch = curator.batch({**texts, "all": "SELECT COUNT(*) AS n FROM t"}, epsilon=300)
        made = curator.publish(batch, because="a test", override=True)
        assert [made[name].numbers("n") for name in made] == [(10, 15), (10, 10, 10, 10, 0), (40,)]
        assert [note["code"] for note in batch.notes("sex")] == ["apart-null"]
        sold = curator.sql(texts["sex"], epsilon=0.1).charge
        assert sold
        assert "already bought" not in str(curator.explain("SELECT COUNT(*) AS n FROM t", epsilon=0.2))


def test_what_nobody_else_measured_stays_as_it_was() -> None:
    plans = planned({"sex": QUESTIONS["sex"], "s": "SELECT SUM(age) AS s FROM t"})
    assert families(plans) == ([], {})
    both = planned({"sex": QUESTIONS["sex"], "all": QUESTIONS["all"]})
    true = cells()
    noisy = {name: noise(made, found(made, true)) for name, made in both.items()}
    shown = answered_together(both, noisy)
    assert shown["all"].columns["s"] == answered(both["all"], noisy["all"]).columns["s"]
    assert shown["all"].columns["n"] != answered(both["all"], noisy["all"]).columns["n"]


def test_a_total_that_is_public_is_kept() -> None:
    held = {"t": Table("no-such.csv", columns=COLUMNS, size=5000, neighbors="replace")}
    texts = {"all": "SELECT COUNT(*) AS n FROM t", "sex": f"SELECT {SEX}, COUNT(*) AS n FROM t GROUP BY 1"}
    plans = {name: plan(check(parse(text, held), held), PureDP(0.5)) for name, text in texts.items()}
    exact = {"all": Answers(((),), {}), "sex": Answers((("F",), ("M",)), {plans["sex"].measures[0]: [2000, 3000]})}
    noisy = {name: noise(made, exact[name]) for name, made in plans.items()}
    shown = answered_together(plans, noisy)
    assert shown["all"].columns["n"] == (5000,)
    assert sum(shown["sex"].columns["n"]) == 5000
    (low, high), _ = shown["sex"].intervals["n"]
    (wide_low, wide_high), _ = answered(plans["sex"], noisy["sex"]).intervals["n"]
    assert high - low < wide_high - wide_low


@pytest.fixture(scope="module")
def curator() -> Curator:
    rng = np.random.default_rng(7)
    data = {"sex": rng.choice(["F", "M"], 2000), "edu": rng.choice(EDU, 2000), "age": rng.integers(0, 91, 2000)}
    columns = {name: COLUMNS[name] for name in data}
    return Curator({"t": Table(pa.table(data), columns=columns)}, budget=PureDP(1000))


def test_a_publication_agrees_says_so_and_is_made_again_alike(curator: Curator) -> None:
    batch = curator.batch(QUESTIONS, epsilon=1)
    made = curator.publish(batch)
    assert sum(made["sex"].numbers("n")) == sum(made["edu"].numbers("n")) == made["all"]["n"][0]
    again = curator.publish(curator.batch(QUESTIONS, epsilon=1))
    assert again.repeated
    assert again.to_json() == made.to_json()
    assert Publication.from_dict(made.to_dict()) == made
    assert "Adjusted by least squares, with edu, cross, all" in str(made["sex"]).replace("\n", " ")
    assert "Adjusted by least squares" in made["sex"]._repr_html_()
    assert made["sex"].flat()["adjusted"] == ("edu, cross, all",) * 2
    assert {note["code"] for note in made.to_dict()["releases"]["sex"]["notes"]} >= {"adjusted"}
    assert "Ajustado" in str(curator.publish(batch, language="es")["sex"])
    plain = curator.publish(curator.batch(QUESTIONS, epsilon=1, adjust=False))
    assert plain.repeated  # the same measurement, as it was
    assert sum(plain["sex"].numbers("n")) != sum(plain["edu"].numbers("n"))
    assert "Adjusted" not in str(plain)


def test_expected_errors_of_a_batch_are_those_of_the_adjusted_numbers(curator: Curator) -> None:
    batch = curator.batch(QUESTIONS, epsilon=1)
    made = curator.publish(batch)
    for name in QUESTIONS:
        low, high = made[name].intervals["n"][0]
        (first, *_) = [e for e in batch.expected(name) if e["output"] == "n"]
        assert (high - low) / 2 == pytest.approx(first["error"])
        assert first["error"] <= batch.plans[name].facts["expected"][0]["error"] * 1.02
    assert "Made to agree by least squares" in batch.explain()
    assert batch.to_dict()["questions"]["sex"]["expected"] == batch.expected("sex")


def test_a_dashboard_may_leave_tables_as_measured(tmp_path: Any) -> None:
    from curador.curator.study.dashboard import read_dashboard

    file = tmp_path / "d.toml"
    start, end = 'study = "s.toml"\nepsilon = 1\n', '[questions.n]\nsql = "SELECT COUNT(*) FROM t"\n'
    file.write_text(start + end)
    assert read_dashboard(file).adjust
    file.write_text(start + "adjust = false\n" + end)
    assert not read_dashboard(file).adjust
    file.write_text(start + "adjust = 3\n" + end)
    with pytest.raises(InvalidParameter, match="true or false"):
        read_dashboard(file)


def test_a_total_that_is_a_sum_of_what_was_bought_is_told_before_paying() -> None:
    data = pa.table(
        {"sex": ["F", "M"] * 50, "edu": ["a", "b", "c", "d"] * 25, "age": [40] * 100, "id": list(range(100))}
    )
    columns = {name: COLUMNS[name] for name in ("sex", "edu", "age")}
    own = Table(data.slice(0), unit="id", columns={**columns, "id": "integer"}, contribution=(2, 3))
    held = {"t": Table(data, columns=columns), "u": own}
    curator = Curator(held, budget=PureDP(10))
    text = f"SELECT {SEX}, {LEVEL}, COUNT(*) AS n, AVG(age) AS m FROM {{}} GROUP BY 1, 2"
    before = str(curator.explain("SELECT COUNT(*) AS n FROM t", epsilon=0.2))
    assert "already bought" not in before
    charge = curator.sql(text.format("t"), epsilon=0.1).charge
    told = f"rows: the sum over the groups of charge {charge} is already bought"
    for asked in ("SELECT COUNT(*) AS n FROM t", f"SELECT {LEVEL}, COUNT(*) AS n FROM t GROUP BY 1"):
        assert told in str(curator.explain(asked, epsilon=0.2)).replace("\n  ", " ")
    assert "measured before" in str(curator.explain(text.format("t"), epsilon=0.2))
    assert "already bought" not in str(curator.explain("SELECT COUNT(*) AS n FROM t WHERE age > 3", epsilon=0.2))
    curator.sql(text.format("u"), epsilon=0.1)  # cut by groups: its sum is another number
    assert "already bought" not in str(curator.explain("SELECT COUNT(*) AS n FROM u", epsilon=0.2))
    paid = curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=0.2)
    assert any("already bought" in note for note in paid.notes)


def test_tables_of_many_columns_are_left_alone() -> None:
    """Found by attack: what fitting takes triples with every column that is grouped by."""
    many = [f"age > {i}" for i in range(12)]
    texts = {
        name: f"SELECT {', '.join(f'{e} AS g{i}' for i, e in enumerate(some))}, COUNT(*) AS n FROM t "
        f"GROUP BY {', '.join(f'g{i}' for i in range(len(some)))}"
        for name, some in (("more", many), ("fewer", many[:5]), ("few", many[:4]))
    }
    made = planned(texts)
    assert families(made) == ([], dict.fromkeys(texts, "apart-large"))
    assert families({name: made[name] for name in ("fewer", "few")})[0][0].adjusted == {"fewer", "few"}
    (alone,) = planned({"sets": texts["more"].replace("GROUP BY ", "GROUP BY ROLLUP (") + ")"}).values()
    assert len(alone.steps) == 1


ALONE = {
    "COUNT(*)": 600,
    "COUNT(town)": 500,
    "SUM(age)": 600 * 29.5,
    "AVG(age)": 29.5,
    "VAR_POP(age)": 59.99 * 5,
    "STDDEV_POP(age)": 17.32,
    "COUNT(DISTINCT edu)": 5,
    "COUNT(DISTINCT age)": 60,
    "MEDIAN(age)": 29.5,
    "QUANTILE(age, 0.9)": 53.5,
    "MIN(age)": 0,
    "MAX(age)": 59,
    "CORR(age, 90 - age)": -1,
}
"""Aggregates of 300 rows of each sex, alike in all else, with what they are of all rows."""


@pytest.mark.parametrize("aggregate", ALONE)
def test_only_what_adds_up_is_added_up(aggregate: str) -> None:
    """A number of different values, or a quantile, of all rows is not made of those of the parts."""
    each = [(edu, age) for edu in EDU for age in range(60)]
    rows = [{"sex": sex, "edu": edu, "age": age, "town": "x" if age % 6 else None} for sex in "FM" for edu, age in each]
    questions = {
        "all": f"SELECT {aggregate} AS x FROM t",
        "sex": f"SELECT sex, {aggregate} AS x FROM (SELECT {SEX}, edu, age, town FROM t) t GROUP BY sex",
    }
    with closing(Curator({"t": Table(pa.Table.from_pylist(rows), columns=COLUMNS)}, PureDP(2000))) as holder:
        shown = holder.publish(holder.batch(questions, epsilon=1000), because="a test", override=True)
    half = 2 if aggregate.startswith(("COUNT(*", "COUNT(town", "SUM")) else 1
    (whole,), parts = shown["all"].numbers("x"), shown["sex"].numbers("x")
    assert whole == pytest.approx(ALONE[aggregate], rel=0.02, abs=1)
    assert parts == pytest.approx([ALONE[aggregate] / half] * 2, rel=0.02, abs=1)
    if half == 2:
        assert sum(parts) == whole


def deviations(outputs: int, column: str = "age") -> str:
    return ", ".join(f"STDDEV({column} * {i + 2}) AS v{i}" for i in range(outputs))


def test_what_is_free_is_bounded(curator: Curator) -> None:
    """An error takes milliseconds, and grouping sets, outputs and tables multiply: a short text would take hours."""
    few = f"SELECT sex, edu, {deviations(8)} FROM t GROUP BY CUBE (sex, edu)"
    assert curator.plan(few, epsilon=1)
    with pytest.raises(QuestionRefused, match="too many together"):
        curator.plan(f"SELECT sex, edu, {deviations(65)} FROM t GROUP BY CUBE (sex, edu)", epsilon=1)
    computed = ", ".join(f"SUM(age) - {i} * COUNT(*) AS c{i}" for i in range(65))
    with pytest.raises(QuestionRefused, match="too many together"):
        curator.plan(f"SELECT sex, edu, {computed} FROM t GROUP BY CUBE (sex, edu)", epsilon=1)
    with pytest.raises(QuestionRefused, match="too many outputs together"):
        curator.batch({f"q{i}": few for i in range(65)}, epsilon=1)
    tables = {f"q{i}": f"SELECT {deviations(8)}, COUNT(*) AS n FROM t" for i in range(15)}
    assert set(families(curator.batch(tables, epsilon=1).plans)[1].values()) == set()
    many = {f"q{i}": f"SELECT {deviations(8)}, COUNT(*) AS n FROM t" for i in range(16)}
    assert set(families(curator.batch(many, epsilon=1).plans)[1].values()) == {"apart-large"}


def test_a_table_that_groups_by_the_same_twice_is_left_alone() -> None:
    """Two names of one expression failed after the charge."""
    rows = pa.table({"a": [i % 3 == 0 for i in range(300)], "k": [i % 4 for i in range(300)]})
    columns = {
        "a": {"type": "boolean", "nullable": False},
        "k": {"type": "integer", "bounds": [0, 3], "nullable": False},
    }
    texts = {
        "twice": "SELECT a AS g, CAST(a AS BOOLEAN) AS h, COUNT(*) AS n FROM t GROUP BY g, h",
        "k": "SELECT k, COUNT(*) AS n FROM t GROUP BY k",
    }
    with closing(Curator({"t": Table(rows, columns=columns)}, budget=PureDP(100))) as curator:
        shown = curator.publish(curator.batch(texts, epsilon=50), because="a test", override=True)
    assert shown["twice"].columns["n"] == (200, 0, 0, 100)
    assert shown["k"].columns["n"] == (75, 75, 75, 75)
