"""What all classifiers share: classes that are declared, and a score on private rows that is charged."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from curador.curator.purchase import Bought
from curador.curator.purchases.training import HeldTraining, RecordColumn, Records, TrainingRun, budget_of
from curador.errors import InvalidParameter
from curador.learn.model import PrivateModel, scores_for_free, trained
from curador.learn.rows.declared import declared_classes, design_of, labels_of
from curador.learn.rows.encoding import MOST_CLASSES
from curador.learn.rows.records import RecordReader, encoding_of
from curador.learn.saved import to_json
from curador.learn.score import ModelScore, Predicts, ScoreLearner
from curador.numbers import Number


class PrivateClassifier(ClassifierMixin, PrivateModel):  # type: ignore[misc]
    """The base of classifiers."""

    classes: Sequence[Any] | None

    @abstractmethod
    def _predicts(self) -> Predicts:
        """What gives the number of the class of each row, each by itself."""

    @abstractmethod
    def _check_fitted(self) -> None:
        """Refuse fitted numbers that no fit gives, as those of a file may be: an error would depend on rows."""

    def keyed(self, names: Sequence[str], label: str | None) -> Mapping[str, Sequence[Any]]:
        if label is None:
            raise InvalidParameter("A classifier predicts something.", fix="Give label=, a column with keys.")
        declared = () if self.classes is None else tuple(declared_classes(self.classes).tolist())
        return {**super().keyed(names, label), label: declared}

    def _classes(self, label: RecordColumn | None) -> tuple[Any, ...]:
        """The classes in order: the keys of a table's label, or those declared here."""
        if label is None:
            return few(tuple(declared_classes(self.classes).tolist()))
        classes = tuple(sorted(label.keys or ()))  # keys are of one type
        if len(classes) < 2:
            raise InvalidParameter(
                f"{label.name!r} has fewer than two classes.",
                fix="Declare its keys.",
                code="few-classes",
                facts={"column": label.name},
            )
        return few(classes)

    def _labels(self, y: Any, rows: int) -> NDArray[np.int32]:
        return labels_of(y, declared_classes(self.classes), rows)

    @property
    def learned_from(self) -> tuple[str, ...]:
        """The names of its features."""
        check_is_fitted(self)
        return tuple(f.name for f in self.encoding_.features)

    def scorer(self, records: Records, label: str, epsilon: Number) -> ScoreLearner:
        """What counts how often it is right on records: see ``Curator.score``."""
        if encoding_of(records, label) != self.encoding_:
            raise InvalidParameter("The model learned from other columns than these.", fix="Give the same features.")
        (found,) = (c for c in records.columns if c.name == label)
        if sorted(found.keys or ()) != self.classes_.tolist():
            raise InvalidParameter("The model knows other classes than this label.", fix="Score it on what it learned.")
        few(found.keys or ())
        back = np.argsort(in_order(found.keys or ()))  # from a class to its place among the keys as declared
        self._check_fitted()
        predicts, code = self._predicts(), digest_of(self)
        reader, table = RecordReader(records.columns, label), records.rows.table
        return ScoreLearner(
            reader,
            lambda design: np.asarray(back[predicts(design)], np.int32),
            code,
            records.limit,
            table.neighbors,
            budget_of(epsilon),
        )

    def scored(self, run: TrainingRun, bought: Bought) -> ModelScore:
        """The score that was bought."""
        found = json.loads(bought.measurement)
        assert isinstance(run.learner, ScoreLearner)
        return ModelScore(found["right"], found["wrong"], run.learner.noise, str(bought.charge.id))

    def charged_score(self, X: Any, y: Any, epsilon: Number) -> ModelScore:
        """How often it is right on private rows that are held as arrays: two noised counts, charged to its curator."""
        check_is_fitted(self)
        where, neighbors = self._charged()
        if self.curator is None or where is None:
            raise InvalidParameter("Without a curator nothing is charged.", fix="Use score(X, y) on public rows.")
        self._check_fitted()
        learner = ScoreLearner(None, self._predicts(), digest_of(self), 1, neighbors, budget_of(epsilon))
        design = design_of(X, self.encoding_, self._named, type(self).__name__)
        work = trained(learner, design, labels_of(y, self.classes_, len(design)))
        text = f"{type(self).__name__} scored on arrays, charged to {where}"
        bought = self.curator.buy(HeldTraining(where, self.curator.tables, learner, work, text))
        found = json.loads(bought.measurement)
        return ModelScore(found["right"], found["wrong"], learner.noise, str(bought.charge.id))

    @available_if(scores_for_free)  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows it is right about; for rows that are not private.

        Fails: refused with a curator, whose rows are: ``curator.score`` charges for them.
        """
        self._public_rows(
            "Use curator.score(model, table, …); or a copy of the model without a curator on public rows."
        )
        return float(super().score(X, y, sample_weight))


def few(classes: tuple[Any, ...]) -> tuple[Any, ...]:
    """The classes; refused where they are very many: what each row takes grows with them."""
    if len(classes) > MOST_CLASSES:
        raise InvalidParameter(
            f"There are {len(classes):,} classes; the most is {MOST_CLASSES}.",
            fix="Join some.",
            code="many-classes",
            facts={"n": len(classes), "most": MOST_CLASSES},
        )
    return classes


def not_fitted() -> InvalidParameter:
    """The refusal of a model whose numbers are not those of a fit."""
    return InvalidParameter("This model's numbers are not those of a fitted one.", fix="Fit it, or load it again.")


def require_numbers(found: Any, shape: tuple[int, ...], most: float, above: float | None = None) -> None:
    """Refuse what is not an array of finite numbers of this shape, at most so large, and above a number."""
    right = isinstance(found, np.ndarray) and found.dtype.kind == "f" and found.shape == shape
    if not right or not np.isfinite(found).all() or (np.abs(found) > most).any():
        raise not_fitted()
    if above is not None and (found <= above).any():
        raise not_fitted()


def digest_of(model: PrivateModel) -> str:
    """A digest of all that a fitted model predicts by."""
    said = to_json(model)
    kept = {name: said[name] for name in ("model", "features", "fitted")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def in_order(keys: Sequence[Any]) -> NDArray[np.int32]:
    """The place of each key among the sorted ones: classes are sorted, as scikit-learn's tools expect.

    >>> in_order(["b", "c", "a"]).tolist()
    [1, 2, 0]
    """
    return np.argsort(np.argsort(np.array(keys))).astype(np.int32)
