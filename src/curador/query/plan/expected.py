"""How wrong an answer will be, said before anything is spent: of the answer itself, not of what it is made of.

A mean's error is that of the mean, and depends on how many rows it is over; a quantile's is in ranks.  Where the number
of rows is not public the error is said as a function of it, and no budget can be found from a wanted accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from curador.mechanisms.base import checked_confidence
from curador.mechanisms.intervals import combined_error
from curador.numbers import Number, positive, rational
from curador.query.answer.estimates import sum_reach
from curador.query.plan.measurement import Recipe
from curador.query.plan.steps import Largest, Noised, Ranked, Step

SPLIT = 0.9
"""Of the misses, the part that goes to the numerator of a mean; the rest goes to its denominator."""


@dataclass(frozen=True)
class Within:
    """A wanted accuracy: the error is at most ``error`` at least so often; of one output, or of all.

    Quantiles count it in ranks.

    >>> within(0.5, confidence=0.95).error
    Fraction(1, 2)
    """

    error: Number
    confidence: float = 0.95
    output: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "error", positive(self.error, "error"))
        object.__setattr__(self, "confidence", checked_confidence(self.confidence))


def within(error: Number, confidence: float = 0.95, output: str | None = None) -> Within:
    """A wanted accuracy, to give instead of a budget: ``ask(accuracy=within(0.5))``.

    >>> within(100, confidence=0.9).confidence
    0.9
    """
    return Within(error, confidence, output)


@dataclass(frozen=True)
class Expected:
    """The error of one output in any one group: at most ``value`` at least as often as ``confidence``.

    ``value`` is None where it depends on a number of rows that is not public; ``text`` says how.

    >>> Expected("n", 6.0, "± 6", 0.95).unit
    ''
    """

    output: str
    value: float | None
    text: str
    confidence: float
    unit: str = ""


def expected(
    recipes: Sequence[Recipe], steps: Sequence[Step], rows: int | None, confidence: float
) -> tuple[Expected, ...]:
    """The error to expect of every output, where ``rows`` rows are behind it."""
    noised = {step.measure: step for step in steps if isinstance(step, Noised)}
    chosen = {step.recipe.name: step for step in steps if isinstance(step, Ranked | Largest)}
    found: list[Expected] = []
    for recipe in recipes:
        choice = chosen.get(recipe.name)
        if isinstance(choice, Ranked):
            ranks = choice.error(confidence)
            found += [Expected(o, ranks, f"± {ranks:.4g} ranks", confidence, "ranks") for o in recipe.outputs]
            continue
        value, text = _ERRORS[recipe.function](recipe, [noised[m] for m in recipe.measures], rows, confidence)
        found.append(Expected(recipe.name, value, text, confidence))
    return tuple(found)


Errors = tuple[float | None, str]


def _plus_minus(value: float) -> Errors:
    return value, "exact" if value == 0 else f"± {value:.4g}"


def _count(recipe: Recipe, parts: list[Noised], rows: int | None, confidence: float) -> Errors:
    return _plus_minus(parts[0].error(confidence))


def _tree(recipe: Recipe, parts: list[Noised], rows: int | None, confidence: float) -> Errors:
    most = max(part.error(confidence) for part in parts)
    return most, f"± {most:.4g} before the levels are made to agree"


def _sum(recipe: Recipe, parts: list[Noised], rows: int | None, confidence: float) -> Errors:
    total, *rest = parts
    reach = sum_reach(total, rest[0], confidence) if rest else total.error(confidence)
    return _plus_minus(reach * 2.0**-total.measure.bits)


def _mean(recipe: Recipe, parts: list[Noised], rows: int | None, confidence: float) -> Errors:
    total, count = parts
    scale, h = 2.0**-total.measure.bits, float(total.measure.reach)
    # (S + s) / (n + c) - S / n = (s - m c) / (n + c) with |m| <= h: both errors at once, by a union bound.
    if count.mechanism is None or total.mechanism is None:
        top, lost = total.error(confidence) + h * count.error(confidence), count.error(confidence)
    else:
        miss = 1 - confidence
        top = combined_error([(1.0, total.mechanism), (h, count.mechanism)], 1 - SPLIT * miss)
        lost = count.mechanism.error(1 - (1 - SPLIT) * miss)
    if rows is None:
        below = f"(n - {lost:.4g})" if lost else "n"
        return None, f"± {top * scale:.4g} / {below}, n rows behind it; at most {2 * h * scale:.4g}"
    if rows <= lost:
        return 2 * h * scale, f"± {2 * h * scale:.4g}: noise may hide all {rows} rows"
    return _plus_minus(min(top / (rows - lost), 2 * h) * scale)


def _variance(recipe: Recipe, parts: list[Noised], rows: int | None, confidence: float) -> Errors:
    total, squares, count = parts
    h, off, grid = float(total.measure.reach), float(recipe.parameters[0]), 4.0**-total.measure.grid
    root = recipe.function == "std"
    share = 1 - (1 - confidence) / 3
    s, q, lost = total.error(share), squares.error(share), count.error(share)
    # With m, p the true means of v - c and its square, and all divided by n + c >= n - lost: Q/N - (S/N)**2 moves by
    # (q - p c - 2 m (s - m c)) - (s - m c)**2 / (n + c), where |m| <= h, p <= h**2 and |2 m**2 - p| <= h**2.
    top = q + 2 * h * s + h * h * lost
    most = h * h * (1 + off)

    def shown(x: float) -> float:
        # |sqrt(a) - sqrt(b)| <= sqrt(|a - b|), whatever the variance is.
        return (x * grid) ** 0.5 if root else x * grid

    if rows is None:
        text = f"{top * grid:.4g} / (n - {lost:.4g})"
        return None, f"± {f'the root of {text}' if root else text}, n rows behind it; at most {shown(most):.4g}"
    n = rows - lost
    if n <= 1 + off:
        return shown(most), f"± {shown(most):.4g}: noise may hide all {rows} rows"
    moved = min(h * h, top / n + ((s + h * lost) / n) ** 2) * n / (n - off)
    moved += off * h * h * lost / ((n - 1) * (rows - 1))  # n / (n - 1) is off, too
    return _plus_minus(shown(min(moved, most)))


_ERRORS: Mapping[str, Callable[[Recipe, list[Noised], int | None, float], Errors]] = {
    "count": _count,
    "count_distinct": _count,
    "top_k": _count,
    "sum": _sum,
    "mean": _mean,
    "variance": _variance,
    "std": _variance,
    "tree": _tree,
}


def reached(found: Sequence[Expected], wanted: Within) -> bool | str:
    """Whether a wanted accuracy is met; the name of an output whose error is not known, if one is not."""
    asked = [e for e in found if wanted.output in (None, e.output)]
    unknown = [e.output for e in asked if e.value is None]
    return unknown[0] if unknown else all((e.value or 0) <= rational(wanted.error) for e in asked)
