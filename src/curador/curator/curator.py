"""The front door: holds tables, budgets and the ledger, and is the only maker of releases.

A release is a plan, paid for, then noised.  The measurement is kept; every presentation is made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never, TypeVar
from weakref import finalize

from curador.curator.analysts import Scopes
from curador.curator.budgets import Budget
from curador.curator.holder import BudgetHolder, how_many
from curador.curator.naming import settled
from curador.curator.planners import Planners
from curador.curator.policy import Policy
from curador.curator.prepared import CopyHolder
from curador.curator.purchase import Bought, Buyer, Purchase, Request
from curador.curator.purchases.batch import Batch, planners_of, require_named, split, stated
from curador.curator.purchases.training import ModelHolder, TrainingRun
from curador.curator.releases.explanation import Explanation
from curador.curator.releases.notes import bought_notes, bought_remarks, shared_notes
from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release, present
from curador.curator.study.file import Analyst, Study, read_study
from curador.curator.study.quality import QualityHolder
from curador.curator.table import Asked, CuratorTable, described, refuse_unknown
from curador.engines.engine import Engine, Progress
from curador.engines.pool import EnginePool
from curador.errors import InvalidParameter, QuestionRefused
from curador.forks import after_fork
from curador.ledger.contract import Ledger
from curador.ledger.opening import open_ledger
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import Number
from curador.query.ask.builder import TableQuery
from curador.query.plan.budget import budget_of
from curador.query.plan.expected import Within
from curador.query.plan.plan import Plan
from curador.query.plan.planner import Planner
from curador.query.tables.columns import Key
from curador.query.tables.table import Table
from curador.show.describe import Description
from curador.show.explain import checked_language

if TYPE_CHECKING:
    from curador.curator.purchases.running import Stream

Sealed = TypeVar("Sealed", Release, Publication)


class Curator(BudgetHolder, CopyHolder, ModelHolder, QualityHolder):
    """Tables under a budget, and an engine that reads them.

    ``tables`` are declared in Python, or in a study file given by its path, which states the budget, the ledger's
    place, the policy and the analysts too.  One ``budget`` is for everybody in any of the tables; a budget for each
    table, by name, promises for each apart.  The engine is chosen by where the tables are.  ``ledger`` is an address
    or an open ledger; by default a file next to the study file, or in memory without one.  ``on_error`` is called with
    the real error behind the constant error of a plan that failed: for a private log, since it may quote rows.
    ``language`` is that of releases and explanations: "en" or "es".

    Guarantee: everything released is within the budget, whatever is asked and in whatever order, for one unit.
    Assumes: bounds, keys and sizes were declared without looking at the data.

    >>> from curador.privacy import PureDP
    >>> from curador.query.aggregates.counts import count
    >>> people = Table("people.csv", columns={"age": {"type": "integer", "bounds": [0, 120]}})
    >>> stage = Curator({"people": people}, budget=PureDP(1)).rehearse(rows=300)
    >>> release = stage.table("people").where("age >= 40").aggregate(n=count()).ask(epsilon=0.25)
    >>> type(release.value), stage.budget("people").remaining
    (<class 'int'>, PureDP(epsilon=0.75))
    """

    def __init__(
        self,
        tables: Mapping[str, Table] | str | Path,
        budget: Budget | None = None,
        *,
        engine: Engine | None = None,
        ledger: Ledger | str | Path | None = None,
        policy: Policy | None = None,
        analysts: Mapping[str, Analyst] | None = None,
        on_error: Callable[[Exception], None] | None = None,
        language: str = "en",
    ) -> None:
        study = read_study(tables) if isinstance(tables, str | Path) else Study.of(tables)
        self.tables: Mapping[str, Table] = MappingProxyType({n: settled(t) for n, t in study.tables.items()})
        self.policy = study.policy if policy is None else policy
        self.language = checked_language(language)
        self._budget = study.budget if budget is None else budget
        self._analysts = dict(study.analysts if analysts is None else analysts)
        self._engines = EnginePool(self.tables, engine, on_error)
        self._planners = Planners(self.tables)
        self._prepared, self._copied, self._attached, self._stored = [], {}, {}, set()
        self._study = Path(tables) if isinstance(tables, str | Path) else None
        self._made_up = None
        after_fork(self)
        address = study.ledger if ledger is None else ledger
        self._own_ledger = isinstance(address, str | Path)
        self.ledger: Ledger = open_ledger(address, keep=study.keep) if isinstance(address, str | Path) else address
        try:
            self.scopes = Scopes(self.ledger, self.tables, self._budget, self._analysts)
            self._engines.recognise = self.scopes.recognise
            self._buyer = Buyer(self.ledger, self.scopes, self.policy, self._engines, on_error)
        except BaseException:
            self.close()
            raise

    # -- asking

    def table(self, name: str) -> CuratorTable:
        """A table to ask: ``curator.table("adult").where(…).aggregate(…).ask(epsilon=…)``."""
        if not isinstance(name, str):
            raise InvalidParameter("A table has a name.", fix='Write curator.table("name").')
        return CuratorTable.held(name, self)

    def plan(
        self,
        question: Asked,
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
        contribution: Contribution | tuple[int, int] | int | None = None,
        **unknown: Never,
    ) -> Plan:
        """Plan a question: what answering it would do and cost; free, and made without reading data.

        Args:
            question: SQL, or a question built from ``curator.table(name)``.
            epsilon: the budget of the whole question; with ``delta``, an approximate one.
            delta: see ``epsilon`` and ``rho``.
            rho: a zero-concentrated budget instead; a ``delta`` with it pays for groups that are selected privately.
            accuracy: a wanted error, made by ``within()``, instead of a budget: finds the least epsilon.
            noise: "laplace" or "gaussian"; by default the better one.
            weights: how much each output's error counts against the others'.
            confidence: of intervals and expected errors.
            rows: a number of rows that the asker knows or has paid for; serves only to say what error to expect.
            prepared: a table prepared for the same groups and keys is used unless False; one for finer groups, where
                noise grows, or for more keys, only if True.  A copy that lacks rows of the question is never used.
            contribution: how many groups, and rows in each, of one unit count, or how many rows in all.
        """
        refuse_unknown(unknown, Curator.ask)
        planner = self._planner(question, prepared, contribution, noise, weights, confidence, rows)
        return self._plan(planner, (epsilon, delta, rho), accuracy)

    def _plan(
        self, planner: Planner, price: tuple[Number | None, Number | None, Number | None], accuracy: Within | None
    ) -> Plan:
        epsilon, delta, rho = price
        if accuracy is None:
            try:
                made = planner.plan(budget_of(epsilon, delta, rho))
            except QuestionRefused as refusal:
                raise self.payable(refusal) from None
            return self._buyer.planned(made)
        if epsilon is not None or rho is not None:
            raise InvalidParameter("An accuracy finds its own budget.", fix="Give accuracy, or epsilon, or rho.")
        return self._buyer.planned(planner.reaching(accuracy, delta))

    def _planner(
        self,
        question: Asked,
        prepared: bool | None = None,
        contribution: Contribution | tuple[int, int] | int | None = None,
        noise: str | None = None,
        weights: Mapping[str, Number] | None = None,
        confidence: float = 0.95,
        rows: int | None = None,
    ) -> Planner:
        how = {"noise": noise, "weights": weights, "confidence": confidence, "rows": rows}
        return self._planners.of(question, prepared, contribution, how, self._public_rows, self._usable_copies)

    def explain(
        self,
        question: Asked,
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
        contribution: Contribution | tuple[int, int] | int | None = None,
        sql: bool = False,
        analyst: str | None = None,
        language: str | None = None,
        **unknown: Never,
    ) -> Explanation:
        """The plan in words: free, and the same whatever the data is; the options are those of :meth:`plan`.

        ``sql`` adds the statements that the engine would run.  What the ``analyst``, or without one the curator,
        bought before is named.
        """
        refuse_unknown(unknown, Curator.ask)
        planner = self._planner(question, prepared, contribution, noise, weights, confidence, rows)
        plan = self._plan(planner, (epsilon, delta, rho), accuracy)
        who = None if analyst is None else self.scopes.receiver(analyst, plan.tables)
        before = self._buyer.bought_before(plan, who)
        shared = shared_notes(self._buyer.measured_before(plan, who)) if before is None else bought_notes(before)
        made = Explanation(plan, shared=shared, language=language or self.language)
        if not sql:
            return made
        engine = self._engines.of(plan.reads)
        return replace(made, engine=engine.name, statements=engine.sql(plan.exact))

    def ask(
        self,
        question: Asked,
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
        contribution: Contribution | tuple[int, int] | int | None = None,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        progress: Progress | bool = False,
        anyway: bool = False,
        language: str | None = None,
        **unknown: Never,
    ) -> Release:
        """Pay, and get the noised answer; what was measured before is presented again for free.

        The budget and how it is spent are as for :meth:`plan`; ``because`` to ``anyway`` are those of
        :class:`~curador.curator.purchase.Request`; ``language`` is "en" or "es".
        """
        refuse_unknown(unknown, Curator.ask)
        planner = self._planner(question, prepared, contribution, noise, weights, confidence, rows)
        plan = self._plan(planner, (epsilon, delta, rho), accuracy)
        return self.release(plan, Request(because, override, analyst, key, fresh, progress, anyway), language=language)

    sql = ask
    """The same as :meth:`ask`, under a name that suits SQL text."""

    def release(self, plan: Plan, request: Request | None = None, *, language: str | None = None) -> Release:
        """Buy a plan and present its measurement: charge it, read the data, add the noise, keep what was measured.

        Guarantee: refused before any data is read if the budget does not cover it.  After that the charge is kept, and
            the outcome is an answer or one error of constant words.
        """
        if not isinstance(plan, Plan):
            raise InvalidParameter("This is not a plan.", fix="Use publish() for a batch, buy() for anything else.")
        shown = checked_language(language or self.language)
        return self.sealed(present(plan, self.buy(plan, request), rehearsal=self._made_up is not None, language=shown))

    def buy(self, purchase: Purchase, request: Request | None = None) -> Bought:
        """Buy anything that can be bought: the one way anything leaves.

        Guarantee: charged before data is read; the measurement is kept, and found again by its code.
        Fails: refused where the purchase was made from other declarations: its sensitivities would not be those of
            these tables.
        """
        if getattr(purchase, "declared", None) is not self.tables:
            raise InvalidParameter("This was not planned by this curator.", fix="Plan it with this curator.")
        return self._buyer.buy(purchase, request or Request(), partial(self._refuse_outdated, purchase))

    # -- several at once

    def batch(
        self,
        questions: Mapping[str, Asked],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        weights: Mapping[str, Number] | None = None,
        accuracies: Mapping[str, Within] | None = None,
        confidence: float = 0.95,
        rows: int | None = None,
        tight: Number | None = None,
        words: Mapping[str, Any] | None = None,
        adjust: bool = True,
    ) -> Batch:
        """Plan several questions together, all or nothing; free.

        The budget is that of the whole batch.  Questions with a wanted accuracy get the least that reaches it; the rest
        is shared by ``weights``, equally by default.  ``rows`` is as for :meth:`plan`.  ``tight`` is a delta at which
        the batch is charged what it costs as a whole, by its privacy-loss distribution: for budgets that count
        (epsilon, delta).  ``words`` go with the publication; by default the SQL of each question.  With ``adjust``,
        tables about the same rows are made to agree, where they do so before noise.
        """
        require_named(questions)
        planners = planners_of(questions, partial(self._planner, confidence=confidence, rows=rows))
        whole = None if epsilon is None and rho is None else budget_of(epsilon, delta, rho)
        try:
            plans = split(planners, whole, weights, accuracies)
        except QuestionRefused as refusal:
            raise self.payable(refusal) from None
        return self._buyer.planned(Batch(plans, tight, tight is not None, words or stated(questions), adjust))

    def publish(
        self,
        batch: Batch,
        *,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        progress: Progress | bool = False,
        anyway: bool = False,
        language: str | None = None,
    ) -> Publication:
        """Buy a batch for one charge and present its releases; as :meth:`release` otherwise."""
        if not isinstance(batch, Batch):
            raise InvalidParameter("This is not a batch.", fix="Make one with batch(), or ask() a single question.")
        shown, tight = checked_language(language or self.language), batch.tight  # refused before anything is charged
        bought = self.buy(batch, Request(because, override, analyst, key, fresh, progress, anyway))
        found = batch.presented(bought, rehearsal=self._made_up is not None, language=shown)
        releases = {name: self.sealed(release) for name, release in found.items()}
        remarks = bought_remarks(bought, batch.guarantee)
        charge, repeated = bought.charge.id, bought.repeated
        made = Publication(releases, batch.guarantee, tight, charge, remarks, shown, batch.words, repeated)
        return self.sealed(made)

    def running_count(
        self,
        query: TableQuery,
        by: str,
        first: date,
        days: int,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        confidence: float = 0.95,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        anyway: bool = False,
    ) -> Stream:
        """A running count of a table's rows, released day by day; its whole cost, epsilon or rho, is charged now."""
        from curador.curator.purchases.running import DailyCount, open_stream

        if query.tables is not self.tables:
            raise InvalidParameter("This is a table of another curator.", fix="Start from curator.table(name).")
        counted = DailyCount(query, by, first, days, budget_of(epsilon=epsilon, rho=rho))
        return open_stream(self, counted, Request(because, override, analyst, anyway=anyway), confidence)

    def rehearse(self, rows: int | None = None, seed: int = 0) -> Curator:
        """A curator like this one over made-up tables, to try questions on for free; its releases say so.

        The tables are made from the declarations alone, with ``rows`` rows each (their public size by default), the
        same for the same ``seed``.  The budget is the declared one, unspent.  Nothing is shared with this curator: no
        table, ledger, prepared copy or connection.

        >>> from curador.privacy import PureDP
        >>> people = Table("no-such.parquet", columns={"age": {"type": "integer", "bounds": [17, 90]}})
        >>> stage = Curator({"people": people}, budget=PureDP(1)).rehearse(rows=200)
        >>> stage.sql("SELECT COUNT(*) AS n FROM people", epsilon=1).rehearsal
        True
        >>> stage.close()
        """
        from curador.curator.study.rehearsal import made_up, write

        made = made_up(self.tables, rows, seed)
        folder = Path(mkdtemp(prefix="curador-rehearsal-"))
        tables = write(self.tables, made, folder)
        other = Curator(tables, self._budget, policy=self.policy, analysts=self._analysts, language=self.language)
        other._made_up = finalize(other, rmtree, folder, ignore_errors=True)
        return other

    def how_many(
        self,
        question: Asked | Batch | TrainingRun,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        accuracy: Within | None = None,
        rows: int | None = None,
        contribution: Contribution | tuple[int, int] | int | None = None,
        analyst: str | None = None,
    ) -> int:
        """How many such questions, batches or models still fit into the budget, also the analyst's; free."""
        if isinstance(question, Batch | TrainingRun):
            made: Plan | Batch | TrainingRun = question
        else:
            planner = self._planner(question, contribution=contribution, rows=rows)
            made = self._plan(planner, (epsilon, delta, rho), accuracy)
        own = () if analyst is None else (self.scopes.receiver(analyst, made.tables),)
        return how_many(self.ledger, (*self.scopes.of(made.tables), *own), made.event, made.guarantee)

    def reload(self, table: str) -> int:
        """Record that a table's rows changed: questions are now about the new version, under the same budget."""
        self._prepared = [p for p in self._prepared if p.table != table]
        return self.scopes.reload(table)

    def close(self) -> None:
        """Close the engines and the ledger that were opened here, and remove made-up tables."""
        self._engines.close()
        if self._own_ledger:
            self.ledger.close()
        if self._made_up is not None:
            self._made_up()

    def close_unheld(self) -> None:
        """Close the engines once nobody holds this curator any more."""
        finalize(self, self._engines.close).atexit = False

    # -- what it holds

    @property
    def outdated(self) -> bool:
        """Whether a file that was missing when its tables were opened is there now: opened again, they are read."""
        return self._engines.outdated

    def describe(self) -> Description:
        """Its tables with their columns, units and bounds, and its budgets: public, and free."""
        tables = {name: described(table, self.language) for name, table in self.tables.items()}
        return Description(tables, tuple(map(str, self.budgets())), self.language)

    def _repr_html_(self) -> str:
        return self.describe()._repr_html_()

    def sealed(self, made: Sealed) -> Sealed:
        """A release with this ledger's seal; one in memory makes none, and needs no content for it."""
        return replace(made, seal=self.ledger.seal(made.content)) if self.ledger.seal("") else made

    def _public_rows(self, table: str, columns: Sequence[str]) -> Sequence[tuple[Key, ...]]:
        """The distinct rows of some columns of a public table: keys of an answer, read before it is paid for."""
        from curador.query.sql_plan.lower import listing

        self.scopes.require_public({table})
        found = self._engines.of({table}).listed(listing(table, self.tables[table], columns))
        if not found:
            raise QuestionRefused(f"The public table {table!r} lists no keys.", fix="List the keys with the question.")
        return found
