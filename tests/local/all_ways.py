"""The exact law of a randomizer whose coins are drawn in several modules."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from typing import Any
from unittest.mock import patch

from tests.local.exact_law import Law, Tree


def law_of(run: Callable[[], Any], *modules: str) -> Law:
    """The probability of each result of a program that draws ``coins`` and ``uniform`` through these modules."""
    tree, found = Tree(), dict[Any, Fraction]()
    with ExitStack() as stack:
        for module in modules:
            where = importlib.import_module(module)
            for name in ("coins", "uniform"):
                if hasattr(where, name):
                    stack.enter_context(patch.object(where, name, getattr(tree, name)))
        while True:
            tree.begin()
            out = run()
            found[out] = found.get(out, Fraction(0)) + tree.chance
            if not tree.advance():
                return found
