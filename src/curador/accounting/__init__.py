"""From events to guarantees: pure functions without data, entropy or state.

Reading order:

* events — what was run
* bracket — a lower and an upper bound
* account — epsilon, delta, profile and trade-off of events fixed in advance, by any of five accountants
* rules — one rule per event for each kind of account
* pld — privacy-loss distributions, the tight accountant
* theorems — events that rest on a theorem of their own: batches as trained, pairs of laws, repetitions
* composition — sums of guarantees: basic, advanced, parallel
* optimal — the best composition theorem for equal guarantees
* convert — conversions between kinds of guarantee
* filters — budgets under adaptively chosen queries and costs
* calibration — the noise for a guarantee, the epsilon for an accuracy
* meaning — what a guarantee means for a person: odds, errors, harm
* finite — any mechanism with finitely many inputs and outputs, exactly
* course — statements of the course that nothing else needs
* precise — closed forms to as many digits as they need
"""

from curador.accounting.account import decision, delta, epsilon, posterior, profile, tradeoff
from curador.accounting.bracket import Bracket
from curador.accounting.calibration import calibrate, for_accuracy, how_many, keeps
from curador.accounting.composition import basic, parallel, post_process
from curador.accounting.events import NOTHING, Event, compose, event_from_json
from curador.accounting.finite import FiniteMechanism
from curador.accounting.rules.groups import for_group, group
from curador.accounting.rules.renyi import renyi
from curador.accounting.theorems import (
    BallsInBins,
    LawPair,
    PoissonRepeatAndSelect,
    RepeatAndSelect,
    ShuffledBatches,
    TruncatedPoissonSampled,
    banded_event,
    matrix_event,
    tree_encoder,
)

__all__ = [
    "NOTHING",
    "BallsInBins",
    "Bracket",
    "Event",
    "FiniteMechanism",
    "LawPair",
    "PoissonRepeatAndSelect",
    "RepeatAndSelect",
    "ShuffledBatches",
    "TruncatedPoissonSampled",
    "banded_event",
    "basic",
    "calibrate",
    "compose",
    "decision",
    "delta",
    "epsilon",
    "event_from_json",
    "for_accuracy",
    "for_group",
    "group",
    "how_many",
    "keeps",
    "matrix_event",
    "parallel",
    "post_process",
    "posterior",
    "profile",
    "renyi",
    "tradeoff",
    "tree_encoder",
]
