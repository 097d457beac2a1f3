"""The meaning of a guarantee: odds, errors, accusations, harm and groups.

Each is a number, a sentence and a curve.

The game of the course: an adversary knows everything but which of two neighbouring databases was used.  Alice is in
one and not in the other.  The adversary sees the release and decides.  Everything here follows from the trade-off
between the two errors that the promise allows, and is rounded against us.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from curador.accounting.precise import nearest
from curador.accounting.rules.groups import group
from curador.accounting.rules.tradeoffs import FAR, Curve, Promise, Tradeoff, grid, tradeoff
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import Number, above, below, down, probability, rational, up, whole
from curador.privacy import ApproxDP, Guarantee, PureDP


def _say(lang: str, **sentences: str) -> str:
    if lang not in sentences:
        raise InvalidParameter(f"No sentences in {lang!r}.", fix=f"Use one of {sorted(sentences)}.")
    return sentences[lang]


def _figures(x: float, rounding: str, percent: bool) -> str:
    """Three figures, rounded to the safe side."""
    if math.isinf(x):
        return "∞"
    value = Context(prec=3, rounding=rounding).create_decimal(Decimal(repr(x)).scaleb(2 if percent else 0))
    return format(value.normalize(), "f") + ("%" if percent else "")


def _most(x: float, percent: bool = True) -> str:
    return _figures(x, ROUND_CEILING, percent)


def _least(x: float, percent: bool = True) -> str:
    return _figures(x, ROUND_FLOOR, percent)


def _chance(x: Number, name: str) -> float:
    return float(probability(x, name))


# ---- posterior odds ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Posterior:
    """Bounds on a belief after the release, given the belief ``prior`` before it."""

    prior: float
    lower: float
    upper: float
    epsilon: float
    failure: float

    def sentence(self, lang: str = "en") -> str:
        p, low, high, fail = _most(self.prior), _least(self.lower), _most(self.upper), _most(self.failure)
        said = _say(
            lang,
            en=f"Someone who held it {p} likely that you are in the data will, after the release, hold it at least "
            f"{low} and at most {high} likely.",
            es=f"Quien creía con un {p} de probabilidad que usted está en los datos creerá, tras la publicación, que "
            f"es al menos {low} y como mucho {high} probable.",
        )
        caveat = _say(
            lang,
            en=f" Each of the two bounds fails with a chance of at most {fail}.",
            es=f" Cada una de las dos cotas falla con probabilidad de como mucho {fail}.",
        )
        return said + caveat if self.failure else said

    def curve(self, points: int = 101) -> Curve:
        x = grid(points)
        bounds = [_belief_range(Fraction(p), self.epsilon) for p in x]
        lines = (("least", tuple(b[0] for b in bounds)), ("most", tuple(b[1] for b in bounds)))
        return Curve(x, lines, "belief before", "belief after")


def _belief_range(prior: Fraction, epsilon: float) -> tuple[float, float]:
    """Bayes: the odds move by at most e**epsilon either way."""
    if prior in (0, 1) or epsilon == 0:
        return down(prior), up(prior)
    yes, no, small = float(prior), float(1 - prior), math.exp(-epsilon)  # separately: a difference loses digits
    if not yes or not no:  # no double is so near to 0 or 1
        return 0.0, 1.0
    low, high = yes * small / (yes * small + no), yes / (yes + no * small)
    return max(0.0, below(low)), min(1.0, above(high))


def posterior(promise: Promise, prior: Number = Fraction(1, 2), failure: Number | None = None) -> Posterior:
    """Bound how far a release can move anyone's belief that Alice is in the data.

    With delta > 0 no bound holds for every output.  The one given fails with a chance of at most ``failure`` on each
    side, by default twice the smallest delta.  The loss exceeds eps + t with a chance of at most delta/(1 - e**-t).

    Guarantee: odds move by at most e**epsilon [DMNS06, KS14].

    >>> belief = posterior(1, prior=0.5)
    >>> belief.lower, belief.upper
    (0.2689..., 0.7310...)
    >>> belief.sentence()[-57:]
    'release, hold it at least 26.8% and at most 73.2% likely.'
    """
    points, p = tradeoff(promise).points, probability(prior, "prior")
    least = min(x.delta for x in points)
    allowed = min(1.0, 2 * least) if failure is None else _chance(failure, "failure")
    usable = [x for x in points if x.delta == 0 or x.delta < allowed]
    if not usable:
        raise NotPromised(
            f"No belief is bounded except with a chance of {allowed:g}: delta is {least:g}.",
            fix="Allow a failure larger than delta, or promise a smaller delta.",
        )
    epsilon, fails = min((_loss_bound(x, allowed), x.delta > 0) for x in usable)
    return Posterior(float(p), *_belief_range(p, epsilon), epsilon, allowed if fails else 0.0)


def _loss_bound(point: ApproxDP, failure: float) -> float:
    """A loss that is exceeded with a chance of at most ``failure``."""
    return point.epsilon if point.delta == 0 else above(point.epsilon - math.log1p(-point.delta / failure))


# ---- the decision, and the accusation ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MembershipGuess:
    """The least error rate of the best adversary, and its largest gain over guessing."""

    prior: float
    error: float
    advantage: float
    tradeoff: Tradeoff

    def sentence(self, lang: str = "en") -> str:
        p, error, gain = _most(self.prior), _least(self.error), _most(self.advantage)
        return _say(
            lang,
            en=f"An adversary who must say whether you are in the data, a chance of {p} before the release, is wrong "
            f"at least {error} of the time; true accusations exceed false ones by at most {gain}.",
            es=f"Un adversario que debe decidir si usted está en los datos, con un {p} de probabilidad antes de la "
            f"publicación, se equivoca al menos el {error} de las veces; las acusaciones ciertas superan a las falsas "
            f"en como mucho {gain}.",
        )

    def curve(self, points: int = 101) -> Curve:
        x = grid(points)
        lines = (
            ("with the release", tuple(self.tradeoff.error(p) for p in x)),
            ("guessing", tuple(min(p, 1 - p) for p in x)),
        )
        return Curve(x, lines, "prior chance", "least chance of error")


def decision(promise: Promise, prior: Number = Fraction(1, 2)) -> MembershipGuess:
    """The course's game: the chance that the best adversary decides wrongly, for any prior.

    Guarantee: at prior 1/2 and pure epsilon, at least 1/(1 + e**eps).

    >>> decision(1).error, decision(1).advantage
    (0.2689..., 0.4621...)
    """
    curve, p = tradeoff(promise), _chance(prior, "prior")
    return MembershipGuess(p, curve.error(p), curve.advantage(), curve)


@dataclass(frozen=True, slots=True)
class Detection:
    """The most people that can be found at a given rate of false accusations."""

    fpr: float
    tpr: float
    tradeoff: Tradeoff

    def sentence(self, lang: str = "en") -> str:
        a, b = _most(self.fpr), _most(self.tpr)
        return _say(
            lang,
            en=f"A test that accuses at most {a} of those who are not in the data finds at most {b} of those who are.",
            es=f"Una prueba que acusa como mucho al {a} de quienes no están en los datos encuentra como mucho al {b} "
            f"de quienes sí están.",
        )

    def curve(self, points: int = 201) -> Curve:
        x = grid(points)
        return Curve(
            x, (("bound", tuple(map(self.tradeoff.tpr, x))), ("guessing", x)), "false positives", "true positives"
        )


def detection(promise: Promise, fpr: Number) -> Detection:
    """The largest true-positive rate of any membership test at a false-positive rate.

    >>> detection(PureDP(1), 0.01).sentence()
    'A test that accuses at most 1% of those who are not in the data finds at most 2.72% of those who are.'
    """
    curve, a = tradeoff(promise), _chance(fpr, "fpr")
    return Detection(a, curve.tpr(a), curve)


# ---- the cost of taking part ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Participation:
    """The expected harm with a person's data in, given the expected harm without them."""

    without: float
    least: float
    most: float
    worst: float
    points: tuple[ApproxDP, ...]

    def sentence(self, lang: str = "en") -> str:
        a, b, w = _most(self.without, False), _most(self.most, False), _most(self.worst, False)
        return _say(
            lang,
            en=f"If what others make of the release costs you {a} on average without your data (and never more than "
            f"{w}), it costs you at most {b} with them.",
            es=f"Si lo que otros hagan con lo publicado le cuesta {a} de media sin sus datos (y nunca más de {w}), con "
            f"ellos le cuesta como mucho {b}.",
        )

    def curve(self, points: int = 101) -> Curve:
        top = self.worst if math.isfinite(self.worst) else 2 * self.without or 1.0
        x = grid(points, 0.0, top)
        bounds = [_harm(self.points, h, self.worst) for h in x]
        lines = (("least", tuple(b[0] for b in bounds)), ("most", tuple(b[1] for b in bounds)))
        return Curve(x, lines, "expected harm without", "expected harm with")


def _harm(points: Sequence[ApproxDP], harm: float, worst: float) -> tuple[float, float]:
    low, high = 0.0, worst
    for p in points:
        extra = p.delta * worst if p.delta else 0.0
        if p.epsilon < FAR:
            high = min(high, above(math.exp(p.epsilon) * harm + extra))
            low = max(low, below(math.exp(-p.epsilon) * (harm - extra)))
    return low, high


def participation(promise: Promise, harm: Number, worst: Number | None = None) -> Participation:
    """The cost of taking part: expected harm grows by at most e**eps, plus delta times the worst harm.

    Guarantee: for any harm between 0 and ``worst`` that depends on the release alone, integrating the definition over
        its level sets [DR14].
    Assumes: the worst harm is known where delta > 0; without it nothing is promised.

    >>> participation(ApproxDP(1, 1e-6), harm=10, worst=1e5).most
    27.28...
    """
    points, h = tradeoff(promise).points, rational(harm, "harm")
    top = math.inf if worst is None else nearest(rational(worst, "worst"))
    if not 0 <= h <= top:
        raise InvalidParameter(f"Harm must lie between 0 and the worst, got {harm}.", fix="Give both as costs >= 0.")
    if top == math.inf and all(p.delta for p in points):
        raise NotPromised("With delta > 0 an unbounded harm is not bounded.", fix="State the worst harm.")
    least, most = _harm([p for p in points if top < math.inf or p.delta == 0], nearest(h), top)
    return Participation(nearest(h), least, most, top, points)


# ---- groups -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupPromise:
    """The guarantee of k people together, from a guarantee about one."""

    k: int
    one: PureDP | ApproxDP
    guarantee: Guarantee
    advantage: float

    def sentence(self, lang: str = "en") -> str:
        gain = _most(self.advantage)
        return _say(
            lang,
            en=f"A group of {self.k} together is promised {self.guarantee!r}: whether all of them are in the data can "
            f"be decided with an advantage of at most {gain} over guessing.",
            es=f"A un grupo de {self.k} se le promete en conjunto {self.guarantee!r}: si todos están en los datos se "
            f"puede decidir con una ventaja de como mucho {gain} sobre el azar.",
        )

    def curve(self) -> Curve:
        sizes = range(1, self.k + 1)
        gains = tuple(tradeoff(group(self.one, k)).advantage() for k in sizes)
        return Curve(tuple(map(float, sizes)), (("advantage", gains),), "size of the group", "largest advantage")


def group_promise(promise: Number | PureDP | ApproxDP, k: int) -> GroupPromise:
    """The guarantee of a group of k people, and the advantage it leaves an adversary.

    >>> group_promise(0.1, 5).sentence()[:60]
    'A group of 5 together is promised PureDP(epsilon=0.5): wheth'
    """
    n, (point, *more) = whole(k, "k", 1), tradeoff(promise).points
    if more:
        raise InvalidParameter("A group is promised one guarantee at a time.", fix="Pass one (epsilon, delta).")
    one = point if point.delta else PureDP(point.epsilon)
    together = group(one, n)
    return GroupPromise(n, one, together, tradeoff(together).advantage())
