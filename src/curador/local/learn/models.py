"""Linear models learned from locally private gradients, with the interface of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from curador.local.learn.checking import Bounds, declared_classes, fresh_fit, pairs, signs, validated
from curador.local.learn.expected import warn_of_noise
from curador.local.learn.losses import Hinge, Logistic, Loss, Squared, chance
from curador.local.learn.randomizers import GradientRandomizer, gradient_randomizer
from curador.local.learn.reading import sized
from curador.local.learn.rounds import Round, Scale, descend, settled
from curador.local.learn.schedule import make_schedule
from curador.local.task.limits import Floats
from curador.local.task.values import reals
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, positive, rational, up
from curador.privacy import PureDP

UNIT: tuple[Number, Number] = (-1, 1)


class _LocalModel(BaseEstimator):  # type: ignore[misc]
    """The base of the three models: parameters, descent, and conversion to the units of the data."""

    _loss: ClassVar[Loss]

    epsilon: Number
    bounds: Bounds
    mechanism: str
    participation: str
    rounds: int | None
    alpha: Number
    step: Number
    clip: Number
    average: bool

    def _learn(self, values: Floats, answers: Floats, target: tuple[Number, Number], entropy: Entropy) -> None:
        epsilon, clip = positive(self.epsilon, "epsilon"), sized(self.clip, "clip")
        step = float(sized(self.step, "step"))
        alpha = float(sized(self.alpha, "alpha")) if rational(self.alpha, "alpha") else 0.0
        users, features = values.shape
        scale, answer = Scale.between(pairs(self.bounds, features)), Scale.between([target])

        def way(share: Fraction) -> GradientRandomizer:
            return gradient_randomizer(self.mechanism, share, features + 1, clip)

        plan = make_schedule(self.participation, users, self.rounds, epsilon, way)
        warn_of_noise(self._loss, plan, step, self.average)
        first = Round(self._loss, scale, answer, plan.randomizer)
        path, people = descend(first, plan, values, answers, step=step, alpha=alpha, entropy=entropy)
        beta = settled(path) if self.average else path[-1]
        self.schedule_ = plan
        self.event_, self.epsilon_, self.privacy_ = plan.event, plan.epsilon, PureDP(up(plan.epsilon))
        self.n_iter_, self.users_, self.path_ = plan.rounds, people, path
        slopes = float(answer.half[0]) * beta[:-1] / scale.half
        self.coef_ = slopes
        self.intercept_ = float(answer.middle[0]) + float(answer.half[0]) * float(beta[-1]) - slopes @ scale.middle

    def _scores(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        values = validated(self, X, reset=False)
        with np.errstate(all="ignore"):
            return np.asarray(values @ np.ravel(self.coef_) + np.ravel(self.intercept_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


class LocalLinearRegression(RegressorMixin, _LocalModel):  # type: ignore[misc]
    """Least squares with an L2 penalty, from gradients clipped and randomised on each person's own device.

    Features and target are clamped to the declared ``bounds`` and ``target`` on the device.  ``fit`` plays both sides,
    devices and collector; the collector's side sees reports only.  It warns before any report if the expected cost of
    noise exceeds what features often explain (:class:`NoisyModelWarning`): a constant may do better.

    Guarantee: every person's reports together are epsilon-locally DP, although the questions to later people depend on
        earlier reports [DJW18]; ``event_`` describes one person's reports.
    Assumes: a row is a person; bounds, target and the other parameters are chosen without looking at the data.
    Fails: each fit spends epsilon again: in k-fold cross-validation each person reports in k - 1 fits.  Clipping biases
        the model where gradients are clipped unevenly (docs/proofs/local-learning.md).  ``score`` on people's own rows
        is not private.

    Args:
        epsilon: the budget of each person in a fit.
        bounds: a pair (low, high) for all features, or one for each.
        target: the bounds of y.
        mechanism: how a gradient is reported: "hybrid", "piecewise", "duchi" or "laplace" [WXYZ19, DJW18].
        participation: "once", each person in one round at epsilon; "every", all in every round at epsilon / rounds.
        rounds: their number; by default as many as groups of ``schedule.group_size`` people allow, 10 to 200.
        alpha: the penalty alpha/2 |beta|**2, on the scales from -1 to 1 and without the intercept.
        step: the t-th step has the size step / sqrt(t).
        clip: each coordinate of a gradient is clipped to [-clip, clip].
        average: use the mean of the last half of the iterates, rather than the last one.

    >>> rng = np.random.default_rng(1)
    >>> X = rng.uniform(0, 10, (20_000, 2))
    >>> y = 3 * X[:, 0] + 20
    >>> model = LocalLinearRegression(epsilon=4, bounds=(0, 10), target=(0, 70)).fit(X, y)
    >>> model.privacy_, model.schedule_.reports_each, model.n_iter_ == len(model.users_)
    (PureDP(epsilon=4.0), 1, True)
    >>> bool(abs(model.predict([[5.0, 5.0]])[0] - 35) < 5)
    True
    """

    _loss = Squared()

    def __init__(
        self,
        *,
        epsilon: Number,
        bounds: Bounds,
        target: tuple[Number, Number],
        mechanism: str = "hybrid",
        participation: str = "once",
        rounds: int | None = None,
        alpha: Number = 1e-4,
        step: Number = 1.0,
        clip: Number = 1,
        average: bool = True,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.target = target
        self.mechanism = mechanism
        self.participation = participation
        self.rounds = rounds
        self.alpha = alpha
        self.step = step
        self.clip = clip
        self.average = average

    def fit(self, X: ArrayLike, y: ArrayLike, *, entropy: Entropy = SYSTEM) -> Self:
        """Learn from one row of X and one number of y per person."""
        with fresh_fit(self):
            values, answers = validated(self, X, y, y_numeric=True)
            told = reals(answers.astype(np.int64) if answers.dtype.kind == "b" else answers)
            self._learn(values, told, pairs(self.target, 1)[0], entropy)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict answers, in the units of the target."""
        return self._scores(X)


class _LocalClassifier(ClassifierMixin, _LocalModel):  # type: ignore[misc]
    """Two declared classes, distinguished by the sign of a score."""

    classes: Sequence[Any]

    def __init__(
        self,
        *,
        epsilon: Number,
        bounds: Bounds,
        classes: Sequence[Any],
        mechanism: str = "hybrid",
        participation: str = "once",
        rounds: int | None = None,
        alpha: Number = 1e-4,
        step: Number = 3.0,
        clip: Number = 1,
        average: bool = True,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.classes = classes
        self.mechanism = mechanism
        self.participation = participation
        self.rounds = rounds
        self.alpha = alpha
        self.step = step
        self.clip = clip
        self.average = average

    def fit(self, X: ArrayLike, y: ArrayLike, *, entropy: Entropy = SYSTEM) -> Self:
        """Learn from one row of X and one class of y per person; a class may be empty."""
        with fresh_fit(self):
            declared = declared_classes(self.classes)
            values, labels = validated(self, X, y)
            self._learn(values, signs(labels, declared), UNIT, entropy)
            self.classes_ = declared
            self.coef_, self.intercept_ = self.coef_[np.newaxis, :], np.array([self.intercept_])
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """The score of each row: above 0 for the second class."""
        return self._scores(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the likelier class of each row."""
        second = self._scores(X) > 0
        return np.asarray(self.classes_[second.astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class LocalLogisticRegression(_LocalClassifier):
    """Logistic regression with an L2 penalty, from gradients randomised on each person's own device.

    The two ``classes`` are declared, in any order; ``classes_`` has them sorted.  The coordinates of gradients already
    lie between -1 and 1, so the default ``clip`` never clips.  Other parameters, guarantees, assumptions and limits are
    as in :class:`LocalLinearRegression`.

    Guarantee: every person's reports together are epsilon-locally DP [DJW18, WXYZ19].

    >>> rng = np.random.default_rng(1)
    >>> X = rng.uniform(0, 1, (20_000, 2))
    >>> y = np.where(X[:, 0] > 0.5, "yes", "no")
    >>> model = LocalLogisticRegression(epsilon=4, bounds=(0, 1), classes=["no", "yes"]).fit(X, y)
    >>> model.predict([[0.0, 0.5], [1.0, 0.5]]).tolist(), model.predict_proba([[0.5, 0.5]]).shape
    (['no', 'yes'], (1, 2))
    """

    _loss = Logistic()

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The chance of each class, in the order of ``classes_``."""
        second = chance(self._scores(X))
        return np.column_stack([1 - second, second])


class LocalLinearSVC(_LocalClassifier):
    """A linear support vector machine with an L2 penalty, from locally private gradients.

    Each person's own device randomises their gradient.

    It minimises the mean hinge loss.  Parameters are those of :class:`LocalLogisticRegression`.

    Guarantee: every person's reports together are epsilon-locally DP [DJW18, WXYZ19].

    >>> rng = np.random.default_rng(1)
    >>> X = rng.uniform(0, 1, (20_000, 2))
    >>> model = LocalLinearSVC(epsilon=4, bounds=(0, 1), classes=[0, 1], mechanism="duchi").fit(X, X[:, 0] > 0.5)
    >>> model.predict([[0.0, 0.5], [1.0, 0.5]]).tolist(), model.decision_function([[1.0, 0.5]]).shape
    ([0, 1], (1,))
    """

    _loss = Hinge()
