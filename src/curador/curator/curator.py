"""The front door: holds tables, budgets and the ledger, and is the only maker of releases.

A release is a plan, paid for, then noised.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from weakref import finalize

from curador.accounting.events import ApproxLoss
from curador.curator.batch import Batch, Publication, split
from curador.curator.budgets import Budget, Scopes
from curador.curator.policy import Policy, as_epsilon_delta, required_notes
from curador.curator.purchase import Till, how_many
from curador.curator.release import Explained, Release
from curador.curator.request import Request
from curador.curator.study.file import Analyst, Study, read_study
from curador.engines.engine import Engine, ExactCounts, Progress, failed
from curador.engines.pool import EnginePool
from curador.errors import CuradorError, InvalidParameter, QuestionRefused
from curador.ledger.contract import Balance, Charge, Charges, Ledger
from curador.ledger.opening import open_ledger
from curador.numbers import Number, rational
from curador.query.answer.noise import noise
from curador.query.answer.shown import answered
from curador.query.ask.builder import Desk, TableQuery
from curador.query.ask.question import Question
from curador.query.plan.budget import budget_of
from curador.query.plan.checked import check
from curador.query.plan.expected import Within
from curador.query.plan.explain import Explanation, notes
from curador.query.plan.plan import Plan, Planner
from curador.query.tables.columns import Key
from curador.query.tables.table import Table

if TYPE_CHECKING:
    from curador.curator.running import Stream
    from curador.ledger.contract import Decision
    from curador.query.sql_plan.prepared import Prepared

Asked = Question | TableQuery | str
"""A question, built or as SQL."""


class Curator:
    """Tables under a budget, and an engine that reads them.

    ``tables`` are declared in Python, or in a study file given by its path, which states the budget, the ledger's
    place, the policy and the analysts too.  One ``budget`` is for everybody in any of the tables; a budget for each
    table, by name, promises for each apart.  The engine follows from where the tables live.  ``ledger`` is an address
    or an open ledger: for a study file a file beside it, otherwise in memory unless given.  ``on_error`` is shown what
    really went wrong behind the constant error of a plan that failed: for a private log, since it may quote rows.

    Guarantee: everything released is within the budget, whatever is asked and in whatever order, for one unit.
    Assumes: bounds, keys and sizes were declared without looking at the data.

    >>> import pyarrow
    >>> from curador.privacy import PureDP
    >>> from curador.query.aggregates.words import count
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
        ledger: Ledger | str | Path | None = None,
        policy: Policy | None = None,
        analysts: Mapping[str, Analyst] | None = None,
        on_error: Callable[[Exception], None] | None = None,
    ) -> None:
        stated = read_study(tables) if isinstance(tables, str | Path) else Study.of(tables)
        self.tables: Mapping[str, Table] = MappingProxyType(dict(stated.tables))
        self.policy = stated.policy if policy is None else policy
        self._budget = stated.budget if budget is None else budget
        self._analysts = dict(stated.analysts if analysts is None else analysts)
        self._homes = EnginePool(self.tables, engine, on_error)
        self._prepared: list[Prepared] = []
        self._made_up: finalize[..., Any] | None = None  # of a rehearsal: what removes its tables
        address = stated.ledger if ledger is None else ledger
        self._own_ledger = isinstance(address, str | Path)
        self.ledger: Ledger = open_ledger(address, keep=stated.keep) if isinstance(address, str | Path) else address
        try:
            self.scopes = Scopes(self.ledger, self.tables, self._budget)
            for name, who in self._analysts.items():
                self.scopes.analyst(name, who.budget, who.group, who.expires)
            self._till = Till(self.ledger, self.scopes, on_error)
        except BaseException:
            self.close()
            raise

    # -- asking

    def table(self, name: str) -> TableQuery:
        """A table to ask: ``curator.table("adult").where(…).aggregate(…).ask(epsilon=…)``."""
        return TableQuery.of(name, self.tables, cast(Desk, self))  # its keywords are named, a Desk's are any

    def sql(self, text: str, **how: Any) -> Release:
        """Answer a question written in SQL; ``how`` is as for :meth:`ask`."""
        return self.ask(text, **how)

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
    ) -> Plan:
        """What answering would do and cost; free, and made without reading data.

        Pay with ``epsilon``, with ``epsilon`` and ``delta``, with ``rho`` (and ``delta``), or let a wanted ``accuracy``
        find the least epsilon.  The budget is that of the whole question.  A table prepared for the same groups is
        used unless ``prepared`` is False; one for finer groups, where noise grows, only if it is True.  See
        :func:`curador.query.plan.plan.plan` for the rest.
        """
        planner = self._planner(question, prepared, noise=noise, weights=weights, confidence=confidence, rows=rows)
        if accuracy is None:
            return planner.plan(budget_of(epsilon, delta, rho))
        if epsilon is not None or rho is not None:
            raise InvalidParameter("An accuracy finds its own budget.", fix="Give accuracy, or epsilon, or rho.")
        return planner.reaching(accuracy, delta)

    def _planner(self, question: Asked, prepared: bool | None = None, **settings: Any) -> Planner:
        checked = check(self._read(question), self.tables, self._public_rows)
        copy = None
        if self._prepared or prepared:
            from curador.query.sql_plan.prepared import fitting  # writes SQL trees: loaded when a table was prepared

            copy = fitting(self._prepared, checked, prepared)
        return Planner(checked, prepared=copy, **settings)

    def explain(self, question: Asked, **budget: Any) -> Explanation:
        """The plan in words, with the statements that would be run; free, and the same whatever the data is."""
        plan = self.plan(question, **budget)
        engine = self._engine_of(plan)
        return Explanation(plan, engine.name, engine.sql(plan.exact))

    def ask(self, question: Asked, **how: Any) -> Release:
        """Pay, and get the noised answer; what was answered before is answered again for free.

        ``how`` is the budget, as for :meth:`plan`, and the :class:`curador.curator.request.Terms`.
        """
        terms, budget = Request.among(how)
        return self.release(self.plan(question, **budget), terms)

    def release(self, plan: Plan, terms: Request | None = None, **how: Any) -> Release:
        """Run a plan: charge it, read the data, add the noise, keep the answer.

        Guarantee: refused before any data is read if the budget does not cover it.  After that the charge is kept, and
        whatever happens is an answer or one error of constant words.
        """
        terms = Request(**how) if terms is None else terms
        self._own(plan)
        said = self.policy.review(plan, because=terms.because, override=terms.override)
        engine, exact = self._engine_of(plan), plan.exact

        def made(charge: Charge, tell: Progress | None) -> str:
            return _release(plan, engine.run(exact, tell), charge.id, said, self._made_up is not None).to_json()

        found, again = self._till.buy({"": plan}, plan.event, plan.promise, made, terms, "ask")
        return Release.from_dict(found, Explained(plan.explain(), plan.to_dict()), repeated=again)

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
        tight: Number | None = None,
    ) -> Batch:
        """Plan several questions together, all or nothing; free.

        The budget is that of the whole batch.  Questions with a wanted accuracy get the least that reaches it; the rest
        is shared by ``weights``, equally by default.  ``tight`` is a delta at which the batch is charged what it costs
        as a whole, by its privacy-loss distribution: for budgets that count (epsilon, delta).
        """
        if not isinstance(questions, Mapping):
            raise InvalidParameter("The questions of a batch have names.", fix='Write batch({"n": question}, …).')
        planners = {name: self._planner(asked, confidence=confidence) for name, asked in questions.items()}
        whole = None if epsilon is None and rho is None else budget_of(epsilon, delta, rho)
        return Batch(split(planners, whole, weights, accuracies), tight, charged_tight=tight is not None)

    def publish(self, batch: Batch, **how: Any) -> Publication:
        """Run a batch for one charge; as :meth:`release` otherwise."""
        terms = Request(**how)
        for plan in batch.plans.values():
            self._own(plan)
            self.policy.review(plan, because=terms.because, override=terms.override)
        self.policy.small_delta(as_epsilon_delta(batch.promise)[1], {name: self.tables[name] for name in batch.tables})
        said = required_notes(batch.promise, terms.because, terms.override)
        engines = {name: (self._engine_of(plan), plan.exact) for name, plan in batch.plans.items()}
        event, tight = batch.event, batch.tight
        if batch.charged_tight:
            event = ApproxLoss(rational(tight.epsilon), rational(tight.delta), batch.neighbors)

        def made(charge: Charge, tell: Progress | None) -> str:
            found = {name: engine.run(exact, tell) for name, (engine, exact) in engines.items()}
            releases = {
                name: _release(plan, found[name], charge.id, said, self._made_up is not None)
                for name, plan in batch.plans.items()
            }
            return Publication(releases, batch.promise, tight, charge.id, said).to_json()

        content, again = self._till.buy(batch.plans, event, batch.promise, made, terms, "publish")
        return Publication.from_dict(content, repeated=again)

    def continual(
        self, query: TableQuery, by: str, first: date, days: int, *, confidence: float = 0.95, **how: Any
    ) -> Stream:
        """A running count of a table's rows, released day by day; its whole cost, epsilon or rho, is reserved now."""
        from curador.curator.running import Days, Stream

        terms, amount = Request.among(how)
        if query.tables is not self.tables:
            raise InvalidParameter("This is a table of another curator.", fix="Start from curator.table(name).")
        promise, counted = budget_of(**amount), Days(query, by, first, days)
        mechanism, said = counted.bought(promise, confidence, self.policy, terms)
        today = self.plan(counted.question(1), epsilon=1)
        engine, name = self._engine_of(today), today.measures[0].name
        note = {"asked": {"first day": today.question.to_json()}, "days": days, **terms.note}
        charge = self._till.reserve([query.table], mechanism.event, promise, terms, note=note)

        def count(question: Question) -> int:
            exact = self.plan(question, epsilon=1).exact
            found = self._till.attempt(lambda _, tell: str(engine.run(exact, tell).column(name)[0]), charge, None)
            if found is None:
                raise failed()
            return int(found)

        # Settled before anything leaves, so that no older copy of the ledger can be without the charge unnoticed.
        self.ledger.settle(charge.id, json.dumps({"running": today.question.to_json(), "days": days}).encode())
        return Stream(counted, mechanism, promise, charge.id, confidence, said, self._made_up is not None, count)

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
        from curador.curator.rehearsal import made_up, write

        made = made_up(self.tables, rows, seed)
        folder = Path(mkdtemp(prefix="curador-rehearsal-"))
        other = Curator(write(self.tables, made, folder), self._budget, policy=self.policy, analysts=self._analysts)
        other._made_up = finalize(other, rmtree, folder, ignore_errors=True)
        return other

    def prepare(self, table: str, group_by: Sequence[str] = (), **options: Any) -> Prepared:
        """Choose the rows of every unit once, so that later questions in these groups cost about a plain GROUP BY.

        Nothing is released and nothing charged.  ``options`` are the engine's, such as a path to store at.
        """
        from curador.query.sql_plan.prepared import preparation

        wanted = preparation(table, self.tables[table], [g.expr for g in self.table(table).group_by(*group_by).groups])
        made = None
        try:
            made = self._homes.of({table}).prepare(wanted, **options)
        except CuradorError:
            raise
        except Exception as error:  # noqa: BLE001  it may quote rows
            self._till.tell(error)
        if made is None:
            raise failed()
        self._prepared.append(made)
        return made

    def attach(self, prepared: Prepared) -> None:
        """Use a copy that :meth:`prepare` stored before, of the rows as they are now."""
        self._homes.of({prepared.table}).attach(prepared)
        self._prepared.append(prepared)

    # -- budgets

    def budget(self, scope: str | None = None) -> Balance:
        """What a table, an analyst, or everybody together has spent and has left."""
        if scope is not None:
            return self.ledger.balance(self.scopes.named(scope))
        first, *others = self.scopes.roots()
        if others or not self.scopes.shared:
            raise InvalidParameter("Tables have budgets of their own here.", fix="Name the table.")
        return self.ledger.balance(first)

    def history(self, scope: str | None = None) -> Charges:
        """The charges so far, oldest first; of a table that was renewed, also those from before."""
        if scope is None:
            return self.ledger.history()
        return Charges(charge for name in self.scopes.ever(scope) for charge in self.ledger.history(name))

    def decisions(self, scope: str | None = None) -> tuple[Decision, ...]:
        """What was decided about budgets, and why: opened, raised, closed, renewed, restored; oldest first."""
        found = self.scopes.decisions()
        if scope is None:
            return found
        about = {"", *self.scopes.ever(scope)}  # a restore is about all
        return tuple(d for d in found if d.scope in about)

    def how_many(self, question: Asked, **budget: Any) -> int:
        """How many such questions still fit into the budget; free."""
        plan = self.plan(question, **budget)
        return how_many(self.ledger, self.scopes.of(plan.tables), plan.event, plan.promise)

    def grant(self, scope: str, *, because: str = "", **how: Any) -> Balance:
        """Raise a budget by so much (epsilon and delta, or rho), or give an analyst one (``group``, ``expires``).

        A budget that ends promises for its time alone: who is in the data in several such times loses the sum.
        """
        first = {name: how.pop(name, None) for name in ("group", "expires")}
        return self.scopes.grant(scope, budget_of(**how), because, **first)

    def revoke(self, scope: str, *, because: str = "") -> Balance:
        """Close an analyst's or group's budget for ever; what was spent stays spent."""
        return self.ledger.revoke(self.scopes.named(scope), because=because)

    def renew(self, *tables: str, because: str, **budget: Any) -> Balance:
        """Decide that these tables are about new people, and start one new budget for them; the reason is kept.

        The budget, epsilon (and delta) or rho, is a root of its own: nothing that was spent before counts there.  The
        old one stays as it is, for whatever other tables charge it.

        Guarantee: the new budget, for whoever is in the new rows alone.
        Assumes: nobody of the old rows is in the new ones, nor in other tables; otherwise they lose the sum of both.

        >>> from curador.privacy import PureDP
        >>> curator = Curator({"people": Table("people.csv", columns={"age": "integer"})}, budget=PureDP(1))
        >>> print(curator.renew("people", epsilon=2, because="the survey of 2027"))
        people, renewed 1: epsilon 0 spent of 2, 2 remaining
        >>> curator.decisions("people")[-1].because
        'the survey of 2027'
        """
        found = self.scopes.renew(tables, budget_of(**budget), because)
        self._prepared = [p for p in self._prepared if p.table not in self.scopes.charging(found.scope)]
        return found

    def reloaded(self, table: str) -> int:
        """Say that a table's rows changed: from now on questions are about the new version, under the same budget."""
        self._prepared = [p for p in self._prepared if p.table != table]
        return self.scopes.reloaded(table)

    def close(self) -> None:
        """Let go of the engines and the ledger that were opened here, and of made-up tables."""
        self._homes.close()
        if self._own_ledger:
            self.ledger.close()
        if self._made_up is not None:
            self._made_up()

    # -- what it holds

    def _read(self, question: Asked) -> Question:
        if isinstance(question, Question):
            return question
        if isinstance(question, TableQuery):
            return question.question
        from curador.query.ask.sql.read import parse  # the parser is heavy: loaded when a text is first read

        return parse(question, self.tables)

    def _public_rows(self, table: str, columns: Sequence[str]) -> Sequence[tuple[Key, ...]]:
        """The distinct rows of some columns of a public table: keys of an answer, read before it is paid for."""
        from curador.query.sql_plan.lower import listing

        found = self._homes.of({table}).listed(listing(table, self.tables[table], columns))
        if not found:
            raise QuestionRefused(f"The public table {table!r} lists no keys.", fix="List the keys with the question.")
        return found

    def _own(self, plan: Plan) -> None:
        """Refuse a plan made from other declarations: its sensitivities would not be those of these tables."""
        if plan.checked.tables is not self.tables:
            raise InvalidParameter("This plan is another curator's.", fix="Plan it with this curator.")

    def _engine_of(self, plan: Plan) -> Engine:
        return self._homes.of({plan.question.table, *(join.table for join in plan.question.joins)})


def _release(plan: Plan, found: ExactCounts, charge: str, said: tuple[str, ...], rehearsal: bool) -> Release:
    shown = answered(plan, noise(plan, found))
    return Release(
        shown.columns,
        shown.groups,
        shown.intervals,
        shown.ranks,
        plan.confidence,
        plan.promise,
        charge,
        plan.neighbors,
        plan.checked.table.unit.id,
        plan.question.to_json(),
        (*notes(plan), *said),
        rehearsal=rehearsal,
    )
