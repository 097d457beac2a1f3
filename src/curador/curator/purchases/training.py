"""A model learned from a table's rows: a purchase like any other, charged before a row is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from curador.accounting.events import Event
from curador.curator.purchase import Bought, Buyer, Purchase, Request
from curador.curator.purchases.plain import noted, plain_recipe
from curador.engines.engine import Progress, Take
from curador.engines.pool import EnginePool
from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import Number
from curador.privacy import Guarantee, Neighbors
from curador.query.aggregates.counts import count
from curador.query.ask.builder import Condition, TableQuery
from curador.query.ask.question import Question
from curador.query.ask.typed import expressions_within, undeclared
from curador.query.language.rows import needed
from curador.query.plan.budget import budget_of as budget_of  # for models, which name their budget as questions do
from curador.query.plan.identity import coded, declared, digest
from curador.query.records.columns import RecordColumn as RecordColumn
from curador.query.records.columns import Records as Records
from curador.query.records.columns import records
from curador.query.tables.columns import Key
from curador.query.tables.sources import EngineTable
from curador.query.tables.table import Table, contribution_of
from curador.show.models import fit_sentences, fit_text

if TYPE_CHECKING:
    from curador.curator.analysts import Scopes
    from curador.curator.purchase import Buyer
    from curador.curator.table import CuratorTable

ReadRows = Callable[[Take], None]
"""Gives all rows to what takes them, some at a time; may be called again."""


class Learner(Protocol):
    """What is done with the rows: settled from declarations alone, so that its cost is known before.

    * ``event``: what is run on the rows; ``guarantee``: what it keeps; ``kinds``: its mechanisms, for policies;
    * ``code``: its settings in codes and numbers: with the records, the identity of what is learned.
    """

    @property
    def event(self) -> Event: ...

    @property
    def guarantee(self) -> Guarantee: ...

    @property
    def kinds(self) -> frozenset[str]: ...

    @property
    def code(self) -> Mapping[str, object]: ...

    def notes(self, rows: int | None) -> Sequence[Mapping[str, Any]]:
        """What will be done, as notes for an explanation; ``rows`` is how many there are, where it is declared."""
        ...

    def learn(self, read: ReadRows, progress: Progress | None = None) -> bytes:
        """Learn from the rows; the outcome keeps the guarantee, and no error depends on a row."""
        ...


@dataclass(frozen=True)
class TrainingRun:
    """A learner, and the records it learns from: a purchase.

    Guarantee: each unit is cut to ``records.limit`` rows before the learner sees any, so its guarantee is the unit's.
    """

    records: Records
    learner: Learner
    text: str = field(default="", compare=False)
    recipe: Mapping[str, object] = field(default_factory=dict, compare=False)  # kept with its charge, to be read again

    @property
    def tables(self) -> tuple[str, ...]:
        return self.records.tables

    @property
    def optional(self) -> frozenset[str]:
        """The private tables that a unit may be missing from and still count."""
        return frozenset(self.tables) - needed(self.records.rows.rows)

    @property
    def reads(self) -> frozenset[str]:
        """All tables that it reads, public ones too."""
        return frozenset(self.records.reads)

    @property
    def declared(self) -> Mapping[str, Table]:
        return self.records.rows.tables

    @property
    def neighbors(self) -> Neighbors:
        return self.records.rows.table.neighbors

    @property
    def event(self) -> Event:
        return self.learner.event

    @property
    def ran(self) -> Event:
        return self.learner.event

    @property
    def guarantee(self) -> Guarantee:
        return self.learner.guarantee

    @property
    def kinds(self) -> frozenset[str]:
        return self.learner.kinds

    @property
    def parts(self) -> tuple[Purchase, ...]:
        return ()

    @property
    def identity(self) -> str | None:
        """None where it reads a public table of a database, as for questions: nothing tells its content apart."""
        if any(isinstance(self.declared[name].source, EngineTable) for name in self.reads - set(self.tables)):
            return None
        return self.asked_code

    @property
    def asked_code(self) -> str:
        """A digest of what is learned, by which the same request is known again under its key."""
        read = {name: declared(self.declared[name]) for name in sorted(self.reads)}
        return digest({"training": self.learner.code, "records": self.records.code, "tables": read})

    @cached_property
    def undeclared(self) -> Sequence[Mapping[str, Any]]:
        """Values that its filter and its features compare with and that no declaration allows, as notes."""
        return undeclared(tuple(expressions_within(self.records.rows, [c.expr for c in self.records.columns])))

    @property
    def measured(self) -> Mapping[str, str]:
        return {}

    @property
    def contained(self) -> tuple[str, ...]:
        return ()

    @property
    def note(self) -> Mapping[str, object]:
        found: dict[str, object] = {"training": coded(self.learner.code), "text": self.text}
        return {**found, "recipe": noted(self.recipe)} if self.recipe else found

    def sentences(self, language: str = "en") -> list[str]:
        """What it would cost and do, each in a sentence: free, and the same whatever the data is."""
        table = self.records.rows.table
        cut = [] if self.records.rows.single else [{"code": "fit-cut", "rows": self.records.limit}]
        odd = [*self.undeclared, {"code": "undeclared-asked"}] if self.undeclared else []
        notes = [*odd, *self.learner.notes(table.size), *cut]
        return fit_sentences(self.guarantee, table.unit.id, table.neighbors.value, notes, language)

    def explain(self, language: str = "en") -> str:
        """What it would do and cost, in words: free, and the same whatever the data is."""
        return fit_text(self.text, self.sentences(language))

    def __str__(self) -> str:
        return self.explain()

    def prepare(self, engines: EnginePool) -> None:
        """Open the engine and write the statement, which may be refused; no row is read."""
        from curador.query.records.lower import lower_records  # writes SQL trees: loaded when something is learned

        engines.of(self.reads)
        lower_records(self.records)

    def run(self, engines: EnginePool, progress: Progress | None = None) -> bytes:
        from curador.curator.purchases.tallied import TableRows  # as above

        return self.learner.learn(TableRows(engines.of(self.reads), self.records), progress)


@dataclass(frozen=True)
class HeldTraining:
    """A learner, and rows that the caller holds as arrays: a purchase charged to ``table``, whose units they are about.

    It has no identity, since nothing tells arrays apart without looking at them: it is bought each time.
    """

    table: str
    declared: Mapping[str, Table]
    learner: Learner
    work: Callable[[Progress | None], bytes] = field(compare=False)
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.table not in self.declared or self.declared[self.table].public:
            raise InvalidParameter(f"{self.table!r} is not a private table here.", fix="Name the table to be charged.")

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.table,)

    @property
    def optional(self) -> frozenset[str]:
        return frozenset()

    @property
    def event(self) -> Event:
        return self.learner.event

    @property
    def ran(self) -> Event:
        return self.learner.event

    @property
    def guarantee(self) -> Guarantee:
        return self.learner.guarantee

    @property
    def kinds(self) -> frozenset[str]:
        return self.learner.kinds

    @property
    def parts(self) -> tuple[Purchase, ...]:
        return ()

    @property
    def identity(self) -> None:
        return None

    @property
    def undeclared(self) -> tuple[Mapping[str, Any], ...]:
        return ()

    @property
    def measured(self) -> Mapping[str, str]:
        return {}

    @property
    def contained(self) -> tuple[str, ...]:
        return ()

    @property
    def note(self) -> Mapping[str, object]:
        return {"training": coded(self.learner.code), "text": self.text}

    def prepare(self, engines: EnginePool) -> None:
        """Nothing is opened."""

    def run(self, engines: EnginePool, progress: Progress | None = None) -> bytes:
        return self.work(progress)


class Model(Protocol):
    """A model as a curator sees it: it says what it learns from which columns, and takes what was bought."""

    def keyed(self, names: Sequence[str], label: str | None) -> Mapping[str, Sequence[Key]]:
        """The columns that it reads as keys whatever their type, each with its keys, or none for the declared ones."""
        ...

    def learner(self, records: Records, label: str | None) -> Learner:
        """What will be done with these records; refused where something is not declared."""
        ...

    def take(self, run: TrainingRun, bought: Bought) -> Self:
        """Become the model that was bought."""
        ...


Score = TypeVar("Score", covariant=True)


class Scorable(Protocol[Score]):
    """A fitted classifier as a curator sees it."""

    @property
    def learned_from(self) -> Sequence[str]:
        """The names of its features."""
        ...

    def keyed(self, names: Sequence[str], label: str | None) -> Mapping[str, Sequence[Key]]: ...

    def scorer(self, records: Records, label: str, epsilon: Number) -> Learner:
        """What counts how often it is right on these records."""
        ...

    def scored(self, run: TrainingRun, bought: Bought) -> Score:
        """The score that was bought."""
        ...


AnyModel = TypeVar("AnyModel", bound=Model)


class ModelHolder:
    """The part of a curator that learns models."""

    tables: Mapping[str, Table]
    _buyer: Buyer

    if TYPE_CHECKING:

        def table(self, name: str) -> CuratorTable: ...

        def buy(self, purchase: Purchase, request: Request | None = None) -> Bought: ...

        scopes: Scopes

    def fit(
        self,
        model: AnyModel,
        table: str | TableQuery,
        *,
        features: Sequence[str] | Mapping[str, Condition],
        label: str | None = None,
        contribution: Contribution | tuple[int, int] | int | None = None,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        progress: Progress | bool = False,
        anyway: bool = False,
    ) -> AnyModel:
        """Pay, and let a model learn from a table; the same again is free, and gives the same model.

        Args:
            model: one of :mod:`curador.learn`, with its guarantee.
            table: the name of a table, or rows of it: ``curator.table("adult").where("age >= 18")``.
            features: columns or expressions over them, as in SQL; by name, if they are given one.
            label: what is to be predicted, for models that predict.
            contribution: how many rows of one unit count, where that is not declared.
            because: and what follows are those of :meth:`Curator.ask`.
        """
        run = self.training(model, table, features=features, label=label, contribution=contribution)
        return model.take(run, self.buy(run, Request(because, override, analyst, key, fresh, progress, anyway)))

    def review(self, purchase: Purchase, request: Request | None = None) -> None:
        """Refuse a purchase that the policy does not allow, or that no declaration does; free, as :meth:`buy` would."""
        self._buyer.review(purchase, request or Request())

    def bought_before(self, purchase: Purchase, analyst: str | None = None) -> str | None:
        """The charge by which the analyst, or without one the curator, bought exactly this: it is free again."""
        who = None if analyst is None else self.scopes.receiver(analyst, purchase.tables)
        return self._buyer.bought_before(purchase, who)

    def score(
        self,
        model: Scorable[Score],
        table: str | TableQuery,
        *,
        label: str,
        features: Mapping[str, Condition] | None = None,
        epsilon: Number,
        contribution: Contribution | tuple[int, int] | int | None = None,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        progress: Progress | bool = False,
        anyway: bool = False,
    ) -> Score:
        """Pay, and learn how often a fitted classifier is right on a table; two noised counts.

        ``features`` are needed where the model was fitted with names for expressions.
        """
        run = self.scoring(model, table, label=label, features=features, epsilon=epsilon, contribution=contribution)
        return model.scored(run, self.buy(run, Request(because, override, analyst, key, fresh, progress, anyway)))

    def scoring(
        self,
        model: Scorable[Any],
        table: str | TableQuery,
        *,
        label: str,
        features: Mapping[str, Condition] | None = None,
        epsilon: Number,
        contribution: Contribution | tuple[int, int] | int | None = None,
    ) -> TrainingRun:
        """What :meth:`score` would do and cost; free, and made without reading data."""
        query, limits = self._rows(table, contribution)
        columns = _columns(query, features or model.learned_from, label)
        keyed = model.keyed([name for name in columns if name != label], label)
        read = records(limits, columns, keyed, self.tables)
        return TrainingRun(read, model.scorer(read, label, epsilon), f"{type(model).__name__} scored on {query.table}")

    def _rows(
        self, table: str | TableQuery, contribution: Contribution | tuple[int, int] | int | None
    ) -> tuple[TableQuery, Question]:
        query = self.table(table) if isinstance(table, str) else table
        if query.tables is not self.tables:
            raise InvalidParameter("These rows are another curator's.", fix="Start from this curator's table().")
        if contribution is not None:
            query = replace(query, contribution=contribution_of(contribution))
        return query, query.aggregate(rows_=count()).question

    def training(
        self,
        model: Model,
        table: str | TableQuery,
        *,
        features: Sequence[str] | Mapping[str, Condition],
        label: str | None = None,
        contribution: Contribution | tuple[int, int] | int | None = None,
    ) -> TrainingRun:
        """What :meth:`fit` would do and cost; free, and made without reading data."""
        query, question = self._rows(table, contribution)
        columns = _columns(query, features, label)
        keyed = model.keyed([name for name in columns if name != label], label)
        read = records(question, columns, keyed, self.tables)
        shown = ", ".join(name for name in columns if name != label)
        text = f"{type(model).__name__} of {query.table} from {shown}" + (f" to {label}" if label else "")
        stated = plain_recipe(model, table, features, label, contribution)
        return self._buyer.planned(TrainingRun(read, model.learner(read, label), text, stated))


def _columns(query: TableQuery, features: object, label: str | None) -> dict[str, Any]:
    if isinstance(features, Mapping):
        named = dict(features)
    elif isinstance(features, Sequence) and not isinstance(features, str):
        named = {name: name for name in features}
        if len(named) < len(features):
            raise InvalidParameter("A feature is named twice.", fix="Name each of them once.", code="feature-twice")
    else:
        named = {}
    if not named or not all(isinstance(name, str) for name in named):
        raise InvalidParameter("The features are a list of columns.", fix='Write features=["age", "sex"].')
    if label is not None:
        if label in named:
            raise InvalidParameter(
                f"{label!r} is a feature and the label.",
                fix="Leave it out of the features.",
                code="label-and-feature",
                facts={"column": label},
            )
        named[label] = label
    return {name: query.read(e) for name, e in named.items()}
