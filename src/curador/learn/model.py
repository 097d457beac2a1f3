"""The two doors of every model: rows of a curator's table, or arrays; one learner behind both."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from curador.curator.curator import Curator
from curador.curator.purchase import Bought
from curador.curator.purchases.training import HeldTraining, Learner, RecordColumn, Records, TrainingRun, budget_of
from curador.errors import InvalidParameter
from curador.learn.rows.declared import Bounds, Keys, columns_of, declared_keys, design_of, encoding_for
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import Encoding
from curador.learn.rows.records import RecordReader, encoding_of
from curador.learn.spent import ModelPrivacy
from curador.numbers import Number
from curador.privacy import Guarantee, Neighbors


class PrivateModel(BaseEstimator):  # type: ignore[misc]
    """The base of all models.

    A subclass says which learner its parameters make of an encoding (``_learner``), which labels it reads
    (``_labels``), and becomes what was learned (``_become``).
    """

    epsilon: Number | None
    delta: Number | None
    rho: Number | None
    bounds: Bounds | None
    keys: Keys | None
    curator: Curator | None
    table: str | None
    in_search: bool
    _cloned = False

    # -- what a subclass does

    @abstractmethod
    def _learner(
        self,
        reader: RecordReader | None,
        encoding: Encoding,
        label: RecordColumn | None,
        copies: int,
        neighbors: Neighbors,
        rows: int | None,
    ) -> Any:
        """What will be done, from declarations alone; ``rows`` is their number, where it is declared."""

    @abstractmethod
    def _labels(self, y: Any, rows: int) -> Any:
        """The labels of arrays as a learner takes them, from what is declared; -1 is left out."""

    @abstractmethod
    def _become(self, learner: Any, measurement: bytes) -> None:
        """Set the fitted attributes from what was learned."""

    # -- the curator's door

    def keyed(self, names: Sequence[str], label: str | None) -> Mapping[str, Sequence[Any]]:
        """Which columns of a table are read as keys whatever their type."""
        return {name: values for name, values in declared_keys(self.keys).items() if name in names}

    def learner(self, records: Records, label: str | None) -> Learner:
        """What will be done with records of a table."""
        if self.bounds is not None:
            raise InvalidParameter("The table declares its bounds.", fix="Leave bounds out, or use fit(X, y).")
        table = records.rows.table
        found = next((c for c in records.columns if c.name == label), None)
        made: Learner = self._learner(
            RecordReader(records.columns, label),
            encoding_of(records, label),
            found,
            records.limit,
            table.neighbors,
            table.size,
        )
        return made

    def take(self, run: TrainingRun, bought: Bought) -> Self:
        """Become the model that was bought from a table."""
        self._forget()
        self._settle(run.learner, bought.measurement, True)
        unit = run.records.rows.table.unit.id
        self.privacy_ = ModelPrivacy(run.guarantee, run.event, run.neighbors, unit, str(bought.charge.id))
        return self

    # -- the arrays' door

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from arrays; charged to the curator's table, if there is a curator."""
        self._require_no_search()
        self._forget()
        names, named = columns_of(X)
        encoding = encoding_for(names, self.bounds, self.keys)
        where, neighbors = self._charged()
        learner = self._learner(None, encoding, None, 1, neighbors, None)
        design = design_of(X, encoding, named)
        labels = self._labels(y, len(design))
        charge: str | None = None
        if self.curator is None or where is None:
            content = trained(learner, design, labels)(None)
        else:
            work = trained(learner, design, labels)
            text = f"{type(self).__name__} from arrays, charged to {where}"
            bought = self.curator.buy(HeldTraining(where, self.curator.tables, learner, work, text))
            content, charge = bought.measurement, str(bought.charge.id)
        self._settle(learner, content, named)
        self.privacy_ = ModelPrivacy(learner.guarantee, learner.event, neighbors, None, charge, True)
        return self

    def _charged(self) -> tuple[str | None, Neighbors]:
        """The table that arrays are charged to, and who its neighbours are."""
        if self.curator is None:
            if self.table is not None:
                raise InvalidParameter("A table without a curator.", fix="Give curator= too.")
            return None, Neighbors.ADD_REMOVE
        private = [name for name, table in self.curator.tables.items() if not table.public]
        where = self.table if self.table is not None else private[0] if len(private) == 1 else None
        if where is None or where not in private:
            raise InvalidParameter("Which table is charged is not said.", fix=f"Give table=, one of {private}.")
        declared = self.curator.tables[where]
        if declared.unit.id is not None:
            raise InvalidParameter(
                f"A unit of {where!r} may have many rows, and arrays do not say whose they are.",
                fix="Use curator.fit(), which reads the ids.",
            )
        return where, declared.neighbors

    # -- common

    @property
    def _guarantee(self) -> Guarantee:
        return budget_of(self.epsilon, self.delta, self.rho)

    def _settle(self, learner: Any, content: bytes, named: bool) -> None:
        self.encoding_, self._named = learner.encoding, named
        self.n_features_in_ = len(learner.encoding.features)
        if named:
            import numpy as np

            self.feature_names_in_ = np.array([f.name for f in learner.encoding.features], dtype=object)
        self._become(learner, content)

    def _forget(self) -> None:
        for name in [n for n in vars(self) if n.endswith("_") and not n.startswith("_")]:
            delattr(self, name)

    def _public_rows(self, fix: str = "Use a copy of the model without a curator on public rows.") -> None:
        """Refuse a score with a curator, whose rows are private: it would be an answer that nobody pays for."""
        if self.curator is not None:
            raise InvalidParameter("A score on private rows is an answer, and is charged.", fix=fix)

    def _require_no_search(self) -> None:
        """Refuse to fit a clone with a curator: scikit-learn's tools would pay for each fit, then be refused a score.

        A model with ``in_search=True`` says that each fit and each score of a search is to be charged.
        """
        if self._cloned and self.curator is not None and not self.in_search:
            raise InvalidParameter(
                "scikit-learn made a copy of a model with a curator, to fit it. Each such fit would be charged, and "
                "scores, votes and predictions on private rows are refused afterwards.",
                fix="To choose settings for one charge, use PrivateSearch. To pay for every fit and every score, give "
                "the model in_search=True and use scoring=ChargedAccuracy(…). On public rows, set curator=None.",
                code="copy-with-curator",
            )

    def __sklearn_clone__(self) -> Self:
        """A copy that is not fitted.  With a curator it refuses what scikit-learn's searches do: see :meth:`fit`."""
        made: Self = super().__sklearn_clone__()
        made._cloned = self.curator is not None
        return made

    def _design(self, X: Any) -> Design:
        """Rows to answer about.

        Fails: a clone with a curator refuses, because a search fits clones and then asks them about private rows that
        it left out: a validation that spends nothing.
        """
        check_is_fitted(self)
        if self._cloned and self.curator is not None:
            raise InvalidParameter(
                "A clone with a curator, as searches make them, is not asked about rows: on private ones it costs.",
                fix="Use scoring=ChargedAccuracy(…), or set_params(curator=None) on the fitted model for public rows.",
            )
        return design_of(X, self.encoding_, self._named, type(self).__name__)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        return tags


def scores_for_free(model: PrivateModel) -> bool:
    """Whether ``score`` is there: a search without a scorer of its own would fit first, and then be refused it."""
    if model.in_search:
        model._public_rows("Use scoring=ChargedAccuracy(…).")
    return True


def trained(learner: Any, design: Design, labels: Any) -> Callable[[Any], bytes]:
    """What a purchase from arrays does once it is paid."""

    def work(progress: Any) -> bytes:
        found: bytes = learner.train(design, labels, progress=progress)
        return found

    return work
