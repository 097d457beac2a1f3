"""From events to guarantees: pure functions without data, entropy or state.

Reading order:

* events — descriptions of mechanisms that were run
* bracket — a lower and an upper bound
* account — epsilon, delta, profile and trade-off of events fixed in advance, by any of five accountants
* rules — one rule per event for each kind of account
* pld — privacy-loss distributions, the tight accountant
* theorems — events with a theorem of their own: batches as trained, pairs of laws, repetitions
* composition — sums of guarantees: basic, advanced, parallel
* optimal — the best composition theorem for equal guarantees
* convert — conversions between kinds of guarantee
* filters — budgets under adaptively chosen queries and costs
* calibration — the noise for a guarantee, the epsilon for an accuracy
* meaning — what a guarantee means for a person: odds, errors, harm
* finite — any mechanism with finitely many inputs and outputs, exactly
* course — statements of the course that no other part needs
* precise — closed forms to as many digits as they need

Every public name is declared once, in ``__init__.pyi``, and loaded when first used.  A charge needs the price of its
event, but none of the accountants that report.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
