"""The front door: holds tables, budgets and the ledger, and is the only maker of releases.

A release is a plan, paid for, then noised.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from curador.engines import Answer, Engine, failed
from curador.errors import CuradorError, EngineFailed, InvalidParameter, QuestionRefused
from curador.ledger.contract import Balance, Charge, Ledger
from curador.ledger.memory import MemoryLedger
from curador.privacy import Guarantee
from curador.query.budgets import budget_of
from curador.query.builder import Desk, TableQuery
from curador.query.checked import Checked, check
from curador.query.exact import Exact
from curador.query.expected import Within
from curador.query.explain import Explanation, notes
from curador.query.noising import noise
from curador.query.plan import Plan, Planner
from curador.query.question import Question
from curador.query.schema import Table
from curador.query.shown import answered
from curador.query.sources import EngineTable, Frame, Source
from curador.rational import Number
from curador.release import Explained, Release

if TYPE_CHECKING:
    from curador.query.prepare import Prepared

POPULATION = "population"
"""The scope that one budget for all tables makes: whoever is in several of them is protected in all together."""

ENGINES = MappingProxyType(
    {
        "duckdb": ("curador.engines.duckdb", "DuckDB"),
        "postgresql": ("curador.engines.postgres", "Postgres"),
        "spark": ("curador.engines.spark", "Spark"),
    }
)


class Curator:
    """Tables under a budget, and an engine that reads them.

    ``tables`` are declared in Python, or in a study file given by its path, which may state the budget too.  One
    ``budget`` is for everybody in any of the tables; a budget for each table, by name, promises for each apart.  The
    engine follows from where the tables live.  The ledger is in memory unless one is given.  ``witness`` is shown what
    really went wrong behind the constant error of a plan that failed: for a private log, since it may quote rows.

    Guarantee: everything released is within the budget, whatever is asked and in whatever order, for one unit.
    Assumes: bounds, keys and sizes were declared without looking at the data.

    >>> import pyarrow
    >>> from curador.privacy import PureDP
    >>> from curador.query.aggregates import count
    >>> people = Table(pyarrow.table({"age": [30, 40, 50] * 100}), columns={"age": "integer"})
    >>> curator = Curator({"people": people}, budget=PureDP(1))
    >>> release = curator.table("people").where("age >= 40").aggregate(n=count()).ask(epsilon=0.25)
    >>> isinstance(release.value, int), curator.budget("people").remaining
    (True, PureDP(epsilon=0.75))
    """

    def __init__(
        self,
        tables: Mapping[str, Table] | str | Path,
        budget: Budget | None = None,
        *,
        engine: Engine | None = None,
        ledger: Ledger | None = None,
        witness: Callable[[Exception], None] | None = None,
    ) -> None:
        declared, stated = _study(tables) if isinstance(tables, str | Path) else (_declared(tables), None)
        self.tables: Mapping[str, Table] = MappingProxyType(declared)
        self.ledger: Ledger = MemoryLedger() if ledger is None else ledger
        self._engine, self._witness = engine, witness
        self._engines: dict[str, Engine] = {}
        self._opening = Lock()
        self._prepared: list[Prepared] = []
        self._open_scopes(stated if budget is None else budget)

    # -- asking

    def table(self, name: str) -> TableQuery:
        """A table to ask: ``curator.table("adult").where(…).aggregate(…).ask(epsilon=…)``."""
        return TableQuery.of(name, self.tables, cast(Desk, self))  # its keywords are named, a Desk's are any

    def sql(self, text: str, **budget: Any) -> Release:
        """Answer a question written in SQL.

        ``budget`` is as for :meth:`plan`.
        """
        return self.ask(text, **budget)

    def plan(
        self,
        question: Question | str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        accuracy: Within | None = None,
        noise: str | None = None,
        weights: Mapping[str, Number] | None = None,
        confidence: float = 0.95,
        rows: int | None = None,
        prepared: bool | None = None,
    ) -> Plan:
        """What answering would do and cost; free, and made without reading data.

        Pay with ``epsilon``, with ``epsilon`` and ``delta``, with ``rho`` (and ``delta``), or let a wanted ``accuracy``
        find the least epsilon.  The budget is that of the whole question.  A table prepared for the same groups is
        used unless ``prepared`` is False; one for finer groups, where noise grows, only if it is True.  See
        :func:`curador.query.plan.plan` for the rest.
        """
        checked = check(self._read(question), self.tables)
        planner = Planner(checked, noise, weights, confidence, rows, self._prepared_for(checked, prepared))
        if accuracy is None:
            return planner.plan(budget_of(epsilon, delta, rho))
        if epsilon is not None or rho is not None:
            raise InvalidParameter("An accuracy finds its own budget.", fix="Give accuracy, or epsilon, or rho.")
        return planner.reaching(accuracy, delta)

    def explain(self, question: Question | str, **budget: Any) -> Explanation:
        """The plan in words, with the statements that would be run; free, and the same whatever the data is."""
        plan = self.plan(question, **budget)
        engine = self._engine_of(plan)
        return Explanation(plan, engine.name, engine.sql(plan.exact))

    def ask(self, question: Question | str, **budget: Any) -> Release:
        """Pay, and get the noised answer."""
        return self.release(self.plan(question, **budget))

    def release(self, plan: Plan) -> Release:
        """Run a plan: charge it, read the data, add the noise, keep the answer.

        Guarantee: refused before any data is read if the budget does not cover it.  After that the charge is kept,
        whatever happens, and whatever happens is an answer or one error of constant words.
        """
        engine, exact = self._engine_of(plan), plan.exact
        charge = self.ledger.reserve(
            plan.tables, plan.event, promise=plan.promise, note={"question": plan.question.to_json()}
        )
        release = self._attempt(plan, engine, exact, charge)
        if release is None:
            same = failed()  # the engine's own words, so that what failed, and where, is not seen
            raise EngineFailed(same.what, fix=same.fix, cost=f"charge {charge.id} is kept, as for an answer")
        return release

    def _attempt(self, plan: Plan, engine: Engine, exact: Exact, charge: Charge) -> Release | None:
        """None where anything went wrong: raised from here, an error would carry exact numbers as its context."""
        try:
            release = _release(plan, engine.run(exact), charge)
            self.ledger.settle(charge.id, release.to_json().encode())
        except Exception as error:  # noqa: BLE001  whatever it was, it may depend on the data
            self._tell(error)
            return None
        return release

    def _tell(self, error: Exception) -> None:
        if self._witness is not None:
            self._witness(error)

    def prepare(self, table: str, group_by: Sequence[str] = (), **options: Any) -> Prepared:
        """Choose the rows of every unit once, so that later questions in these groups cost about a plain GROUP BY.

        Nothing is released and nothing charged.  ``options`` are the engine's, such as a path to store at.
        """
        from curador.query.prepare import preparation

        groups = [g.expr for g in self.table(table).group_by(*group_by).groups]
        wanted = preparation(table, self.tables[table], groups)
        engine = self._engine_for({table})
        made = None
        try:
            made = engine.prepare(wanted, **options)  # type: ignore[attr-defined]
        except CuradorError:
            raise
        except Exception as error:  # noqa: BLE001  it may quote rows
            self._tell(error)
        if made is None:
            raise failed()
        self._prepared.append(made)
        return cast("Prepared", made)

    def _prepared_for(self, checked: Checked, wanted: bool | None) -> Prepared | None:
        if wanted is False:
            return None
        fitting = [p for p in reversed(self._prepared) if p.covers(checked)]  # the latest first
        same = [p for p in fitting if len(set(p.group_by)) == len({g.expr for g in checked.question.group_by})]
        found = next(iter(same or (fitting if wanted else [])), None)
        if wanted and found is None:
            raise QuestionRefused(
                f"{checked.question.table!r} was not prepared for these groups.", fix="Prepare it, or leave it out."
            )
        return found

    # -- budgets

    def budget(self, scope: str | None = None) -> Balance:
        """What a table, or everybody together, has spent and has left."""
        if scope is None:
            if not self._shared:
                raise InvalidParameter("Every table has a budget of its own.", fix="Name the table.")
            return self.ledger.balance(POPULATION)
        return self.ledger.balance(scope)

    def history(self, scope: str | None = None) -> tuple[Charge, ...]:
        """The charges so far, oldest first."""
        return self.ledger.history(scope)

    def close(self) -> None:
        """Let go of the engines that were opened here."""
        for engine in self._engines.values():
            engine.close()
        self._engines.clear()

    # -- what it holds

    def _read(self, question: Question | str) -> Question:
        if isinstance(question, Question):
            return question
        from curador.query.sql import parse  # the parser is heavy: loaded when a text is first read

        return parse(question, self.tables)

    def _open_scopes(self, budget: Budget | None) -> None:
        private = {name: table for name, table in self.tables.items() if not table.public}
        self._shared = not isinstance(budget, Mapping)
        if budget is None:
            raise InvalidParameter(
                "A curator needs a budget.", fix="Pass one, such as budget=PureDP(1), or state it in the study file."
            )
        if isinstance(budget, Mapping):
            missing = sorted(set(private) ^ set(budget))
            if missing:
                raise InvalidParameter(
                    f"{missing[0]!r} has a budget and is no private table, or the other way round.",
                    fix="Give every private table its budget, and nothing else.",
                )
            for name, table in private.items():
                self.ledger.open(name, budget[name], neighbors=table.neighbors)
            return
        kinds = {table.neighbors for table in private.values()}
        if len(kinds) != 1 or POPULATION in self.tables:
            raise InvalidParameter(
                f"One budget is for private tables about the same neighbours, none called {POPULATION!r}.",
                fix="Declare the same neighbours for all, or give every table a budget of its own.",
            )
        self.ledger.open(POPULATION, budget, neighbors=kinds.pop())
        for name in private:
            self.ledger.open(name, budget, parent=POPULATION)

    def _engine_of(self, plan: Plan) -> Engine:
        return self._engine_for({plan.question.table, *(join.table for join in plan.question.joins)})

    def _engine_for(self, used: set[str]) -> Engine:
        """The one engine that these tables live in, opened when it is first needed."""
        if self._engine is not None:
            return self._engine
        with self._opening:
            return self._opened(used)

    def _opened(self, used: set[str]) -> Engine:
        homes = sorted({_home(self.tables[name].source) for name in used})
        if len(homes) > 1:
            raise InvalidParameter(
                f"The tables of this question live in {' and '.join(homes)}.", fix="Join tables of one engine."
            )
        home = homes[0]
        if home not in self._engines:
            module, name = ENGINES[home]
            sources = {n: t.source for n, t in self.tables.items() if _home(t.source) == home}
            opened = getattr(import_module(module), name)(sources, witness=self._witness)
            opened.check({n: self.tables[n] for n in sources})
            self._engines[home] = opened
        return self._engines[home]


def _declared(tables: Mapping[str, Table]) -> dict[str, Table]:
    for name, table in tables.items():
        if not isinstance(table, Table):
            raise InvalidParameter(f"{name!r} is no Table.", fix="Declare it as Table(source, columns={…}).")
    return dict(tables)


Budget = Guarantee | Mapping[str, Guarantee]


def _study(path: str | Path) -> tuple[dict[str, Table], Budget | None]:
    """The tables of a study file, and its budget where it states one: ``[budget]`` or ``[budget.TABLE]``."""
    from curador.query.toml import read_tables

    tables = read_tables(path)
    stated = tomllib.loads(Path(path).read_text(encoding="utf-8")).get("budget")
    if stated is None:
        return tables, None
    try:
        if any(isinstance(x, Mapping) for x in stated.values()):
            return tables, {name: budget_of(**amount) for name, amount in stated.items()}
        return tables, budget_of(**stated)
    except (TypeError, AttributeError):
        raise InvalidParameter(
            f"{Path(path).name} has a budget that is none.",
            fix="Write [budget] with epsilon, with epsilon and delta, or with rho; or [budget.TABLE] for each table.",
        ) from None


def _home(source: Source) -> str:
    if isinstance(source, EngineTable):
        return source.engine
    if isinstance(source, Frame) and type(source.data).__module__.startswith("pyspark"):
        return "spark"
    return "duckdb"


def _release(plan: Plan, found: Answer, charge: Charge) -> Release:
    shown = answered(plan, noise(plan, found))
    return Release(
        shown.columns,
        shown.groups,
        shown.intervals,
        shown.ranks,
        plan.confidence,
        plan.promise,
        charge.id,
        plan.neighbors,
        plan.checked.table.unit.id,
        plan.question.to_json(),
        tuple(notes(plan)),
        Explained(plan.explain(), plan.to_dict()),  # not the plan itself, which knows where the rows are
    )
