"""The builder: immutable, as strict as SQL, and the same question as SQL."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.errors import CuradorError, InvalidParameter, QuestionRefused
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.base import Aggregate
from curador.query.aggregates.counts import count, count_distinct, histogram
from curador.query.aggregates.moments import mean, std, variance
from curador.query.aggregates.pairs.pairs import correlation, slope
from curador.query.aggregates.quantiles.ranks import bounds, maximum, median, minimum, quantiles
from curador.query.aggregates.sums import sum_
from curador.query.aggregates.top import mode, top_k
from curador.query.answer.evaluate import evaluated
from curador.query.answer.postprocess import kept, ordered
from curador.query.ask import public_keys
from curador.query.ask.builder import TableQuery
from curador.query.ask.question import Group, Join, KeyList, Order, Output, Question
from curador.query.ask.sql.read import parse, parse_expression
from curador.query.ask.typed import scope_of
from curador.query.language.bounds import typecheck
from curador.query.language.expressions import Literal, Name
from curador.query.plan.checked import check
from curador.query.tables.table import Table, Tree

EDUCATION = ["Bachelors", "Some-college", "11th", "HS-grad", "Masters", "Doctorate"]
ADULT = Table(
    "adult.parquet",
    columns={
        "age": {"type": "integer", "bounds": [17, 90]},
        "hours_per_week": {"type": "integer", "bounds": [1, 99]},
        "sex": {"type": "text", "keys": ["Female", "Male"]},
        "education": {"type": "text", "keys": EDUCATION},
        "fnlwgt": "integer",
    },
)
VISITS = Table(
    "visits.parquet",
    unit="pid",
    contribution=(5, 3),
    columns={
        "pid": "text",
        "town": "text",
        "region": "text",
        "cost": {"type": "real", "bounds": [0, 1000]},
        "day": {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]},
        "sick": "boolean",
    },
    trees={"place": Tree(("region", "town"), {"Galicia": ["Lugo", "Vigo"], "Murcia": ["Lorca"]})},
)
TOWNS = Table("towns.csv", public=True, columns={"town": "text", "size": {"type": "integer", "bounds": [0, 10**7]}})
STAYS = Table("stays.csv", unit="person", columns={"person": "text", "nights": {"type": "integer", "bounds": [0, 60]}})
TABLES = {"adult": ADULT, "visits": VISITS, "towns": TOWNS, "stays": STAYS}


def query(name: str) -> TableQuery:
    return TableQuery.of(name, TABLES)


# ---- the same question through both doors --------------------------------------------------------------------

HOMEWORK: dict[str, tuple[Callable[[TableQuery], TableQuery], str]] = {
    "count": (lambda t: t.aggregate(n=count()), "SELECT COUNT(*) AS n FROM adult"),
    "mean age": (lambda t: t.aggregate(age=mean("age")), "SELECT AVG(age) AS age FROM adult"),
    "mean hours per week": (
        lambda t: t.aggregate(hours=mean("hours_per_week")),
        "SELECT AVG(hours_per_week) AS hours FROM adult",
    ),
    "count by sex": (
        lambda t: t.group_by("sex").aggregate(n=count()),
        "SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex",
    ),
    "count by education": (
        lambda t: t.group_by("education").aggregate(n=count()),
        "SELECT education, COUNT(*) AS n FROM adult GROUP BY education",
    ),
}


@pytest.mark.parametrize(("build", "text"), HOMEWORK.values(), ids=HOMEWORK.keys())
def test_the_homework(build: Callable[[TableQuery], TableQuery], text: str) -> None:
    built, written = build(query("adult")).question, parse(text, TABLES)
    assert built == written
    assert hash(built) == hash(written)
    assert built.to_json() == written.to_json()
    assert check(built, TABLES) == check(written, TABLES)


PAIRS: list[tuple[Callable[[], TableQuery], str]] = [
    (
        lambda: (
            query("adult")
            .group_by("sex")
            .aggregate(n=count())
            .derive(share="n / SUM(n) OVER ()", m="ROUND(SUM(age) / COUNT(*), 2)")
            .having("COUNT(*) > 5 AND AVG(hours_per_week) > 10")
            .order_by("share", descending=True)
            .order_by("n / 2")
            .limit(3, offset=1)
        ),
        "SELECT sex, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS share, ROUND(SUM(age) / COUNT(*), 2) AS m"
        " FROM adult GROUP BY sex HAVING COUNT(*) > 5 AND AVG(hours_per_week) > 10 ORDER BY share DESC, n / 2"
        " LIMIT 3 OFFSET 1",
    ),
    (
        lambda: (
            query("adult")
            .aggregate(s=sum_("age"), n=count())
            .derive(young="COUNT(*) FILTER (WHERE age < 30)", m="s / n")
            .show("m", "young")
        ),
        "SELECT m, young FROM (SELECT SUM(age) AS s, COUNT(*) AS n, COUNT(*) FILTER (WHERE age < 30) AS young,"
        " s / n AS m FROM adult)",
    ),
    (
        lambda: (
            query("adult")
            .where("age >= 18")
            .where("18 <= age AND sex = 'Female'")
            .with_columns(decade="age // 10")
            .group_by("decade", "sex")
            .aggregate(n=count(), hours=mean("hours_per_week"))
            .having("n > 100")
            .order_by("hours", descending=True)
            .order_by("decade")
            .limit(3)
        ),
        "SELECT age // 10 AS decade, sex, COUNT(*) AS n, AVG(hours_per_week) AS hours FROM adult"
        " WHERE sex = 'Female' AND age >= 18 GROUP BY decade, sex HAVING COUNT(*) > 100"
        " ORDER BY hours DESC, decade LIMIT 3",
    ),
    (
        lambda: query("adult").aggregate(
            a=quantiles("age", [0.75, 0.25]),
            b=median("age"),
            c=minimum("age"),
            d=maximum("age"),
            e=std("age"),
            f=variance("age", population=True),
            g=sum_("age * 2"),
            h=count("fnlwgt"),
            i=bounds("fnlwgt"),
        ),
        "SELECT QUANTILE(age, [0.25, 0.75]) AS a, MEDIAN(age) AS b, MIN(age) AS c, MAX(age) AS d, STDDEV(age) AS e,"
        " VAR_POP(age) AS f, SUM(age * 2) AS g, COUNT(fnlwgt) AS h, BOUNDS(fnlwgt) AS i FROM adult",
    ),
    (
        lambda: query("adult").aggregate(r=correlation("age", "hours_per_week / 2"), s=slope("hours_per_week", "age")),
        "SELECT CORR(age, hours_per_week / 2) AS r, REGR_SLOPE(hours_per_week, age) AS s FROM adult",
    ),
    (
        lambda: query("adult").aggregate(h=histogram("age", [0, 30, 60, 90])),
        "SELECT HISTOGRAM(age, 0, 30, 60, 90) AS h FROM adult",
    ),
    (
        lambda: query("adult").group_by("education").aggregate(n=top_k(3)),
        "SELECT education, TOP_K(3) AS n FROM adult GROUP BY education",
    ),
    (
        lambda: query("adult").where("age > 30").aggregate(e=mode("education")),
        "SELECT MODE(education) AS e FROM adult WHERE age > 30",
    ),
    (
        lambda: query("adult").aggregate(a=top_k(3, "age // 10")),
        "SELECT APPROX_TOP_K(age // 10, 3) AS a FROM adult",
    ),
    (
        lambda: query("visits").group_by(quarter="QUARTER(day)").aggregate(people=count_distinct("pid")),
        "SELECT QUARTER(day) AS quarter, COUNT(DISTINCT pid) AS people FROM visits GROUP BY 1",
    ),
    (
        lambda: query("visits").join("towns", "town").where("size > 1000").group_by("town").aggregate(c=mean("cost")),
        "SELECT town, AVG(cost) AS c FROM visits JOIN towns USING (town) WHERE size > 1000 GROUP BY town",
    ),
    (
        lambda: query("visits").join("stays", {"pid": "person"}, how="left").aggregate(nights=sum_("nights")),
        "SELECT SUM(nights) AS nights FROM visits LEFT JOIN stays ON visits.pid = stays.person",
    ),
    (
        lambda: query("visits").tree("place").aggregate(n=count()),
        "SELECT region, town, COUNT(*) AS n FROM visits GROUP BY ROLLUP (region, town)",
    ),
    (
        lambda: query("visits").with_columns(cost="cost / 10").with_columns(cost="cost + 1").aggregate(c=mean("cost")),
        "WITH a AS (SELECT cost / 10 AS cost FROM visits) SELECT AVG(cost + 1) AS c FROM a",
    ),
]


@pytest.mark.parametrize(("build", "text"), PAIRS)
def test_builder_and_sql_ask_the_same(build: Callable[[], TableQuery], text: str) -> None:
    built, written = build().question, parse(text, TABLES)
    assert built == written
    assert hash(built) == hash(written)
    assert Question.from_json(json.loads(json.dumps(built.to_json()))) == written


def test_different_questions_differ() -> None:
    plain = query("visits").group_by("town").aggregate(n=count()).question
    others = [
        query("visits").group_by("town").aggregate(m=count()).question,
        query("visits").group_by("region").aggregate(n=count()).question,
        query("visits").group_by("town", keys=["Lugo"]).aggregate(n=count()).question,
        query("visits").group_by("town").aggregate(n=count()).limit(5).question,
        query("visits").group_by("town").aggregate(n=count()).bounded(groups=1, rows=1).question,
        query("visits").where("sick").group_by("town").aggregate(n=count()).question,
        query("visits").group_by("town").aggregate(n=count("cost")).question,
    ]
    assert len({plain, *others}) == len(others) + 1
    assert len({json.dumps(q.to_json(), sort_keys=True) for q in (plain, *others)}) == len(others) + 1


# ---- steps ---------------------------------------------------------------------------------------------------


def test_each_step_is_a_new_query() -> None:
    start = query("adult")
    steps = [
        start.where("age > 20"),
        start.with_columns(x="age + 1"),
        start.group_by("sex"),
        start.aggregate(n=count()),
        start.limit(3),
    ]
    assert start == query("adult")
    assert all(step != start for step in steps)
    with pytest.raises(AttributeError):
        start.table = "other"  # type: ignore[misc]


def test_redefining_drops_bounds() -> None:
    asked = query("adult").with_columns(age="age * 1000").aggregate(s=sum_("age")).question
    column = asked.aggregates[0].aggregate.column
    assert column is not None
    assert typecheck(column, scope_of(asked, TABLES)).bounds == (Fraction(17_000), Fraction(90_000))
    shadowed = query("adult").with_columns(AGE="age * 1000")
    assert str(shadowed.where("age > 5").filters[0]) == "(age * 1000) > 5"  # engines fold case, and so do we


def test_columns_computed_together_see_the_old_ones() -> None:
    swapped = query("adult").with_columns(age="hours_per_week", hours_per_week="age").where("age > hours_per_week")
    assert str(swapped.filters[0]) == "age < hours_per_week"


def test_expressions_need_no_text() -> None:
    by_tree = query("adult").with_columns(x=parse_expression("age + 1")).where(parse_expression("x > 5"))
    assert by_tree.filters == query("adult").with_columns(x="age + 1").where("x > 5").filters


def test_bounded() -> None:
    asked = query("visits").bounded(groups=2, rows=7).aggregate(n=count()).question
    assert asked.contribution == Contribution(groups=2, rows=7)
    assert Question.from_json(asked.to_json()) == asked
    with pytest.raises(QuestionRefused, match="nothing to bound"):
        _ = query("adult").bounded(groups=2, rows=7).aggregate(n=count()).question


# ---- keys ----------------------------------------------------------------------------------------------------


def keys_of(built: TableQuery, **more: Any) -> object:
    return check(built.aggregate(n=count()).question, TABLES, **more).keys


def test_keys() -> None:
    assert keys_of(query("adult")) == ((),)
    assert keys_of(query("adult").group_by("sex")) == (("Female",), ("Male",))
    assert keys_of(query("visits").group_by("town")) is None
    assert keys_of(query("visits").group_by("town", keys=["Lugo", "Vigo"])) == (("Lugo",), ("Vigo",))
    assert keys_of(query("visits").group_by("town", "sick", keys={"town": ["Lugo"]})) == (
        ("Lugo", False),
        ("Lugo", True),
    )
    pairs = [("Lugo", "Galicia"), ("Lorca", "Murcia")]
    assert keys_of(query("visits").group_by("town", "region", keys=pairs)) == tuple(pairs)
    assert keys_of(query("visits").group_by("sick", "day", keys={"day": [date(2020, 1, 1)]})) == (
        (False, date(2020, 1, 1)),
        (True, date(2020, 1, 1)),
    )
    three = query("visits").group_by("town", "sick", "region", keys={"town": ["L"], "region": ["G", "M"]})
    assert keys_of(three) == (("L", False, "G"), ("L", False, "M"), ("L", True, "G"), ("L", True, "M"))
    assert keys_of(query("visits").tree("place")) == (("Galicia", "Lugo"), ("Galicia", "Vigo"), ("Murcia", "Lorca"))


def test_keys_of_bins_are_their_numbers() -> None:
    """Another key was shown as a bin that it is not, or failed after the charge."""
    binned = query("adult").group_by
    assert keys_of(binned(b="BIN(age, 20, 40, 60)", keys={"b": [1]})) == ((1,),)
    for keys in ([-1], [0, 2], [7]):
        with pytest.raises(QuestionRefused) as refused:
            keys_of(binned(b="BIN(age, 20, 40, 60)", keys={"b": keys}))
        assert refused.value.code == "key-of-no-bin"


def test_keys_that_no_answer_could_hold_are_not_multiplied_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were, before they were refused: four kilobytes of SQL took a gigabyte, and a batch of them several."""
    many = {f"k{i}": {"type": "integer", "bounds": [1, 100], "nullable": False} for i in range(3)}
    wide = {f"c{i}": {"type": "text", "keys": ["a"]} for i in range(20)}
    held = {"t": Table("t.csv", columns={**many, **wide})}
    monkeypatch.setattr(public_keys, "product", lambda *_: pytest.fail("multiplied out"))
    with pytest.raises(QuestionRefused) as refused:
        assert TableQuery.of("t", held).group_by(*many, *wide).aggregate(n=count()).question
    assert refused.value.code == "answer-too-large"


def test_keys_of_a_public_table() -> None:
    """They are read by whoever plans; without a reader there is no plan."""
    asked = query("visits").group_by("town", keys="towns").aggregate(n=count()).question
    assert asked.keys == (KeyList(("town",), table="towns"),)
    with pytest.raises(QuestionRefused, match="public table"):
        check(asked, TABLES)
    read = check(asked, TABLES, public_rows=lambda table, columns: [("Lugo",), ("Vigo",), ("Lugo",)])
    assert read.keys == (("Lugo",), ("Vigo",))


def test_keys_of_a_public_table_that_is_joined() -> None:
    """Groups that are its columns have its rows as keys, the pairs that there are; others are multiplied with them."""
    rows: dict[tuple[str, ...], list[tuple[str | int, ...]]] = {
        ("town", "size"): [("Lugo", 1), ("Vigo", 2), ("Lugo", 1)],
        ("size",): [(2,), (1,)],
    }
    near = Join("public", "towns", ((Name("town"), "town"),))
    groups = (Group("place", Name("town", "towns")), Group("many", Name("size", "towns")), Group("sick", Name("sick")))
    asked = Question("visits", (Output("n", count()),), joins=(near,), group_by=groups)
    read = check(asked, TABLES, public_rows=lambda table, columns: rows[tuple(columns)])
    pairs = [("Lugo", 1), ("Vigo", 2)]
    assert read.keys == tuple((*pair, sick) for pair in pairs for sick in (False, True))
    assert check(asked, TABLES).keys is None


def test_a_key_is_there_once_however_it_is_written() -> None:
    """A row that matched two keys would count twice."""
    asked = query("visits").group_by("day", keys=["2020-01-01", date(2020, 1, 1)]).aggregate(n=count()).question
    assert check(asked, TABLES).keys == ((date(2020, 1, 1),),)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("visits", "not a public table"),
        ("lost", "no table 'lost'"),
        ("stays", "not a public table"),
    ],
)
def test_keys_come_from_public_tables_alone(keys: str, said: str) -> None:
    with pytest.raises(QuestionRefused, match=said):
        _ = query("visits").group_by("town", keys=keys).aggregate(n=count()).question


def test_keys_of_a_public_table_are_of_the_same_name_and_type() -> None:
    for name, said in (("region", "no column 'region'"), ("size", "is integer, and the group")):
        with pytest.raises(QuestionRefused, match=said):
            _ = query("visits").group_by(**{name: "town"}, keys="towns").aggregate(n=count()).question


@pytest.mark.parametrize(
    "build",
    [
        lambda: query("visits").group_by("town", keys=[]),
        lambda: query("visits").group_by("town", keys=["a", "a"]),
        lambda: query("visits").group_by("town", keys=[1]),
        lambda: query("visits").group_by("town", keys={"region": ["a"]}),
        lambda: query("visits").group_by("town", keys=[("a", "b")]),
        lambda: query("visits").group_by("sick", keys=[1, 0]),
        lambda: query("visits").group_by("town", keys="stays"),
        lambda: query("visits").group_by("town", keys=5),  # type: ignore[arg-type]
    ],
)
def test_keys_that_cannot_be(build: Callable[[], TableQuery]) -> None:
    with pytest.raises(CuradorError):
        keys_of(build())


def test_keys_may_not_multiply_without_end() -> None:
    asked = query("visits").group_by(
        "town", "region", keys={c: [str(i) for i in range(1001)] for c in ("town", "region")}
    )
    with pytest.raises(QuestionRefused, match="1002001 groups"):
        keys_of(asked)


# ---- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda: query("adlt"), "no table 'adlt'"),
        (lambda: query("adult").where("agee > 3"), "no column 'agee'"),
        (lambda: query("adult").where("age > "), "cannot|not SQL|not expected|missing"),
        (lambda: query("adult").where("age"), "not a condition"),
        (lambda: query("adult").where("COUNT(*) > 1"), "value of one row"),
        (lambda: query("adult").group_by("agee"), "is not a column here"),
        (lambda: query("adult").group_by("sex", "sex"), "fold case"),
        (lambda: query("adult").group_by("sex", SEX="sex"), "fold case"),
        (lambda: query("adult").aggregate(n=count(), N=count()), "fold case"),
        (lambda: query("adult").aggregate(x=mean("agee")), "no column 'agee'"),
        (lambda: query("adult").aggregate(n=count()).having("m > 1"), "noised answers only"),
        (lambda: query("adult").aggregate(n=count()).order_by("age"), "noised answers only"),
        (lambda: query("adult").aggregate(n=count()).limit(0), "LIMIT"),
        (lambda: query("adult").aggregate(h=histogram("age", [0, 1]), n=count()), "with other aggregates"),
        (lambda: query("adult").aggregate(n=top_k(3)), "needs groups"),
        (lambda: query("adult").group_by("sex").aggregate(n=top_k(3), m=count()), "stands alone"),
        (lambda: query("visits").group_by("town").aggregate(n=top_k(3)).order_by("town"), "have an order"),
        (lambda: query("visits").tree("plce"), "no tree 'plce'"),
        (lambda: query("visits").tree("place", {("Galicia", "Lorca"): 5}), "no node 'Galicia/Lorca'"),
        (lambda: query("visits").join("adult", "age"), "is not a column here"),
        (lambda: query("visits").join("stays", {"town": "person"}), "unit's id"),
        (lambda: query("visits").join("towns", {"cost": "size"}), "one type"),
        (lambda: query("visits").join("towns", "town", how="cross"), "cannot be joined"),
        (lambda: query("visits").join("towns", "town").join("towns", "town"), "cannot be joined"),
        (
            lambda: (
                query("visits").with_columns(t="town").with_columns(t="IF(sick, t, 'x')").join("towns", {"t": "town"})
            ),
            "computed",
        ),
        (lambda: query("towns"), "is public"),
        (lambda: query("adult").where("sex SIMILAR TO 'F%'"), "SIMILAR TO"),
        (lambda: query("adult").with_columns(**{"a\nb": "age"}), "control character"),
    ],
)
def test_refusals(build: Callable[[], TableQuery], what: str) -> None:
    def ask() -> Question:
        built = build()
        return (built if built.outputs else built.aggregate(n_=count())).question

    with pytest.raises(CuradorError, match=what) as caught:
        ask()
    assert caught.value.fix


def test_what_is_no_aggregate() -> None:
    with pytest.raises(InvalidParameter, match="not an aggregate"):
        query("adult").aggregate(n="count")  # type: ignore[arg-type]
    with pytest.raises(QuestionRefused, match="something to measure"):
        _ = query("adult").question
    with pytest.raises(QuestionRefused, match="No aggregate is called 'avg'"):
        Aggregate("avg", Name("age"))


def test_growth_is_refused() -> None:
    def grown() -> TableQuery:
        built = query("adult")
        for _ in range(40):
            built = built.with_columns(age="age + age")
        return built

    with pytest.raises(QuestionRefused, match="parts"):
        grown()


# ---- questions as values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("build", "text"), PAIRS)
def test_questions_travel(build: Callable[[], TableQuery], text: str) -> None:
    asked = build().question
    assert pickle.loads(pickle.dumps(asked)) == asked
    assert copy.deepcopy(asked) == asked


@pytest.mark.parametrize("change", [{"table": None}, {"aggregates": None}, {"where": 5}, {"limit": "x"}, {"keys": [3]}])
def test_json_that_is_no_question(change: dict[str, object]) -> None:
    good = query("adult").group_by("sex").aggregate(n=count()).question.to_json()
    with pytest.raises(CuradorError):
        Question.from_json({**good, **change})
    with pytest.raises(CuradorError):
        Question.from_json({k: v for k, v in good.items() if k not in change})


def test_keys_one_and_true_stay_apart_in_json() -> None:
    asked = Question(
        "t",
        (Output("n", count()),),
        group_by=(Group("a", Name("a")), Group("b", Name("b")), Group("c", Name("c"))),
        keys=(KeyList(("a", "b", "c"), ((1, True, date(2020, 1, 1)), (1, False, date(2020, 1, 1)))),),
    )
    back = Question.from_json(json.loads(json.dumps(asked.to_json())))
    assert back == asked
    assert [type(x) for x in back.keys[0].rows[0]] == [int, bool, date]


# ---- what is done to noised answers --------------------------------------------------------------------------


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in ("g", "n")}


def test_what_is_left_and_in_which_order() -> None:
    rows = [{"g": g, "n": n} for g, n in [("b", 3.5), ("a", None), ("c", -2), ("d", 3.5), ("e", float("nan"))]]

    def shown(**after: Any) -> list[object]:
        asked = Question("t", (Output("n", count()),), group_by=(Group("g", Name("g")),), **after)
        left = [rows[i] for i in kept(asked, _columns(rows), len(rows))]
        return [left[i]["g"] for i in ordered(asked, _columns(left), len(left))]

    assert shown() == ["b", "a", "c", "d", "e"]
    assert shown(order_by=(Order("n"),)) == ["c", "b", "d", "a", "e"]
    assert shown(order_by=(Order("n", True),)) == ["b", "d", "c", "a", "e"]
    assert shown(order_by=(Order("n", True), Order("g", True))) == ["d", "b", "c", "e", "a"]
    assert shown(having=parse_expression("n > 0"), limit=1) == ["b"]
    assert shown(having=parse_expression("NOT n > 0")) == ["c"]
    assert shown(having=parse_expression("n IS NULL")) == ["a", "e"]
    assert shown(having=parse_expression("g IN ('a', 'b') OR n < 0")) == ["b", "a", "c"]
    assert shown(limit=2) == ["b", "a"]
    assert shown(limit=2, offset=1) == ["a", "c"]
    assert shown(offset=4) == ["e"]


@given(st.floats(allow_nan=False), st.decimals(-5, 5, places=2))
def test_having_compares_exactly(answer: float, bound: Any) -> None:
    """A float stands for the decimal it prints as, here as everywhere."""
    e = parse_expression(f"n > {bound}")
    expected = answer > 0 if answer in (float("inf"), float("-inf")) else Fraction(str(answer)) > Fraction(bound)
    assert evaluated(e, {"n": [answer]}, 1)[0] is expected


def test_literals_in_having_keep_their_kind() -> None:
    assert evaluated(parse_expression("ok = TRUE"), {"ok": [True]}, 1) == [True]
    assert evaluated(parse_expression("d >= DATE '2020-01-01'"), {"d": [date(2020, 1, 2)]}, 1) == [True]
    assert Literal(1) != Literal(True)
