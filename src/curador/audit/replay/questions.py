"""Questions, batches, running counts and models of a curator, replayed on made-up neighbours of its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from curador.audit.finding import Finding
from curador.audit.replay.neighbours import MadeUpWorld, base_world, victims, with_victim
from curador.audit.replay.run import replay
from curador.audit.replay.stage import scope_of, staged
from curador.curator.curator import Curator
from curador.curator.purchases.training import budget_of
from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release
from curador.errors import InvalidParameter
from curador.privacy import ZCDP, ApproxDP

ROWS = 60
"""How many rows the made-up tables have."""

MUCH = 10_000
"""The epsilon or rho of a stage's budget: made-up people have nothing to lose."""

TERMS: Mapping[str, Any] = {"because": "an audit", "override": True, "anyway": True}
"""What allows any price on made-up rows."""

Act = Callable[[Curator], object]


def shown(made: object) -> object:
    """A release as an observer sees it, without its seal, which is of each ledger."""
    if isinstance(made, Release | Publication):
        return _unsealed(made.to_dict())
    if isinstance(made, list | tuple):
        return [shown(one) for one in made]
    return made


def _unsealed(x: Any) -> Any:
    if isinstance(x, Mapping):
        return {k: _unsealed(v) for k, v in x.items() if k != "seal"}
    return [_unsealed(y) for y in x] if isinstance(x, list | tuple) else x


def replay_act(
    subject: str,
    curator: Curator,
    act: Act,
    *,
    table: str | None = None,
    made_up: int = ROWS,
    seed: int = 0,
    thorough: bool = False,
    budget: Any = None,
    claim: Any = None,
) -> Finding:
    """Whatever is done with a curator, replayed: it is done with curators over made-up tables of its declarations.

    ``table`` is the one that neighbours differ in, by default the only private one; ``made_up`` the number of rows.
    Where tables have budgets of their own, the others hold the victim in both worlds.
    The curator itself is asked nothing.

    Guarantee: as :func:`replay`; what neighbours may lose is what was charged to the budget of that table, before it
        was lost.
    """
    private = [name for name, one in curator.tables.items() if not one.public]
    name = table if table is not None else private[0] if len(private) == 1 else None
    if name is None or name not in private:
        raise InvalidParameter("Which table neighbours differ in is not said.", fix=f"Give table=, one of {private}.")
    if budget is None:
        much = ZCDP(MUCH, 0.1) if isinstance(claim, ZCDP) else ApproxDP(MUCH, 0.1)
        budget = dict.fromkeys(private, much) if isinstance(curator._budget, Mapping) else much
    others = [other for other in private if other != name]
    # One budget for everybody protects a person in all tables together.  One for each table protects their rows in it,
    # wherever else they are: there they stay.
    apart = isinstance(budget, Mapping)
    plain = base_world(curator, made_up, seed)
    world: MadeUpWorld = with_victim(curator, name, plain, others) if apart else plain

    def run(made: Any) -> object:
        with staged(curator, made, budget) as stage:
            answer = shown(act(stage))
            return answer, [(c.id, c.scopes, c.settled, str(c.costs)) for c in stage.history(last=None)]

    found = victims(curator, name, world, thorough, () if apart else others)
    return replay(subject, run, world, found, scope=scope_of(curator, world, name, budget), claim=claim)


def _settings(other: dict[str, Any]) -> dict[str, Any]:
    """What of the keywords are settings of a replay, taken out of them."""
    return {k: other.pop(k) for k in ("made_up", "seed", "thorough", "budget") if k in other}


def replay_question(curator: Curator, question: str, *, table: str | None = None, **other: Any) -> Finding:
    """One question, replayed; ``other`` is its budget as in :meth:`Curator.ask`, or a setting of :func:`replay_act`.

    >>> from curador.privacy import PureDP
    >>> from curador import Table
    >>> people = Table("no-such.csv", columns={"age": {"type": "integer", "bounds": [0, 120]}})
    >>> curator = Curator({"people": people}, budget=PureDP(1))
    >>> found = replay_question(curator, "SELECT AVG(age) AS age FROM people", epsilon=1)
    >>> found.violated, found.samples > 5
    (False, True)
    """
    own = _settings(other)

    def act(stage: Curator) -> object:
        return stage.ask(question, **TERMS, **other)

    return replay_act(question[:70], curator, act, table=table, claim=curator.plan(question, **other).guarantee, **own)


def replay_batch(curator: Curator, questions: Mapping[str, str], *, table: str | None = None, **other: Any) -> Finding:
    """Several questions bought together, replayed; as :func:`replay_question` otherwise."""
    own = _settings(other)

    def act(stage: Curator) -> object:
        return stage.publish(stage.batch(questions, **other), **TERMS)

    claim = curator.batch(questions, **other).guarantee
    return replay_act(f"a batch of {len(questions)}", curator, act, table=table, claim=claim, **own)


def replay_running(curator: Curator, table: str, by: str, first: date, days: int, **other: Any) -> Finding:
    """A running count, replayed to its end; as :func:`replay_question` otherwise."""
    own = _settings(other)

    def act(stage: Curator) -> object:
        stream = stage.running_count(stage.table(table), by, first, days, **TERMS, **other)
        return [stream.next() for _ in range(days)]

    claim = budget_of(epsilon=other.get("epsilon"), rho=other.get("rho"))
    return replay_act(f"a running count of {table}", curator, act, table=table, claim=claim, **own)


def replay_training(curator: Curator, make: Callable[[], Any], table: str, **other: Any) -> Finding:
    """A model fitted to a table, replayed; ``make`` makes an unfitted one, ``other`` as :meth:`Curator.fit`."""
    own = _settings(other)
    name = type(make()).__name__

    def act(stage: Curator) -> object:
        return stage.fit(make(), table, **TERMS, **other)

    claim = curator.training(make(), table, **other).guarantee
    return replay_act(f"{name} of {table}", curator, act, table=table, claim=claim, **own)
