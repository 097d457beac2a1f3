"""Attacks that put a floor under what is claimed; on Curador from outside, and on what others called anonymous.

Reading order:

* finding — what an attack found about one claim
* chances — what counts say about chances
* tester — a black box against its claim, from its outputs on two neighbours
* replay — a run repeated on neighbours with the noise frozen
* models — canaries, shadow models and guesses against a trained model
* doors — attacks on questions, written once as data and run through any door on any engine
* stage — a real curator over made-up rows
* reconstruction — secret bits from counts
* linkage — people found in tables without names
* game — the decision game, played; and noise that is cut off

Every public name is declared once, in ``__init__.pyi``, and loaded when first used.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
