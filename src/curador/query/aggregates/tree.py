"""Counts over a public tree, noised at every level and then made to agree: a small TopDown.

Every level of the tree (the root is level 0) is noised with its own share.  Afterwards, as post-processing:

* from the leaves up, every node's own noisy count and the sum of its children are averaged by their variances;
* from the root down, the children of a node are moved to add up to it, each in proportion to its variance and none
  below zero; totals that are public already are kept as they are.

Without the bound at zero this is the least-squares fit of all counts [HRMS10].  No invariant is taken from the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from curador.errors import QuestionRefused
from curador.forks import cached_property
from curador.query.aggregates.base import Array, Estimate, NoisyMeasure, Part, Recipe, as_reals, register
from curador.query.aggregates.counts import CountFunction
from curador.query.aggregates.measure import MeasureKind
from curador.query.language.expressions import Expr

Path = tuple[str, ...]


@dataclass(frozen=True)
class Hierarchy:
    """The nodes of a tree by level, from its leaves, and the totals that are public.

    >>> tree = Hierarchy((("Galicia", "Lugo"), ("Galicia", "Vigo"), ("Murcia", "Lorca")), ((("Galicia",), 80),))
    >>> [len(tree.nodes(level)) for level in range(3)], tree.walk[:3]
    ([1, 2, 3], ((), ('Galicia',), ('Galicia', 'Lugo')))
    """

    leaves: tuple[Path, ...]
    totals: tuple[tuple[Path, int], ...] = ()

    def __post_init__(self) -> None:
        self._check(())

    @property
    def depth(self) -> int:
        """The level of the leaves."""
        return len(self.leaves[0])

    def nodes(self, level: int) -> tuple[Path, ...]:
        """The nodes of a level, in the order of the leaves."""
        return tuple(dict.fromkeys(leaf[:level] for leaf in self.leaves))

    @cached_property
    def children(self) -> Mapping[Path, tuple[Path, ...]]:
        """The nodes right below each node that is not a leaf."""
        found: dict[Path, list[Path]] = {}
        for level in range(1, self.depth + 1):
            for node in self.nodes(level):
                found.setdefault(node[:-1], []).append(node)
        return {node: tuple(below) for node, below in found.items()}

    @property
    def walk(self) -> tuple[Path, ...]:
        """Every node, each followed by those below it."""
        return tuple(self._below(()))

    def _below(self, node: Path) -> list[Path]:
        return [node, *(x for child in self.children.get(node, ()) for x in self._below(child))]

    @cached_property
    def known(self) -> Mapping[Path, int]:
        """The public totals, by path."""
        return dict(self.totals)

    def measured(self, level: int) -> bool:
        """Whether a level needs noise: some node of it has no public total."""
        return any(node not in self.known for node in self.nodes(level))

    def gather(self, counts: Sequence[int], level: int) -> list[int]:
        """The counts of a level's nodes from those of the leaves, exactly."""
        found = dict.fromkeys(self.nodes(level), 0)
        for leaf, n in zip(self.leaves, counts, strict=True):
            found[leaf[:level]] += int(n)
        return list(found.values())

    def _check(self, node: Path) -> tuple[int, bool]:
        """The least a node can hold by the totals at and below it, and whether they fix it; refuses contradictions."""
        below = [self._check(child) for child in self.children.get(node, ())]
        least, fixed = sum(n for n, _ in below), bool(below) and all(f for _, f in below)
        if node not in self.known:
            return least, fixed
        total = self.known[node]
        if least > total or (fixed and least != total):
            raise QuestionRefused(
                f"The totals below {'/'.join(node) or 'the root'!r} add up to {least}, and its own is {total}.",
                fix="Give public totals that agree, or fewer of them.",
            )
        return total, True


def fit(tree: Hierarchy, noisy: Mapping[int, tuple[Array, float]]) -> dict[Path, float]:
    """Counts of all nodes that agree, are not negative and keep the public totals.

    ``noisy`` has for each level that was measured its noisy counts and the variance of their noise; the leaves always.

    >>> tree = Hierarchy((("a", "x"), ("a", "y"), ("b", "z")), (((), 100),))
    >>> found = fit(tree, {1: (np.array([70.0, 40.0]), 1.0), 2: (np.array([72.0, -2.0, 40.0]), 1.0)})
    >>> found[()], round(found[("a",)] + found[("b",)], 9), found[("a", "y")]
    (100.0, 100.0, 0.0)
    """
    guess: dict[Path, float] = {}
    spread: dict[Path, float] = {}
    for level in range(tree.depth, -1, -1):
        own = noisy.get(level)
        for i, node in enumerate(tree.nodes(level)):
            below = tree.children.get(node, ())
            parts = [(guess[child], spread[child]) for child in below]
            added = (sum(x for x, _ in parts), sum(v for _, v in parts)) if parts else None
            mine = None if own is None else (float(own[0][i]), own[1])
            guess[node], spread[node] = (tree.known[node], 0.0) if node in tree.known else _averaged(mine, added)
    out: dict[Path, float] = {(): max(0.0, float(guess[()]))}
    for level in range(tree.depth):
        for node in tree.nodes(level):
            below = tree.children[node]
            moved = share_out(out[node], np.array([guess[c] for c in below]), np.array([spread[c] for c in below]))
            out |= dict(zip(below, moved.tolist(), strict=True))
    return out


NodeValue = tuple[float, float]


def _averaged(own: NodeValue | None, added: NodeValue | None) -> NodeValue:
    """Two estimates of one count as one, by their variances."""
    if own is None or added is None or added[1] == 0:
        found = added if own is None or (added is not None and added[1] == 0) else own
        assert found is not None
        return found
    (x, v), (y, w) = own, added
    return (x * w + y * v) / (v + w), v * w / (v + w)


def share_out(total: float, guess: Array, spread: Array) -> Array:
    """The counts nearest to a guess that add up to a total, none below zero; those without spread stay.

    Nearest means least in the sum of (x - guess)**2 / spread: then x = max(0, guess + c * spread) for some c.

    >>> share_out(10.0, np.array([8.0, 4.0, -3.0]), np.array([1.0, 1.0, 1.0]))
    array([7., 3., 0.])
    >>> share_out(10.0, np.array([8.0, 4.0]), np.array([1.0, 0.0]))
    array([6., 4.])
    """
    free = spread > 0
    out = guess.copy()
    left = max(0.0, total - float(guess[~free].sum()))
    x, v = guess[free], spread[free]
    if not x.size:
        return out
    # Counts become positive one after another as c grows, the one with the least -x / v first.
    order = np.argsort(-x / v, kind="stable")
    c = (left - np.cumsum(x[order])) / np.cumsum(v[order])
    # With the first k positive, c must reach beyond the k-th's turn; the last k for which it does is the one.
    turns = (-x / v)[order]
    k = int(np.flatnonzero(c >= turns)[-1]) if (c >= turns).any() else 0
    out[free] = np.maximum(0.0, x + c[k] * v)
    return out


# ---- as an aggregate -------------------------------------------------------------------------------------------------


def over_tree(recipe: Recipe, tree: Hierarchy, levels: Sequence[Expr]) -> Recipe:
    """A count at every level of a tree whose nodes are not all public already; the leaves come last."""
    base = recipe.measures[0]
    if recipe.function not in ("count", "count_distinct") or base.kind not in (MeasureKind.ROWS, MeasureKind.PRESENT):
        raise QuestionRefused(
            f"{recipe.name!r} is a {recipe.function}; over a tree rows are counted.",
            fix="Use count(), or ask for the rest with group_by().",
        )
    depths = [depth for depth in range(tree.depth) if tree.measured(depth)]
    above = [replace(base, level=tuple(levels[:depth]), nodes=len(tree.nodes(depth))) for depth in depths]
    measures = (*above, base)
    return replace(recipe, function="tree", measures=measures, effect=(1.0,) * len(measures), tree=tree)


class TreeFunction(CountFunction):
    """Counts that agree over a tree; a node's interval is that of its own noise, stretched to hold the fitted count."""

    name = "tree"

    def takes(self, parameters: tuple[Fraction, ...]) -> bool:
        return False  # no question names it: a count becomes one over a declared tree

    def weights(self, recipe: Recipe) -> tuple[float, ...] | None:
        return None

    def estimate(self, recipe: Recipe, parts: Sequence[Part], confidence: float) -> Estimate:
        tree = recipe.tree
        assert tree is not None
        by_level = {tree.depth if p.measure.level is None else len(p.measure.level): (x, p) for x, p in parts}
        noisy = {
            level: (as_reals(x), 0.0 if p.mechanism is None else p.mechanism.variance)
            for level, (x, p) in by_level.items()
        }
        found = fit(tree, noisy)
        ends: dict[Path, tuple[float, float]] = {}
        for level, (x, p) in by_level.items():
            reach = p.error(confidence)
            for node, y in zip(tree.nodes(level), x.tolist(), strict=True):
                ends[node] = (min(max(0.0, y - reach), found[node]), max(y + reach, found[node]))
        ends |= {node: (float(n), float(n)) for node, n in tree.known.items()}
        walk = tree.walk
        low, high = (tuple(ends[node][i] for node in walk) for i in (0, 1))
        return Estimate(recipe.name, tuple(found[node] for node in walk), low, high)

    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        return max(p.error(confidence) for p in parts)  # before the levels are made to agree


register(TreeFunction())
