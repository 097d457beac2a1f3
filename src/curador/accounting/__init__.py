"""Events to guarantees: pure functions, no data, no entropy, no state."""

from curador.accounting.account import decision, delta, epsilon, posterior, profile, tradeoff
from curador.accounting.bracket import Bracket
from curador.accounting.calibration import calibrate, for_accuracy, how_many, keeps
from curador.accounting.composition import basic, parallel, post_process
from curador.accounting.events import NOTHING, Event, compose, event_from_json
from curador.accounting.finite import FiniteMechanism
from curador.accounting.rules.groups import for_group, group
from curador.accounting.rules.renyi import renyi

__all__ = [
    "NOTHING",
    "Bracket",
    "Event",
    "FiniteMechanism",
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
    "parallel",
    "post_process",
    "posterior",
    "profile",
    "renyi",
    "tradeoff",
]
