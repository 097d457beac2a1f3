"""Amplification by shuffling: the guarantee of a batch of local reports whose senders are hidden.

Sometimes another person's report is drawn as if the person's two possible values had made it.  Among such clones the
person's own report is hidden [FMT21].  The bound is a sum over the number of clones.  It is computed in doubles with
every rounding charged to delta: docs/proofs/shuffle.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, localcontext
from fractions import Fraction
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import ApproxLoss, Event
from curador.accounting.precise import dec, least_float, open_delta
from curador.errors import InvalidParameter, NotPromised
from curador.local.frequency.krr import KRR
from curador.local.repeated.longitudinal import Longitudinal
from curador.local.task.limits import Floats
from curador.local.task.task import Task
from curador.local.unlisted.rappor import Rappor
from curador.noise.decide import exp_minus
from curador.numbers import Number, above, below, number_of_people, positive, rational, shown_up, up
from curador.privacy import ApproxDP, Neighbors

EPSILON_MOST = 50
DELTA_LEAST = Fraction(1, 10**100)
USERS_MOST = 10**9
"""The largest batch in the bound; a larger one is bounded as this one, since more reports hide no less."""
CELLS, ROWS_LEAST, ROWS_MOST = 1 << 22, 16, 512
STEP = 2.0**-50
"""An upper bound on the relative error of a factor of a running product or a term of a running sum."""
UNDERFLOW = 1e-300
"""An upper bound on any probability that was lost below the range of doubles."""


@dataclass(frozen=True)
class Shuffled:
    """The guarantee of a shuffled batch, and the trust that it rests on.

    >>> shuffled(1, users=100_000, delta=1e-6).sentence("es")[:56]
    'Barajado, el lote de 100000 informes es (0.01529, 1e-06)'
    """

    local: Fraction
    users: int
    guarantee: ApproxDP

    @property
    def event(self) -> Event:
        """The event of publishing the batch once, for any accountant."""
        return ApproxLoss(rational(self.guarantee.epsilon), rational(self.guarantee.delta), Neighbors.REPLACE)

    def sentence(self, lang: str = "en") -> str:
        """The guarantee with all its assumptions, in English or Spanish."""
        epsilon, delta = _four_digits(rational(self.guarantee.epsilon)), _four_digits(rational(self.guarantee.delta))
        said = {
            "en": f"Shuffled, the batch of {self.users} reports is ({epsilon}, {delta})-differentially private "
            "for the value of each person, provided that the shuffler is trusted: it does not collude with those who "
            "read the batch and keeps nothing that tells who sent what; that at least this many people follow the "
            "same task, each of them sends one report, and the batch is published once. "
            f"Without that trust each report still keeps its own epsilon of {_four_digits(self.local)}.",
            "es": f"Barajado, el lote de {self.users} informes es ({epsilon}, {delta})-diferencialmente privado "
            "para el valor de cada persona, siempre que se confíe en quien baraja: no se alía con quienes leen el lote "
            "ni guarda nada que diga quién envió qué; que al menos ese número de personas siga la misma tarea, cada "
            "una envíe un solo informe, y el lote se publique una vez. "
            f"Sin esa confianza cada informe conserva su propio épsilon de {_four_digits(self.local)}.",
        }
        if lang not in said:
            raise InvalidParameter(f"No sentence in {lang!r}.", fix="Choose 'en' or 'es'.")
        return said[lang]


def _four_digits(x: Fraction) -> str:
    """Four digits, rounded up: a sentence promises no more than the number does."""
    with localcontext(Context(prec=4, rounding=ROUND_CEILING)):
        return f"{float(dec(x)):g}"


@dataclass(frozen=True)
class Randomizer:
    """The parameters of the local randomizer that the bound uses, as exact numbers.

    ``ratio`` is at or above the largest ratio of a report's probabilities.  ``clones`` is at or below the chance that
    another person's report is a clone.  A clone is drawn from the two laws between which the person's own lies.
    """

    epsilon: Fraction
    ratio: float
    clones: float


@singledispatch
def randomizer(local: object) -> Randomizer:
    """The parameters of an epsilon, or of a task.

    Guarantee: a report of any epsilon-locally private randomizer is a clone with chance at least e**-epsilon [FMT21].
        A report of k-ary randomized response is one with chance 2/(ratio + 1): docs/proofs/shuffle.md, section 1.

    >>> from curador.local import OUE
    >>> [round(randomizer(x).clones, 4) for x in (1, OUE(16, epsilon=1), KRR(16, epsilon=1))]
    [0.3679, 0.3679, 0.5379]
    """
    epsilon = positive(local, "epsilon")
    _check_epsilon(epsilon)
    ratio = _float_above(Fraction(1 << 192, exp_minus(epsilon, 192)[0]))
    return Randomizer(epsilon, ratio, below(1 / ratio, 2.0**-51))


@randomizer.register
def _(local: Task) -> Randomizer:
    _check_epsilon(local.epsilon)
    ratio = _float_above(local.ratio)
    return Randomizer(local.epsilon, ratio, below(1 / ratio, 2.0**-51))


@randomizer.register
def _(local: KRR) -> Randomizer:
    _check_epsilon(local.epsilon)
    ratio = _float_above(local.ratio)
    return Randomizer(local.epsilon, ratio, below(2 / (ratio + 1), 2.0**-50))


@randomizer.register(Rappor)
@randomizer.register(Longitudinal)
def _(local: Longitudinal | Rappor) -> Randomizer:
    # Batches would share each person's permanent answers, so their losses would not add up.
    raise NotPromised(
        "Reports that repeat a permanent answer are not amplified by shuffling batch after batch.",
        fix="Shuffle a task that each person answers once, or rely on the local guarantee.",
    )


def _check_epsilon(epsilon: Fraction) -> None:
    if epsilon > EPSILON_MOST:
        raise InvalidParameter(
            f"A local epsilon of {shown_up(epsilon)} promises nothing that shuffling could amplify.",
            fix=f"Choose epsilon <= {EPSILON_MOST}.",
        )


def _float_above(x: Fraction) -> float:
    return math.nextafter(up(x), math.inf)  # as a binary number, not as the decimal it prints as


def shuffled(local: Number | Task, users: int, delta: Number) -> Shuffled:
    """Bound from above the least epsilon at ``delta`` of a shuffled batch.

    ``local`` is a task or its epsilon.

    Guarantee: (epsilon, delta)-DP for one person's value replaced, both ways round [FMT21]; docs/proofs/shuffle.md.
    Assumes: a shuffler that is trusted not to collude; at least ``users`` people who follow one task and send once.
    Fails: claimed for one publication of the batch.  Publishing again, or asking the same people again, is a new
        event; what the shuffler itself sees is protected by the local epsilon alone.

    >>> shuffled(4, users=100_000, delta=1e-6).guarantee
    ApproxDP(epsilon=0.169..., delta=1e-06)
    """
    known, n, least = randomizer(local), number_of_people(users), open_delta(delta)
    if rational(least) < DELTA_LEAST:
        raise InvalidParameter(f"delta = {delta} is too small for this bound.", fix="Choose delta >= 1e-100.")
    clones = _clones(known, n, least)
    wanted = below(least, 2.0**-51)
    found = least_float(lambda x: x >= known.epsilon or _delta(known, clones, _ratio_less_one(x)) <= wanted)
    return Shuffled(known.epsilon, n, ApproxDP(min(found, up(known.epsilon)), least))


def shuffled_delta(local: Number | Task, users: int, epsilon: Number) -> float:
    """Bound the delta at ``epsilon`` of a shuffled batch from above; the bound is close above 1e-30.

    >>> shuffled_delta(1, users=10_000, epsilon="0.05") < shuffled_delta(1, users=1_000, epsilon="0.05") < 0.02
    True
    """
    known, n, asked = randomizer(local), number_of_people(users), rational(epsilon, "epsilon")
    if asked < 0:
        raise InvalidParameter(f"epsilon must be at least 0, got {epsilon}.", fix="Choose epsilon >= 0.")
    if asked >= known.epsilon:
        return 0.0
    return _delta(known, _clones(known, n, 1e-30), _ratio_less_one(asked))


def _ratio_less_one(epsilon: Fraction) -> float:
    """A double at or below e**epsilon - 1."""
    return max(0.0, below(math.expm1(float(epsilon)), 2.0**-46))


# ---- the number of clones, in groups, and the fair coins among them --------------------------------------------------


@dataclass(frozen=True, eq=False)
class Clones:
    """Groups of numbers of clones.

    Each has its least number, a bound on its chance, and the law of as many fair coins.

    Row r of ``weights`` is proportional to the chances of least[r]//2 + 0, 1, 2, ... heads; ``rest`` are its sums from
    each place on.  All heads together weigh between ``total_low`` and ``total_high``.
    """

    fewer: float
    chance: Floats
    least: NDArray[np.int64]
    weights: Floats
    rest: Floats
    total_low: Floats
    total_high: Floats

    @property
    def slip(self) -> float:
        """The relative error of a weight, a sum of weights or a product with them."""
        return float(self.weights.shape[1] + 16) * STEP


def _clones(known: Randomizer, users: int, delta: float) -> Clones:
    others = min(users, USERS_MOST) - 1
    # Chernoff: either law has less than exp(-reach**2 / 2) beyond this many deviations, far below delta.
    reach = math.sqrt(-2 * math.log(delta)) + 4
    mean = others * known.clones
    low = max(0, math.floor(mean - reach * math.sqrt(mean)))
    high = min(others, math.ceil(mean + 6 * math.sqrt(mean)) + 8)
    wide = math.ceil(reach * math.sqrt(high) / 2) + 2
    rows = max(ROWS_LEAST, min(ROWS_MOST, CELLS // wide))
    starts = np.unique(np.linspace(0, high - low + 1, min(rows, high - low + 1), endpoint=False).astype(np.int64))
    fewer, chance = _group_chances(others, known.clones, low, high, starts)
    return Clones(fewer, chance, low + starts, *_fair_coins(low + starts, wide))


def _group_chances(count: int, chance: float, low: int, high: int, starts: NDArray[np.int64]) -> tuple[float, Floats]:
    """Bound from above the chances of groups of counts.

    The first is that of fewer than ``low`` among ``count`` coins; each group from there on follows.

    Weights run out from the most likely number.  They are divided by their sum in the window, which is less than the
    sum of all, so the quotients are too large.  Beyond the window they fall faster than a geometric series.
    """
    odds = chance / (1 - chance)
    centre = min(max(math.floor((count + 1) * chance), low), high)
    above_ = np.arange(centre, high, dtype=np.float64)
    below_ = np.arange(centre - 1, low - 1, -1, dtype=np.float64)
    rising = np.cumprod((count - above_) / (above_ + 1) * odds)
    falling = np.cumprod((below_ + 1) / ((count - below_) * odds))
    weights = np.concatenate([falling[::-1], [1.0], rising])
    charge = (1 + 4 * (weights.size + 16) * STEP) / float(weights.sum())
    groups = np.add.reduceat(weights, starts)
    groups[-1] += weights[-1] * _beyond((count - high) / (high + 1) * odds)
    fewer = float(weights[0]) * _beyond(low / ((count - low + 1) * odds))
    return fewer * charge + UNDERFLOW, groups * charge + weights.size * UNDERFLOW


def _beyond(ratio: float) -> float:
    """The sum of the weights after one, in units of it, if each ratio of neighbours is at most ``ratio``."""
    return ratio / (1 - ratio)


def _fair_coins(counts: NDArray[np.int64], wide: int) -> tuple[Floats, Floats, Floats, Floats]:
    places = counts[:, np.newaxis] // 2 + np.arange(wide, dtype=np.float64)
    factors = np.maximum((counts[:, np.newaxis] - places) / (places + 1), 0.0)
    weights = np.cumprod(np.concatenate([np.ones((counts.size, 1)), factors], axis=1), axis=1)
    rest = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    # Heads mirror tails: an even count has one middle, an odd count two equal ones, and this is the lower.
    total = np.where(counts % 2 == 0, 2 * rest[:, 0] - 1, 2 * rest[:, 0] - 2)
    tail = weights[:, -1] * _tail_ratio(counts, wide)
    return weights, rest, total, total + 2 * tail


def _tail_ratio(counts: NDArray[np.int64], wide: int) -> Floats:
    last = counts // 2 + wide
    ratio: Floats = np.maximum((counts - last) / (last + 1), 0.0)
    return ratio / (1 - ratio)


# ---- the divergence --------------------------------------------------------------------------------------------------


def _delta(known: Randomizer, clones: Clones, y: float) -> float:
    """An upper bound on the hockey-stick divergence at 1 + y, which is at or below e**epsilon."""
    e = known.ratio
    # The person's own report alone: (e - 1 - y) / (e + 1), the most that any number of clones leaves.
    alone = max(0.0, (e - 1 - y + e * STEP) / (e + 1) * (1 + 2 * STEP))
    turn = (1 + y * e / (e - 1)) / (2 + y)
    # The best set of outcomes begins at one of these two places, which are at most one apart.
    worst = np.maximum(*(_from_place(clones, alone, y, turn * (1 + side)) for side in (-16 * STEP, 16 * STEP)))
    total = clones.fewer * alone + float(np.dot(clones.chance, np.minimum(worst, alone)))
    return min(1.0, above(total))


def _from_place(clones: Clones, alone: float, y: float, turn: float) -> Floats:
    """alone * P(heads = i) - y * P(heads > i) from above, for i the whole part of turn * (clones + 1)."""
    place = np.floor(turn * (clones.least + 1)).astype(np.int64) - clones.least // 2
    last, rows = clones.weights.shape[1] - 1, np.arange(clones.least.size)
    inside = np.minimum(place, last)  # beyond the window heads are less likely still
    here = clones.weights[rows, inside] / clones.total_low * (1 + 4 * clones.slip) + UNDERFLOW
    after = np.where(place < last, clones.rest[rows, np.minimum(inside + 1, last)], 0.0) / clones.total_high
    found: Floats = np.maximum(0.0, alone * here - y * after * (1 - 4 * clones.slip))
    return found
