"""Privacy-loss distributions: epsilon and delta of any mix of events, bounded from both sides.

Reading order:

* cells — a pair of laws cut into intervals of privacy loss
* pairs — pairs of laws that dominate an event
* noise_pairs — the dominating pair of each kind of noise
* sampled_normal — Gaussian noise on a sample of the units
* rules — the pair of each event
* extremes — bounds from the largest losses alone
* spectrum — sums of losses as characteristic functions
* window — the tilt, the window and the frequencies for a tolerance
* profile — delta as a function of epsilon, from a spectrum
* solve — epsilon for a delta, delta for an epsilon
* calibration — the least noise for a guarantee
* incremental — a distribution to which events are added one by one
"""

from curador.accounting.bracket import Bracket
from curador.accounting.pld.calibration import calibrate
from curador.accounting.pld.incremental import IncrementalPLD
from curador.accounting.pld.solve import LEAST_DELTA, delta, epsilon, upper_deltas, upper_epsilon

__all__ = ["LEAST_DELTA", "Bracket", "IncrementalPLD", "calibrate", "delta", "epsilon", "upper_deltas", "upper_epsilon"]
