"""Every mechanism has a code of its own, and the list of codes is exactly theirs."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from fractions import Fraction

import pytest

import curador.mechanisms
from curador.accounting.events import Event, PureLoss
from curador.mechanisms.base import KINDS, Mechanism
from curador.mechanisms.tree import ContinualCount


def mechanisms() -> Iterator[type[Mechanism]]:
    for module in pkgutil.iter_modules(curador.mechanisms.__path__, "curador.mechanisms."):
        for found in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(found) and issubclass(found, Mechanism) and found.__module__ == module.name:
                yield found


def test_kinds_are_unique_and_listed() -> None:
    concrete = [m for m in mechanisms() if not inspect.isabstract(m)]
    constant = [m.__dict__["kind"] for m in concrete if m is not ContinualCount]
    by_noise = [ContinualCount(8, epsilon=1).kind, ContinualCount(8, rho=1).kind, ContinualCount(8, sigma=1).kind]
    assert by_noise == ["tree-laplace", "tree-gaussian", "tree-gaussian"]
    found = [*constant, *by_noise[:2]]
    assert len(found) == len(set(found))
    assert set(found) == KINDS
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", kind) for kind in KINDS)


def test_a_mechanism_without_a_kind_cannot_be_made() -> None:
    class Nameless(Mechanism):
        @property
        def event(self) -> Event:
            return PureLoss(Fraction(1))

    with pytest.raises(TypeError, match="kind"):
        Nameless()  # type: ignore[abstract]
