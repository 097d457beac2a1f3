"""How right a classifier is, by epsilon, by the number of rows, or by the size of a batch; and figures of it.

What is measured here is measured on made-up rows, or on rows that the caller says are public.  On private rows a score
is an answer: buy some with ``curator.score`` and draw them with :func:`score_curve`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from curador.errors import InvalidParameter
from curador.learn.madeup import MOST_ROWS, ROWS, made_up
from curador.learn.models.classifier import PrivateClassifier
from curador.learn.rows.declared import columns_of, declared_classes, design_of, encoding_for
from curador.learn.rows.design import Design
from curador.learn.score import ModelScore
from curador.numbers import Number, positive, set_fields, whole
from curador.privacy import Neighbors
from curador.show.panels import RepeatedRuns, plot_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALONG = ("epsilon", "rows", "batch")
SOURCES = ("made-up", "public", "charged")
Rows = tuple[Design, NDArray[np.int32]]


@dataclass(frozen=True)
class Trials:
    """How right a classifier was at several places, each tried some times; ``plain`` is the same without noise.

    >>> found = Trials("epsilon", (0.1, 1), ((0.7, 0.72), (0.8, 0.81)), "public", plain=0.82)
    >>> found.plot()
    <Figure size 320x360 with 1 Axes>
    """

    along: str
    places: tuple[float, ...]
    runs: tuple[tuple[float, ...], ...]
    source: str
    plain: float | None = None
    bars: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.along not in ALONG or self.source not in SOURCES:
            raise InvalidParameter(
                f"Trials are along one of {', '.join(ALONG)}, on rows that are one of {', '.join(SOURCES)}.",
                fix="Use epsilon_curve, learning_curve, batch_curve or score_curve.",
            )
        set_fields(self, places=tuple(float(x) for x in self.places))

    @property
    def right(self) -> tuple[float, ...]:
        """The mean share of rows it was right about, at each place."""
        return tuple(float(np.mean(some)) for some in self.runs)

    def plot(self, language: str = "en", title: str = "") -> Figure:
        """A figure, which says on which rows it was measured.  Needs matplotlib."""
        lines = RepeatedRuns(self.places, self.runs, self.bars)
        return plot_trials(self.along, lines, self.source, self.plain, language, title)


def epsilon_curve(
    model: PrivateClassifier,
    epsilons: Sequence[Number],
    *,
    features: Sequence[str] | None = None,
    rows: int = ROWS,
    public: tuple[Any, Any] | None = None,
    repeats: int = 5,
) -> Trials:
    """How right a classifier is at several epsilons; free.

    Args:
        model: a classifier with bounds, keys and classes, and no curator.
        epsilons: in increasing order.
        features: the names of its columns, where bounds are not given by name.
        rows: how many rows are made up to learn from, and as many again to be tried on.
        public: rows and labels that anyone may see, to use instead: every other row is learned from.
        repeats: how often each is fitted.

    >>> from curador.learn import LogisticRegression
    >>> model = LogisticRegression(delta=1e-5, bounds={"x": (0, 10)}, classes=[0, 1])
    >>> found = epsilon_curve(model, [0.001, 1], rows=2000, repeats=3)
    >>> found.right[0] < found.right[1] <= found.plain + 0.05
    True
    """
    trial = _Trial(model, features, public, rows)
    settings = [{"epsilon": positive(e, "epsilon")} for e in epsilons]
    found = tuple(trial.right(one, trial.most, repeats) for one in settings)
    return Trials(
        "epsilon", tuple(float(one["epsilon"]) for one in settings), found, trial.source, trial.plain(settings[-1])
    )


def learning_curve(
    model: PrivateClassifier,
    rows: Sequence[int],
    *,
    features: Sequence[str] | None = None,
    public: tuple[Any, Any] | None = None,
    repeats: int = 5,
) -> Trials:
    """How right a classifier is after learning from so many rows; free.  See :func:`epsilon_curve`.

    >>> from curador.learn import GaussianNB
    >>> model = GaussianNB("0.1", bounds={"x": (0, 10)}, classes=[0, 1])
    >>> found = learning_curve(model, [20, 5000], repeats=3)
    >>> found.right[0] < found.right[1]
    True
    """
    sizes = [whole(n, "rows", 1) for n in rows]
    trial = _Trial(model, features, public, max(sizes))
    if max(sizes) > trial.most:
        raise InvalidParameter(f"There are {trial.most:,} rows to learn from.", fix="Ask for no more of them.")
    found = tuple(trial.right({}, n, repeats) for n in sizes)
    return Trials("rows", tuple(map(float, sizes)), found, trial.source, trial.plain({}))


def batch_curve(
    model: PrivateClassifier,
    sizes: Sequence[int],
    *,
    features: Sequence[str] | None = None,
    rows: int = ROWS,
    public: tuple[Any, Any] | None = None,
    repeats: int = 5,
) -> Trials:
    """How right DP-SGD is by the expected size of its batches, at the same cost; free.  See :func:`epsilon_curve`.

    ``model`` has ``solver="sgd"``; the noise is found anew for each size, the number of steps stays.
    """
    trial = _Trial(model, features, public, rows)
    if getattr(model, "solver", None) != "sgd" or getattr(model, "noise_multiplier", None) is not None:
        raise InvalidParameter(
            "Batches are those of DP-SGD, with a guarantee that says how much noise there is.",
            fix='Give a model with solver="sgd", epsilon and delta.',
        )
    counts = [whole(n, "a batch", 1) for n in sizes]
    if max(counts) > trial.most:
        raise InvalidParameter(f"A batch is of at most {trial.most:,} rows.", fix="Use smaller ones.")
    settings = [{"sample_rate": Fraction(n, trial.most), "rows": trial.most} for n in counts]
    found = tuple(trial.right(one, trial.most, repeats) for one in settings)
    return Trials("batch", tuple(map(float, counts)), found, trial.source, trial.plain(settings[-1]))


def score_curve(scores: Mapping[float, ModelScore], along: str = "epsilon") -> Trials:
    """Scores on private rows, which were bought, by what they were bought for; free.

    >>> from curador.mechanisms.laplace import IntegerLaplace
    >>> noise = IntegerLaplace(1, "0.1")
    >>> score_curve({0.1: ModelScore(7000, 3000, noise, "1"), 1: ModelScore(8000, 2000, noise, "2")}).right
    (0.7, 0.8)
    """
    if not scores or not all(isinstance(one, ModelScore) for one in scores.values()):
        raise InvalidParameter("These are no scores.", fix="Buy some with curator.score().")
    places = sorted(scores)
    ends = [scores[x].interval() for x in places]
    bars = tuple((high - low) / 2 for low, high in ends)
    return Trials(along, tuple(places), tuple((scores[x].accuracy,) for x in places), "charged", bars=bars)


class _Trial:
    """Rows to learn from and to be tried on, and a model to try."""

    def __init__(
        self, model: PrivateClassifier, features: Sequence[str] | None, public: tuple[Any, Any] | None, rows: int
    ) -> None:
        if not isinstance(model, PrivateClassifier):
            raise InvalidParameter("A classifier is tried here.", fix="Use one of curador.learn.")
        if model.curator is not None:
            raise InvalidParameter(
                "A model with a curator learns from private rows, which no trial may read.",
                fix="Give a copy without a curator; buy scores on private rows with curator.score().",
            )
        self.model, self.classes = model, declared_classes(model.classes)
        self._known: dict[tuple[tuple[str, Any], ...], tuple[PrivateClassifier, Any]] = {}
        if public is None:
            self.source = "made-up"
            encoding = encoding_for(_names(model, features), model.bounds, model.keys)
            self.most = min(whole(rows, "rows", 1), MOST_ROWS // 2)
            design, labels = made_up(encoding, 2 * self.most, len(self.classes))
        else:
            self.source = "public"
            X, y = public
            names, named = columns_of(X)
            design = design_of(X, encoding_for(names, model.bounds, model.keys), named)
            labels = model._labels(y, len(design))
            self.most = (len(design) + 1) // 2
        self._train, self._tried = (_every_other(design, labels, start) for start in (0, 1))

    def right(self, settings: Mapping[str, Any], rows: int, repeats: int) -> tuple[float, ...]:
        """How often a model of these settings is right after learning from the first rows, in each of some fits."""
        model, learner = self._made(settings)
        design, labels = self._train
        first = np.arange(rows)
        some = design.some(first), labels[first]
        return tuple(self._once(model, learner, some) for _ in range(whole(repeats, "repeats", 1)))

    def plain(self, settings: Mapping[str, Any]) -> float:
        """The same with next to no noise, after learning from all rows."""
        model, learner = self._made(settings)
        return self._once(model, learner.plain(), self._train)

    def _made(self, settings: Mapping[str, Any]) -> tuple[PrivateClassifier, Any]:
        """The model of these settings, and its learner, for which DP-SGD searches its noise: once."""
        own = tuple(settings.items())
        if own not in self._known:
            model, encoding = clone(self.model).set_params(**settings), self._train[0].encoding
            self._known[own] = model, model._learner(None, encoding, None, 1, Neighbors.ADD_REMOVE, None)
        return self._known[own]

    def _once(self, model: PrivateClassifier, learner: Any, rows: Rows) -> float:
        model._settle(learner, learner.train(*rows), True)
        tried, wanted = self._tried
        known = wanted >= 0
        return float((model._predicts()(tried)[known] == wanted[known]).mean()) if known.any() else 0.0


def _names(model: PrivateClassifier, features: Sequence[str] | None) -> tuple[str, ...]:
    if features is not None:
        return tuple(features)
    if model.bounds is None or isinstance(model.bounds, Mapping):
        return tuple(dict.fromkeys((*(model.bounds or ()), *(model.keys or ()))))
    raise InvalidParameter("The names of the columns are not known.", fix="Give features=, or bounds by name.")


def _every_other(design: Design, labels: NDArray[np.int32], start: int) -> Rows:
    places = np.arange(start, len(design), 2)
    return design.some(places), labels[places]
