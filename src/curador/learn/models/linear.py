"""Linear classifiers: logistic regression, of two classes or more, and a linear support vector machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event
from curador.curator.curator import Curator
from curador.curator.purchases.training import ReadRows, RecordColumn
from curador.errors import InvalidParameter
from curador.learn.descent.sampled import COORDINATES, PoissonDescent, calibrated
from curador.learn.descent.slopes import hinge_slopes, logistic_slopes, softmax_slopes
from curador.learn.descent.whitened import HEAVIEST, MOST_STEPS, Slopes, Whitened
from curador.learn.madeup import A_DRAW, ROWS, made_up, tried_on
from curador.learn.models.classifier import PrivateClassifier, in_order, require_numbers
from curador.learn.pricing import mu_of
from curador.learn.rows.declared import Bounds, Keys
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, require_few
from curador.learn.rows.records import RecordReader
from curador.learn.score import Predicts
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, positive, probability, whole
from curador.privacy import Guarantee, Neighbors
from curador.show.tables import percent

if TYPE_CHECKING:
    from curador.learn.models.additive import Binning

MOST = {"steps": 100_000, "clip": 1000, "learning_rate": 1000}
"""The most of each setting: beyond, a descent takes for ever or leaves doubles."""

LOSSES: Mapping[str, Slopes] = {"logistic": logistic_slopes, "hinge": hinge_slopes, "softmax": softmax_slopes}


@dataclass(frozen=True)
class LinearLearner:
    """Learns the weights of a linear classifier by noisy descent: settings and declarations, no data."""

    reader: RecordReader | None
    encoding: Encoding
    classes: tuple[Any, ...]
    loss: str
    settings: Whitened | PoissonDescent
    guarantee: Guarantee
    binning: Binning | None = None

    @property
    def outputs(self) -> int:
        """One for two classes, else one for each."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def wide(self) -> Encoding:
        """The features as they are learned from: with their bins, where there are any."""
        return self.encoding if self.binning is None else self.binning.encoding(self.encoding)

    @property
    def event(self) -> Event:
        return self.settings.event(self.wide, self.outputs)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({"gaussian"})

    @property
    def code(self) -> Mapping[str, object]:
        way = "whitened-descent" if isinstance(self.settings, Whitened) else "dp-sgd"
        made: dict[str, object] = {
            "learner": way,
            "loss": self.loss,
            "outputs": self.outputs,
            "settings": self.settings,
        }
        return made if self.binning is None else {**made, "bins": self.binning.edges}

    def notes(self, rows: int | None) -> list[dict[str, Any]]:
        """What will be done, and what it reached on made-up rows."""
        settings = self.settings
        number = rows or (settings.rows if isinstance(settings, PoissonDescent) else ROWS)
        steps, clip = self._chosen(number)
        way = "fit-whitened" if isinstance(settings, Whitened) else "fit-sgd"
        said: dict[str, Any] = {"code": way, "steps": steps, "columns": self.wide.width, "clip": f"{float(clip):g}"}
        if settings.steps is None or settings.clip is None:
            said |= {"code": "fit-whitened-by-rows", "rows": f"{number:,}"}
        most = settings.steps or MOST_STEPS  # without noise, those of a budget without end
        number = tried_on(number, self._products(most), most, self.wide.width, self._a_step)
        told = [said, *self.encoding.notes()]
        if not number:
            return told
        design, labels = made_up(self.encoding, number, len(self.classes))
        noised, plain = (percent(one._right(design, labels)) for one in (self, self.plain()))
        return [*told, {"code": "fit-made-up", "rows": f"{number:,}", "noised": noised, "plain": plain}]

    def _chosen(self, rows: int) -> tuple[int, Fraction]:
        """The steps and the clipping length on about so many rows."""
        settings = self.settings
        if isinstance(settings, Whitened):
            return settings.chosen(rows, self.wide.width)
        return settings.steps, settings.clip

    def _products(self, steps: int) -> float:
        """About how many products each row takes."""
        settings, wide = self.settings, self.wide
        seen = steps if isinstance(settings, Whitened) else steps * float(settings.sample_rate)
        moments = 2 * wide.width**2 if isinstance(settings, Whitened) else wide.width
        return moments + 10 * seen * (len(wide.features) + 1) * self.outputs

    @property
    def _a_step(self) -> float:
        """About how many products a step takes besides: its noise, and where columns are whitened, their product."""
        width = self.wide.width
        return width * self.outputs * (A_DRAW + (width if isinstance(self.settings, Whitened) else 0))

    def plain(self) -> LinearLearner:
        """The same with next to no noise, for rows that are not private."""
        if isinstance(self.settings, Whitened):
            return replace(self, settings=replace(self.settings, mu=Fraction(10**6)))
        return replace(self, settings=replace(self.settings, noise_multiplier=Fraction(1, 10**6)))

    def _right(self, design: Design, labels: NDArray[np.int32]) -> float:
        made = self.train(design, labels)
        weights = np.atleast_2d(np.array(json.loads(made)["weights"]))
        found = (design if self.binning is None else self.binning.design(design)).dot(weights.T)
        place = found[:, 0] > 0 if self.outputs == 1 else found.argmax(axis=1)
        return float((place == labels).mean())

    def learn(self, read: ReadRows, progress: Any = None) -> bytes:
        """Learn from the records of a table."""
        assert self.reader is not None, "made for records"
        design, keys, _ = self.reader.read(read)
        (label,) = (c for c in self.reader.columns if c.name == self.reader.label)
        labels = in_order(label.keys or ())[keys]
        del keys
        return self.train(design, labels, progress=progress)

    def train(
        self, design: Design, classes: NDArray[np.int32], entropy: Entropy = SYSTEM, progress: Any = None
    ) -> bytes:
        """Learn from encoded rows; those of no class are left out, each by itself."""
        if (classes < 0).any():
            known = np.flatnonzero(classes >= 0)
            design, classes = design.some(known), classes[known]
        if self.binning is not None:
            design = self.binning.design(design)
        weights, used = self.settings.descend(design, classes, LOSSES[self.loss], self.outputs, entropy, progress)
        return json.dumps({"weights": weights.T.tolist(), "steps": used.steps, "clip": str(used.clip)}).encode()


class LinearClassifier(PrivateClassifier):
    """The base of linear classifiers."""

    _loss: ClassVar[tuple[str, str]]
    solver: str
    steps: int | None
    clip: Number | None
    learning_rate: Number | None
    sample_rate: Number | None
    noise_multiplier: Number | None
    rows: int | None

    def _learner(
        self,
        reader: RecordReader | None,
        encoding: Encoding,
        label: RecordColumn | None,
        copies: int,
        neighbors: Neighbors,
        rows: int | None,
    ) -> LinearLearner:
        classes, binning = self._classes(label), self._bins(encoding)
        wide = encoding if binning is None else binning.encoding(encoding)
        size = wide.width * (1 if len(classes) == 2 else len(classes))
        require_few(size)
        settings, kept = self._settings(copies, neighbors, rows, size)
        if isinstance(settings, Whitened):
            require_few(wide.width**2)
        loss = self._loss[0] if len(classes) == 2 else self._loss[1]
        if not loss:
            raise InvalidParameter("This model is for two classes.", fix="Use LogisticRegression.")
        return LinearLearner(reader, encoding, classes, loss, settings, kept, binning)

    def _bins(self, encoding: Encoding) -> Binning | None:
        """The bins of every number, where it has any."""
        return None

    def _settings(
        self, copies: int, neighbors: Neighbors, declared: int | None, size: int
    ) -> tuple[Whitened | PoissonDescent, Guarantee]:
        """How it will be learned, and what that keeps: from parameters and declarations alone."""
        if self.solver not in ("auto", "whitened", "sgd"):
            raise InvalidParameter(f"No solver is called {self.solver!r}.", fix='Use "auto", "whitened" or "sgd".')
        given = {
            "steps": None if self.steps is None else whole(self.steps, "steps", 2),
            "clip": None if self.clip is None else positive(self.clip, "clip"),
            "learning_rate": None if self.learning_rate is None else positive(self.learning_rate, "learning_rate"),
        }
        for name, value in given.items():
            if value is not None and value > MOST[name]:
                raise InvalidParameter(
                    f"{name} is above {MOST[name]:,}.",
                    fix="Choose a smaller one.",
                    code="setting-too-large",
                    facts={"name": name, "most": MOST[name]},
                )
        chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if self.solver != "sgd":
            if any(x is not None for x in (self.sample_rate, self.noise_multiplier, self.rows)):
                raise InvalidParameter(
                    "sample_rate, noise_multiplier and rows are for DP-SGD.", fix='Give solver="sgd" too.'
                )
            guarantee = self._guarantee
            return Whitened(mu_of(guarantee), copies=copies, neighbors=neighbors, **chosen), guarantee
        rows = declared if self.rows is None else whole(self.rows, "rows", 1)
        if rows is None:
            raise InvalidParameter(
                "DP-SGD needs the number of rows, which is not read from the data.",
                fix='Give rows=, declared or bought by a count; or use solver="whitened", which does without.',
            )
        settings = {"sample_rate": Fraction(1, 32), "steps": 500, "clip": Fraction(1), "learning_rate": Fraction(4)}
        settings |= chosen
        if self.sample_rate is not None:
            positive(self.sample_rate, "sample_rate")  # a sum is divided by it, after the charge
            settings["sample_rate"] = probability(self.sample_rate, "sample_rate")
        return calibrated(
            self.noise_multiplier,
            (self.epsilon, self.delta, self.rho),
            rows=rows,
            neighbors=neighbors,
            copies=copies,
            coordinates=max(COORDINATES, size),
            **settings,
        )

    def _become(self, learner: LinearLearner, measurement: bytes) -> None:
        found = json.loads(measurement)
        weights = np.atleast_2d(np.array(found["weights"], np.float64))
        self.classes_ = np.array(learner.classes)
        self.weights_ = weights
        self.n_iter_ = found.get("steps", learner.settings.steps)  # older measurements lack both: they were given
        self.clip_ = float(Fraction(found.get("clip", learner.settings.clip)))
        self.coef_, self.intercept_ = in_units(weights, learner.wide)

    def _check_fitted(self) -> None:
        outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        require_numbers(self.weights_, (outputs, self._wide_encoding().width), HEAVIEST)

    def _predicts(self) -> Predicts:
        # On a grid on which the margin of so many features is exact, and so depends on its row alone.
        bits = 52 - 10 - 14 - (len(self._wide_encoding().features) + 1).bit_length()
        grid = np.rint(self.weights_ * 2.0 ** min(bits, 20)).T

        def predicted(design: Design) -> NDArray[np.int32]:
            margins = self._wide(design).dot(grid)
            best = (margins[:, 0] > 0) if len(self.classes_) == 2 else margins.argmax(axis=1)
            return np.asarray(best, np.int32)

        return predicted

    def _wide(self, design: Design) -> Design:
        """Rows as the weights are for them."""
        return design

    def _wide_encoding(self) -> Encoding:
        """The encoding of such rows."""
        encoding: Encoding = self.encoding_
        return encoding

    def decision_function(self, X: Any) -> Floats:
        """The margin of each row, for the second class; with more than two, one for each class."""
        found = self._wide(self._design(X)).dot(self.weights_.T) / SCALE
        return np.asarray(found[:, 0] if len(self.classes_) == 2 else found)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row."""
        margins = self.decision_function(X)
        place = (margins > 0).astype(np.intp) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[place])


def in_units(weights: Floats, encoding: Encoding) -> tuple[Floats, Floats]:
    """Weights of encoded columns as coefficients of the features in their own units, and the intercept."""
    coef, intercept = weights[:, :-1].copy(), weights[:, -1].copy()
    for i, feature in enumerate(encoding.numbers):
        half, middle = feature.high / 2 - feature.low / 2, feature.high / 2 + feature.low / 2
        coef[:, i] = weights[:, i] / half
        intercept -= coef[:, i] * middle
    return coef, intercept


class LogisticRegression(LinearClassifier):
    """Logistic regression, of two classes or more, learned with differential privacy.

    The guarantee is ``epsilon`` with ``delta``, or ``rho``.  From a table: ``curator.fit(model, "adult", features=[…],
    label="income")``, where bounds, keys and classes are the table's.  From arrays: ``bounds`` and ``classes`` are
    declared here, ``keys`` for columns of a frame that hold keys; with ``curator`` it is charged to its ``table``.
    ``in_search=True`` lets a search of scikit-learn fit copies of it, each for a charge: see :class:`ChargedAccuracy`.

    ``steps`` and ``clip`` follow from the budget and from a noisy number of rows, which the same fit measures: a larger
    budget or table gets more steps and clips less.  What was chosen is ``n_iter_`` and ``clip_``.

    Guarantee: what is said in ``privacy_``, for one unit of the table, or one row of the arrays (docs/proofs/learn.md).
    Assumes: bounds, keys and classes were declared without looking at the data.
    Fails: what depends on a row is never an error: see :mod:`curador.learn.rows.declared`.

    >>> model = LogisticRegression(epsilon=1, delta=1e-5, bounds=(0, 10), classes=["no", "yes"])
    >>> X = [[1.0], [9.0]] * 2000
    >>> model.fit(X, ["no", "yes"] * 2000).predict([[0.0], [10.0]]).tolist()
    ['no', 'yes']
    """

    _loss = ("logistic", "softmax")

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        rho: Number | None = None,
        bounds: Bounds | None = None,
        keys: Keys | None = None,
        classes: Sequence[Any] | None = None,
        curator: Curator | None = None,
        table: str | None = None,
        in_search: bool = False,
        solver: str = "auto",
        steps: int | None = None,
        clip: Number | None = None,
        learning_rate: Number | None = None,
        sample_rate: Number | None = None,
        noise_multiplier: Number | None = None,
        rows: int | None = None,
    ) -> None:
        self.epsilon, self.delta, self.rho = epsilon, delta, rho
        self.bounds, self.keys, self.classes = bounds, keys, classes
        self.curator, self.table, self.in_search = curator, table, in_search
        self.solver, self.steps, self.clip, self.learning_rate = solver, steps, clip, learning_rate
        self.sample_rate, self.noise_multiplier, self.rows = sample_rate, noise_multiplier, rows

    def predict_proba(self, X: Any) -> Floats:
        """The chance of each class, for each row."""
        margins = self.decision_function(X)
        if margins.ndim == 1:
            margins = np.stack([np.zeros_like(margins), margins], axis=1)
        weights = np.exp(margins - margins.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of the chance of each class."""
        return np.asarray(np.log(self.predict_proba(X)))


class LinearSVC(LinearClassifier):
    """A linear support vector machine of two classes, learned with differential privacy.

    The loss is the hinge, rounded over one unit of margin.  Parameters, doors and guarantee are those of
    :class:`LogisticRegression`.

    >>> model = LinearSVC(epsilon=1, delta=1e-5, bounds=(0, 10), classes=["no", "yes"])
    >>> model.fit([[1.0], [9.0]] * 2000, ["no", "yes"] * 2000).predict([[0.0], [10.0]]).tolist()
    ['no', 'yes']
    """

    _loss = ("hinge", "")

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        rho: Number | None = None,
        bounds: Bounds | None = None,
        keys: Keys | None = None,
        classes: Sequence[Any] | None = None,
        curator: Curator | None = None,
        table: str | None = None,
        in_search: bool = False,
        solver: str = "auto",
        steps: int | None = None,
        clip: Number | None = None,
        learning_rate: Number | None = None,
        sample_rate: Number | None = None,
        noise_multiplier: Number | None = None,
        rows: int | None = None,
    ) -> None:
        self.epsilon, self.delta, self.rho = epsilon, delta, rho
        self.bounds, self.keys, self.classes = bounds, keys, classes
        self.curator, self.table, self.in_search = curator, table, in_search
        self.solver, self.steps, self.clip, self.learning_rate = solver, steps, clip, learning_rate
        self.sample_rate, self.noise_multiplier, self.rows = sample_rate, noise_multiplier, rows
