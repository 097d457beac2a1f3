"""What identifies a plan: pinned for a format, blind to words and presentation, and different where noise would be."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.mechanisms.sensitivity import Contribution
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP
from curador.query.aggregates.counts import count, count_distinct, histogram
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.moments import mean, std, variance
from curador.query.aggregates.quantiles.ranks import bounds, maximum, median, minimum, quantiles
from curador.query.aggregates.sums import sum_
from curador.query.aggregates.top import top_k
from curador.query.ask.builder import TableQuery
from curador.query.ask.sql.read import parse
from curador.query.language.expressions import Name
from curador.query.plan.checked import check
from curador.query.plan.identity import FORMAT, coded, digest, measure_codes, text_of
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from curador.query.tables.table import Table, Tree
from curador.show.words.say import texts

AGE: Mapping[str, object] = {"type": "integer", "bounds": [17, 90], "nullable": False}
COLUMNS: Mapping[str, object] = {
    "id": "integer",
    "age": AGE,
    "pay": {"type": "real", "bounds": [0, 1000], "step": 0.25},
    "sex": {"type": "text", "keys": ["F", "M"]},
    "smoker": "boolean",
    "born": {"type": "date", "bounds": [date(1930, 1, 1), date(2010, 12, 31)]},
    "town": "text",
    "street": "text",
    "note": "text",
}
TREE = Tree(("town", "street"), {"Lugo": ["a", "b"], "Vigo": ["c"]})
# No such files: an identity is not read from rows.
TABLES = {
    "people": Table("no-such.csv", columns=COLUMNS, size=30_000, trees={"places": TREE}),
    "swapped": Table("no-such.csv", columns=COLUMNS, neighbors="replace"),
    "visits": Table("no-such.csv", unit="id", columns=COLUMNS, contribution=(5, 3)),
    "bills": Table("no-such.csv", unit="id", columns={"id": "integer", "owed": AGE}, contribution=(2, 2)),
    "towns": Table("no-such-towns.csv", columns={"name": "text", "region": "text"}, public=True),
}
PEOPLE, VISITS = TableQuery.of("people", TABLES), TableQuery.of("visits", TABLES)


def planned(query: TableQuery | str, budget: Guarantee | None = None, **options: Any) -> Plan:
    question = parse(query, TABLES) if isinstance(query, str) else query.question
    return plan(check(question, TABLES), PureDP(1) if budget is None else budget, **options)


# ---- pinned --------------------------------------------------------------------------------------------------------

GOLDEN: dict[str, tuple[TableQuery, Guarantee, dict[str, Any], str]] = {
    "a count": (
        PEOPLE.aggregate(n=count()),
        PureDP(1),
        {},
        "1d1648f367411978e231320642f1c65cc4891f8b868ebf4df35e6bf8410d7529",
    ),
    "moments of what may be NULL": (
        PEOPLE.where("age >= 18 AND note IS NOT NULL").aggregate(m=mean("pay"), v=variance("pay"), s=sum_("pay")),
        PureDP("0.3"),  # type: ignore[arg-type]
        {"weights": {"m": 3}},
        "29055284927c9d5a934bf2284b4bc6adb128be7d94495eedaa91549fe87907f5",
    ),
    "public groups": (
        PEOPLE.group_by("sex", "smoker").aggregate(n=count(), d=count_distinct("sex"), sd=std("age")),
        ZCDP(0.05),
        {},
        "7ba1c1e1bbd716eb6cae4fc48ebacb0b736b79fca721f4eeec22501d7d00cc22",
    ),
    "private groups": (
        VISITS.group_by("town").aggregate(n=count(), u=count_distinct()),
        ApproxDP(1, 1e-6),
        {},
        "acd78a7084c888592e7045c4ac893d320bb93e548518e79799f8cd7a7bf50b62",
    ),
    "listed keys": (
        VISITS.group_by("town", "born", keys=[("Lugo", date(2000, 2, 29)), ("Vigo", date(1999, 12, 31))])
        .bounded(groups=2, rows=1)
        .aggregate(n=count("pay")),
        ApproxDP(2, 1e-9),
        {"noise": "gaussian"},
        "fe1a420bfcbea23546f9102faa5dd402c745e196248e9c7e4b1705b78facd78b",
    ),
    "ranks": (
        PEOPLE.aggregate(q=quantiles("pay", [0.25, 0.75]), low=minimum("age"), high=maximum("age"), b=bounds("id")),
        ZCDP(0.5),
        {},
        "35f17c9b485fa2de88c84ff4f1a97dcb7dfb02afabe817c8074205a5efbc9f1c",
    ),
    "the largest": (
        PEOPLE.group_by("age").aggregate(top=top_k(3)),
        PureDP(1),
        {},
        "5dbcfc8dbfda35fca07520183a409f7e909de357b167ba69886c30bab75585cf",
    ),
    "a tree": (
        PEOPLE.tree("places", {("Vigo",): 50}).aggregate(n=count()),
        PureDP(1),
        {},
        "6f89944d300136df222e202e4b64fe916586f4883a9dcc0f81465dd0242b4758",
    ),
    "bins and neighbours that replace": (
        TableQuery.of("swapped", TABLES).aggregate(h=histogram("age", [20, 40, 60])),
        ZCDP(0.1),
        {"noise": "laplace"},
        "d92f007d6a78f12b4bcb3df7af456ef7970363fab97b1411de0cd6b6f8488da9",
    ),
    "joins": (
        VISITS.join("towns", {"town": "name"})
        .join("bills", "id", how="left")
        .with_columns(double="owed * 2")
        .group_by("region", keys={"region": ["north", "south"]})
        .aggregate(total=sum_("double"), n=count()),
        ApproxDP(1, 1e-6),
        {"noise": "laplace"},
        "87a13edb5236ea05200d02882117678421d1a73781199616cafa1e4cce9fe897",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_identities_are_pinned_for_format_1(name: str) -> None:
    """If this fails, answers that were bought are no longer found: change it together with FORMAT, and with nothing."""
    query, budget, options, pinned = GOLDEN[name]
    assert FORMAT == 1
    assert planned(query, budget, **options).identity == pinned


def test_the_pinned_plans_are_all_different() -> None:
    assert len({pinned for *_, pinned in GOLDEN.values()}) == len(GOLDEN)


def test_the_format_is_part_of_every_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    before = planned(PEOPLE.aggregate(n=count())).identity
    monkeypatch.setattr("curador.query.plan.identity.FORMAT", FORMAT + 1)
    assert planned(PEOPLE.aggregate(n=count())).identity != before


# ---- the same ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOLDEN)
def test_no_word_is_in_an_identity(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    query, budget, options, pinned = GOLDEN[name]
    before = planned(query, budget, **options)
    said = before.explain()
    for spoken in texts("report", "release").values():
        for language in spoken:
            monkeypatch.setitem(spoken, language, "x")
    made = planned(query, budget, **options)
    assert made.explain() != said
    assert made.identity == before.identity == pinned
    assert made.measured.keys() == before.measured.keys()


def test_no_label_is_in_an_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    query = VISITS.group_by("sex").aggregate(n=count(), m=mean("pay"), q=median("age"))
    before = planned(query)
    monkeypatch.setattr(Measure, "label", "x")
    assert planned(query).identity == before.identity
    assert planned(query).measured.keys() == before.measured.keys()


COUNTS = "SELECT sex, smoker, COUNT(*) AS n, AVG(age) AS m FROM visits WHERE age > 30 GROUP BY sex, smoker"


@pytest.mark.parametrize(
    "other",
    [
        COUNTS.replace("AS n", "AS how_many").replace("AS m", "AS years"),
        COUNTS.replace("SELECT sex, smoker", "SELECT sex AS s, smoker AS who_smokes"),
        COUNTS + " ORDER BY n DESC, sex",
        COUNTS + " HAVING COUNT(*) > 10 AND AVG(age) < 50",
        COUNTS + " LIMIT 2",
        COUNTS.replace("COUNT(*) AS n, AVG(age) AS m", "AVG(age) AS m, COUNT(*) AS n"),
        COUNTS.replace("SELECT sex, smoker", "SELECT smoker, sex"),
        COUNTS.replace("WHERE age > 30", "WHERE 30 < age"),
        COUNTS.replace("FROM visits", "FROM visits AS v").replace("age > 30", "v.age > 30"),
    ],
)
@pytest.mark.parametrize("budget", [PureDP(0.3), ApproxDP(1, 1e-6), ZCDP(0.1)])
def test_how_an_answer_is_presented_is_not_in_an_identity(other: str, budget: Guarantee) -> None:
    one, two = planned(COUNTS, budget), planned(other, budget)
    assert one.identity == two.identity
    assert one.event == two.event
    assert measure_codes(one).keys() == measure_codes(two).keys()


def test_the_order_of_groups_matters_only_where_units_are_cut_to_a_few_of_them() -> None:
    """Which groups of a unit are kept depends on the order that they are written in."""
    for table, same in (("people", True), ("visits", False)):
        one = COUNTS.replace("FROM visits", f"FROM {table}")
        other = one.replace("GROUP BY sex, smoker", "GROUP BY smoker, sex")
        assert (planned(one).identity == planned(other).identity) is same
        query = TableQuery.of(table, TABLES)
        keyed = [query.group_by("sex", keys={"sex": keys}).aggregate(n=count()) for keys in (["F", "M"], ["M", "F"])]
        assert (planned(keyed[0]).identity == planned(keyed[1]).identity) is same


@pytest.mark.parametrize("options", [{"confidence": 0.5}, {"rows": 1234}, {"confidence": 0.99, "rows": 7}])
def test_what_serves_to_expect_an_error_is_not_in_an_identity(options: dict[str, Any]) -> None:
    assert planned(COUNTS, **options).identity == planned(COUNTS).identity


def test_where_rows_are_and_how_many_is_not_in_an_identity() -> None:
    query = PEOPLE.aggregate(n=count(), m=mean("age"))
    moved = {**TABLES, "people": Table("elsewhere.parquet", columns=COLUMNS, trees={"places": TREE})}
    assert plan(check(query.question, moved), PureDP(1)).identity == planned(query).identity


def test_tables_that_are_not_read_are_not_in_an_identity() -> None:
    query = PEOPLE.aggregate(n=count())
    alone = {"people": TABLES["people"]}
    assert plan(check(query.question, alone), PureDP(1)).identity == planned(query).identity


def test_the_order_of_keys_and_of_declared_columns_is_not_in_an_identity() -> None:
    ordered = {"town": ["Lugo", "Vigo", "Lorca"]}
    mixed = {"town": ["Vigo", "Lorca", "Lugo"]}
    one, two = (planned(PEOPLE.group_by("town", keys=keys).aggregate(n=count())) for keys in (ordered, mixed))
    assert one.checked.keys != two.checked.keys
    assert one.identity == two.identity
    turned = {**TABLES, "people": Table("x.csv", columns=dict(reversed(list(COLUMNS.items()))), trees={"places": TREE})}
    query = PEOPLE.aggregate(n=count())
    assert plan(check(query.question, turned), PureDP(1)).identity == planned(query).identity


def test_a_public_total_that_only_the_fit_uses_is_not_in_an_identity() -> None:
    tree = PEOPLE.tree("places").aggregate(n=count())
    assert planned(PEOPLE.tree("places", {("Vigo",): 50}).aggregate(n=count())).identity == planned(tree).identity
    fixed = PEOPLE.tree("places", {(): 100}).aggregate(n=count())  # the root is then not measured
    assert planned(fixed).identity != planned(tree).identity


def test_outputs_in_any_order_are_one_measurement() -> None:
    wanted = {"n": count(), "m": mean("pay"), "v": variance("age"), "q": median("pay"), "s": sum_("age")}
    for budget in (PureDP(1), ApproxDP(1, 1e-6), ZCDP(0.1)):
        found = set()
        for seed in range(6):
            order = random.Random(seed).sample(sorted(wanted), len(wanted))
            found.add(planned(PEOPLE.group_by("sex").aggregate(**{n: wanted[n] for n in order}), budget).identity)
        assert len(found) == 1


def test_one_measurement_of_two_outputs_is_that_of_one() -> None:
    """A standard deviation needs what a variance needs; a sum beside a mean is free."""
    both = PEOPLE.aggregate(m=mean("age"), s=std("age"), n=count())
    assert planned(both, weights={"s": 1}).identity == planned(both).identity
    one, two = (planned(PEOPLE.aggregate(x=std("age", population=p))) for p in (False, True))
    assert one.identity == two.identity


# ---- different -----------------------------------------------------------------------------------------------------


def declared(**changes: Any) -> dict[str, Table]:
    how: dict[str, Any] = {"unit": "id", "columns": COLUMNS, "contribution": (5, 3)}
    return {**TABLES, "visits": Table("no-such.csv", **{**how, **changes})}


def of(sql: str = COUNTS, tables: Mapping[str, Table] = TABLES, budget: Guarantee | None = None, **how: Any) -> str:
    return str(plan(check(parse(sql, tables), tables), ApproxDP(1, 1e-6) if budget is None else budget, **how).identity)


OTHERS: dict[str, Callable[[], str]] = {
    "epsilon": lambda: of(budget=ApproxDP(0.999, 1e-6)),
    "delta, where it buys noise": lambda: of(budget=ApproxDP(1, 1e-7), noise="gaussian"),
    "another currency": lambda: of(budget=ZCDP(0.1)),
    "noise": lambda: of(noise="gaussian"),
    "weights": lambda: of(weights={"m": 5}),
    "another condition": lambda: of(COUNTS.replace("age > 30", "age > 31")),
    "no condition": lambda: of(COUNTS.replace("WHERE age > 30", "")),
    "another aggregate": lambda: of(COUNTS.replace("COUNT(*)", "COUNT(pay)")),
    "one more": lambda: of(COUNTS.replace("AVG(age) AS m", "AVG(age) AS m, SUM(pay) AS s")),
    "fewer groups": lambda: of(COUNTS.replace("sex, smoker", "sex")),
    "other groups": lambda: of(COUNTS.replace("smoker, C", "note IS NULL AS e, C").replace("smoker", "note IS NULL")),
    "bounds": lambda: of(tables=declared(columns={**COLUMNS, "age": {**AGE, "bounds": [17, 91]}})),
    "bounds of another column": lambda: of(
        tables=declared(columns={**COLUMNS, "pay": {"type": "real", "bounds": [0, 999], "step": 0.25}})
    ),
    "step": lambda: of(tables=declared(columns={**COLUMNS, "pay": {"type": "real", "bounds": [0, 1000], "step": 0.5}})),
    "nullable": lambda: of(tables=declared(columns={**COLUMNS, "age": {**AGE, "nullable": True}})),
    "type": lambda: of(tables=declared(columns={**COLUMNS, "note": "integer"})),
    "declared keys": lambda: of(tables=declared(columns={**COLUMNS, "sex": {"type": "text", "keys": ["F", "X"]}})),
    "more keys": lambda: of(tables=declared(columns={**COLUMNS, "sex": {"type": "text", "keys": ["F", "M", "X"]}})),
    "unit": lambda: of(tables=declared(unit="age")),
    "unit of a row": lambda: of(tables={**TABLES, "visits": Table("no-such.csv", columns=COLUMNS)}),
    "neighbours": lambda: of(tables=declared(neighbors="replace")),
    "contribution of rows": lambda: of(tables=declared(contribution=(5, 4))),
    "contribution of groups": lambda: of(tables=declared(contribution=(3, 3))),
    "another table": lambda: of(COUNTS.replace("visits", "people")),
    "a tree": lambda: of(tables=declared(trees={"places": TREE})),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_measured_otherwise_is_another_plan(name: str) -> None:
    assert OTHERS[name]() != of()


def test_no_two_of_them_are_the_same() -> None:
    found = {name: make() for name, make in OTHERS.items()}
    assert len(set(found.values())) == len(found)


def test_keys_that_are_told_apart_by_type_are_other_keys() -> None:
    def keyed(*keys: Any, column: str) -> str:
        return str(planned(PEOPLE.group_by(column, keys={column: keys}).aggregate(n=count())).identity)

    assert keyed("1", column="town") != keyed(1, column="age")
    assert keyed("a", "b", column="town") != keyed('a", "b', column="town")
    assert keyed("a\nb", "c", column="town") != keyed("a", "b\nc", column="town")
    assert keyed(True, column="smoker") != keyed(False, column="smoker")
    assert len({keyed(*keys, column="town") for keys in (["a"], ["a", "b"], ["a", "c"], ["A"], ["a "])}) == 5


def test_limits_that_change_nothing_are_not_in_an_identity() -> None:
    """There are four groups of sex and smoker: to keep five, or fifty, of them is the same."""
    assert of(tables=declared(contribution=(50, 3))) == of()


def test_a_joined_public_file_that_changes_makes_another_plan(tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("name,region\nLugo,north\n")
    os.utime(file, ns=(10**18, 10**18))
    tables = {**TABLES, "towns": Table(str(file), columns={"name": "text", "region": "text"}, public=True)}
    sql = "SELECT COUNT(*) AS n FROM visits JOIN towns ON town = name WHERE region = 'north'"
    first = of(sql, tables)
    assert of(sql, tables) == first
    os.utime(file, ns=(10**18, 10**18 + 1))
    touched = of(sql, tables)
    assert touched != first
    file.write_text("name,region\nLugo,south\nVigo,north\n")
    os.utime(file, ns=(10**18, 10**18))
    assert of(sql, tables) not in (first, touched)  # another size, at the same time
    file.unlink()
    assert of(sql, tables) not in (first, touched)


def test_a_private_file_that_changes_does_not(tmp_path: Path) -> None:
    """That would be read from private rows: a curator counts versions of data instead."""
    file = tmp_path / "visits.csv"
    found = set()
    for rows in ("", "1\n", "1\n2\n"):
        file.write_text("id\n" + rows)
        table = Table(str(file), unit="id", columns={"id": "integer"}, contribution=(1, 1))
        found.add(
            plan(
                check(TableQuery.of("v", {"v": table}).aggregate(n=count()).question, {"v": table}), PureDP(1)
            ).identity
        )
    assert len(found) == 1


def test_a_prepared_copy_makes_another_plan_but_its_rows_do_not() -> None:
    """Which rows of a unit count was chosen otherwise; the snapshot of the copy is read from rows."""
    columns = {"id": "integer", "sex": {"type": "text", "keys": ["F", "M"]}}
    found, plain = set(), set()
    for ids in ([1, 1, 2], [3, 4, 5]):
        rows = pa.table({"id": ids, "sex": ["F", "M", "F"]})
        curator = Curator({"t": Table(rows, unit="id", contribution=(1, 1), columns=columns)}, PureDP(1))
        made = curator.prepare("t", ["sex"])
        query = curator.table("t").group_by("sex").aggregate(n=count())
        copied = query.plan(epsilon=1)
        assert copied.prepared is not None
        found.add(replace(copied, prepared=replace(made, place="here", snapshot=made.snapshot)).identity)
        plain.add(query.plan(epsilon=1, prepared=False).identity)
        curator.close()
    assert len(found) == len(plain) == 1
    assert found != plain


# ---- codes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "unknown",
    [
        object(),
        b"bytes",
        {1, 2},
        frozenset(),
        Decimal(1),
        1j,
        np.int64(1),
        np.float32(1),
        np.array([1]),
        Contribution,
        lambda: None,
        Path("x"),
        range(3),
        iter([1]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_has_no_code_is_refused(unknown: object) -> None:
    """Not by its repr, in which an address or a rounded number may stand."""
    for deep in (unknown, [unknown], {"a": (1, unknown)}):
        with pytest.raises(TypeError, match="has no code"):
            coded(deep)


def test_numbers_that_json_does_not_have_are_refused_or_exact() -> None:
    assert coded(0.1) == {"double": "0x1.999999999999ap-4"}
    assert digest(0.1) != digest(0.1 + 2.0**-56)
    assert digest(Fraction(1, 10)) != digest(0.1)


@dataclass(frozen=True)
class Pair:
    a: object
    b: object = None


def test_codes_tell_values_apart_and_nothing_else() -> None:
    values: list[object] = [
        None,
        False,
        0,
        "",
        "0",
        0.0,
        Fraction(0),
        [],
        {},
        [None],
        date(2020, 1, 1),
        "2020-01-01",
        Name("a"),
        "a",
    ]
    assert len({text_of(x) for x in values}) == len(values)
    assert coded(Pair(1, (2,))) == {"a": 1, "b": [2]}
    assert coded(Neighbors.REPLACE) == "replace"
    assert coded(MeasureKind.ROWS) == "rows"
    assert coded({"x": datetime(2020, 1, 2)}) == {"x": {"date": "2020-01-02T00:00:00"}}
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": (1, 2), "a": 1}) != digest({"a": 1, "b": [2, 1]})


@pytest.mark.parametrize("name", GOLDEN)
def test_codes_of_steps_measures_and_searches_tell_them_apart(name: str) -> None:
    query, budget, options, _ = GOLDEN[name]
    made = planned(query, budget, **options)
    assert len({text_of(s.code) for s in made.steps}) == len(made.steps)
    assert len(measure_codes(made)) == len(made.measures)


@pytest.mark.parametrize(
    ("bought", "shown"),
    [
        ("SELECT COUNT(*) AS n FROM visits", "SELECT 100.0 * COUNT(*) AS percent, COUNT(*) > 5 AS many FROM visits"),
        ("SELECT AVG(age) AS m FROM visits", "SELECT ROUND(SUM(age) / COUNT(*), 1) AS m FROM visits"),
        ("SELECT AVG(COALESCE(pay, 0)) AS m FROM visits", "SELECT SUM(pay) / COUNT(*) AS m FROM visits"),
        (
            "SELECT SUM(pay) AS s, COUNT(DISTINCT id) AS u FROM visits",
            "SELECT SUM(pay) / COUNT(DISTINCT id) AS x FROM visits",
        ),
        (
            "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex",
            "SELECT sex, COUNT(*) / SUM(COUNT(*)) OVER () AS s, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits"
            " GROUP BY sex",
        ),
        (
            "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex",
            "SELECT sex, n * 2 AS m FROM (SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex) WHERE n > 3 OFFSET 1",
        ),
        (
            "SELECT AVG(age) AS m, COUNT(*) AS n FROM visits",
            "SELECT AVG(age) AS m FROM visits HAVING COUNT(*) > 5",
        ),
        (
            "SELECT COUNT(CASE WHEN smoker THEN 1 END) AS n FROM visits",
            "SELECT COUNT(*) FILTER (WHERE smoker) AS n FROM visits",
        ),
    ],
)
def test_arithmetic_on_answers_is_not_in_the_identity(bought: str, shown: str) -> None:
    """Words: the same measures with other arithmetic are the same measurement, shown again for free."""
    first, second = (plan(check(parse(text, TABLES), TABLES), PureDP(0.5)) for text in (bought, shown))
    assert first.identity == second.identity


def test_how_many_rows_a_query_inside_joins_is_part_of_the_identity() -> None:
    """A table that declared more rows of a unit since was answered with what fewer rows had given."""
    text = """SELECT COUNT(*) AS n FROM (SELECT visits.id, COUNT(*) AS c FROM visits JOIN bills ON visits.id = bills.id
    GROUP BY visits.id) t WHERE c > 150"""

    def identity(most: int) -> str | None:
        tables = {**TABLES, "bills": replace(TABLES["bills"], contribution=Contribution(rows=most))}
        return plan(check(parse(text, tables), tables), PureDP(1)).identity

    assert identity(10) == identity(100)  # no more than a hundred of each are joined where no more are declared
    assert identity(200) != identity(100)
