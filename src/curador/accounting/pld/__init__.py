"""Privacy-loss distributions: epsilon and delta of any mix of events, bounded from both sides."""

from curador.accounting.bracket import Bracket
from curador.accounting.pld.calibration import calibrate
from curador.accounting.pld.incremental import IncrementalPLD
from curador.accounting.pld.solve import delta, epsilon, upper_epsilon

__all__ = ["Bracket", "IncrementalPLD", "calibrate", "delta", "epsilon", "upper_epsilon"]
