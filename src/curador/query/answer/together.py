"""Tables of one batch that are about the same rows, made to agree: the total of each is the total of all.

Tables agree before noise where they are about the same rows, nothing is cut from a unit, and every row is in a group of
each.  Then they are margins of one table, and are fitted together by least squares, each with its own noise: free, for
nothing is read but what was released (docs/proofs/consistent.md, section 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.forks import cached_property
from curador.mechanisms.intervals import NoiseSum
from curador.query.aggregates.consistent import Axes, KeyTable, Margins, few_parts
from curador.query.aggregates.measure import ADDED_UP, Measure
from curador.query.answer.fitted import Fitted, Laws, MadeOf, set_axes
from curador.query.answer.noisy import GroupKey, NoisyCounts
from curador.query.language.expressions import Expr
from curador.query.plan.identity import text_of
from curador.query.plan.plan import Plan
from curador.query.plan.steps import Noised

MOST_NUMBERS = 16_384
"""The most numbers (as so many counts), times tables, that are made to agree: it is free, and takes time for each."""


@dataclass(frozen=True)
class Family:
    """Plans, by name, whose tables are margins of one table: which has one axis for each column that one groups by."""

    plans: Mapping[str, Plan]

    @cached_property
    def _axes(self) -> dict[Expr, int]:
        found: dict[Expr, int] = {}
        for plan in self.plans.values():
            for group in plan.question.group_by:
                found.setdefault(group.expr, len(found))
        return found

    @cached_property
    def _values(self) -> tuple[dict[Any, int], ...]:
        """The keys of each axis, by their place."""
        keys: dict[int, dict[Any, int]] = {}
        for plan in self.plans.values():
            for group, t in zip(plan.question.group_by, plan.checked.groups, strict=True):
                keys[self._axes[group.expr]] = {key: i for i, key in enumerate(t.domain or ())}
        return tuple(keys[i] for i in range(len(keys)))

    @cached_property
    def _tables(self) -> dict[Measure, list[tuple[str, Noised]]]:
        """The tables of each measure that adds up and more than one plan has noised; the others stay as they are."""
        found: dict[Measure, list[tuple[str, Noised]]] = {}
        for name, plan in self.plans.items():
            for step in plan.steps:
                if isinstance(step, Noised) and step.measure.kind in ADDED_UP:
                    found.setdefault(step.measure.of_groups, []).append((name, step))
        return {m: tables for m, tables in found.items() if len({name for name, _ in tables}) > 1}

    @property
    def adjusted(self) -> frozenset[str]:
        """The plans of which some numbers are adjusted."""
        return frozenset(name for tables in self._tables.values() for name, _ in tables)

    @property
    def small(self) -> bool:
        """Whether it can be fitted: what that takes grows with the parts of all its tables, and with their numbers.

        Each number is then a sum of noises of all tables.
        """
        numbers = sum(plan.checked.work for plan in self.plans.values()) * len(self.plans)
        return numbers <= MOST_NUMBERS and few_parts(self._of(one) for name in self.plans for one in self._sets(name))

    def _groups(self, name: str, step: Noised) -> Sequence[Expr]:
        """What a table is grouped by, in the order of its plan."""
        groups = [g.expr for g in self.plans[name].question.group_by]
        return groups if step.measure.level is None else [e for e in groups if e in step.measure.level]

    def _of(self, groups: Iterable[Expr]) -> Axes:
        return tuple(sorted(self._axes[e] for e in groups))

    def _margins(self, m: Measure) -> Margins:
        noised = [
            (self._of(self._groups(name, step)), 0.0 if step.mechanism is None else step.mechanism.variance)
            for name, step in self._tables[m]
        ]
        return Margins(tuple(map(len, self._values)), tuple(noised))

    def _places(self, groups: Sequence[Expr], nodes: Sequence[tuple[Any, ...]]) -> NDArray[np.int64]:
        """Where the nodes of a table stand in an array of its axes, laid out in a row."""
        found = np.zeros(len(nodes), np.int64)
        for axis in self._of(groups):
            place, values = next(i for i, e in enumerate(groups) if self._axes[e] == axis), self._values[axis]
            found = found * len(values) + np.fromiter((values[node[place]] for node in nodes), np.int64, len(nodes))
        return found

    def _shaped(self, name: str, step: Noised, noisy: NoisyCounts) -> NDArray[Any]:
        groups = self._groups(name, step)
        local = self.plans[name].question.axes(groups)
        x = noisy.measured[step.measure]
        out = np.empty_like(x)
        out[self._places(groups, KeyTable(noisy.keys).nodes(local))] = x
        return out.reshape([len(self._values[i]) for i in self._of(groups)])

    def fitted(self, noisy: Mapping[str, NoisyCounts], alone: Mapping[str, Fitted]) -> dict[str, Fitted]:
        """The rows of the plans that are adjusted, from the measurements of all; ``alone`` is what each says by itself.

        Guarantee: post-processing [DR14]; numbers of one measure agree exactly in all tables.
        """
        wanted = {name: self._sets(name) for name in self.plans}
        found: dict[str, dict[Measure, NDArray[Any]]] = {name: {} for name in self.plans}
        moved: dict[Measure, float] = {}
        for m, tables in self._tables.items():
            shaped = [self._shaped(name, step, noisy[name]) for name, step in tables]
            names = dict.fromkeys(name for name, _ in tables)
            margins = self._margins(m)
            fit = margins.fitted(shaped, [self._of(one) for name in names for one in wanted[name]])
            moved[m] = margins.moved(fit)
            for name in names:
                each = [
                    fit[self._of(one)].reshape(-1)[self._places(one, self._nodes(name, one))] for one in wanted[name]
                ]
                found[name][m] = np.concatenate(each)
        return {name: self._row_laws(name, found[name], alone[name], moved) for name in self.adjusted}

    def _sets(self, name: str) -> list[Sequence[Expr]]:
        """What each of a plan's grouping sets groups by; one set where there is a plain list."""
        plan = self.plans[name]
        groups = [g.expr for g in plan.question.group_by]
        return [[groups[i] for i in axes] for axes in set_axes(plan)] or [groups]

    def _nodes(self, name: str, groups: Sequence[Expr]) -> tuple[tuple[Any, ...], ...]:
        plan = self.plans[name]
        return KeyTable(plan.checked.keys or ((),)).nodes(plan.question.axes(groups))

    def laws(self, name: str, alone: Sequence[Laws], moved: Mapping[Measure, float] | None = None) -> list[Laws]:
        """The laws of a plan's numbers in each of its grouping sets, from those that it has by itself.

        ``moved`` is how far the numbers of a measure were moved onto a grid, where they are known.
        """
        found: list[Laws] = []
        for groups, own in zip(self._sets(name), alone, strict=True):
            laws = dict(own)
            for m, tables in self._tables.items():
                if any(of == name for of, _ in tables):
                    margins = self._margins(m)
                    noises = [step.mechanism for _, step in tables]
                    terms = margins.terms(self._of(groups), noises)
                    rounded = max(margins.rounded, (moved or {}).get(m, 0.0))
                    laws[m] = MadeOf(m, NoiseSum(tuple(terms), rounded) if terms else None, rounded)
            found.append(laws)
        return found

    def _row_laws(
        self, name: str, measured: Mapping[Measure, NDArray[Any]], alone: Fitted, moved: Mapping[Measure, float]
    ) -> Fitted:
        sizes = [len(self._nodes(name, groups)) for groups in self._sets(name)]
        ends = np.cumsum([0, *sizes])
        own = [laws for _, laws in alone.classes]
        classes = tuple(
            (np.arange(first, last), laws)
            for first, last, laws in zip(ends[:-1], ends[1:], self.laws(name, own, moved), strict=True)
        )
        keys: tuple[GroupKey, ...] = alone.keys
        return Fitted(keys, {**alone.measured, **measured}, alone.ranked, classes, joint=True, near=alone.near)


def families(plans: Mapping[str, Plan]) -> tuple[list[Family], dict[str, str]]:
    """The plans of a batch that are made to agree; and of those about rows of another, why one is not, as a code.

    Only declarations count: no numbers are looked at.
    """
    about: dict[str, dict[str, Plan]] = {}
    for name, plan in plans.items():
        rows = plan.question.rows
        code = [rows.table, None if rows.source is None else rows.source.to_json(), [j.to_json() for j in rows.joins]]
        about.setdefault(text_of([*code, rows.where]), {})[name] = plan
    found: list[Family] = []
    apart: dict[str, str] = {}
    for alike in about.values():
        if len(alike) > 1:
            reasons = {name: why for name, plan in alike.items() if (why := _apart(plan))}
            fits = {name: plan for name, plan in alike.items() if name not in reasons}
            apart |= reasons
            family = Family(fits)
            if not family.small:
                apart |= dict.fromkeys(fits, "apart-large")
            elif family.adjusted:
                found.append(family)
    return found, apart


def _apart(plan: Plan) -> str:
    """Why a table does not agree with others of the same rows before noise; empty where it does."""
    question = plan.question
    if len({g.expr for g in question.group_by}) < len(question.group_by):  # the same twice, under two names
        return "apart-otherwise"
    if question.tree is not None or plan.checked.keys is None or any(r.top is not None for r in plan.recipes):
        return "apart-otherwise"
    if not plan.checked.rows.single:
        return "apart-cut"
    return "" if plan.checked.every_row else "apart-null"
