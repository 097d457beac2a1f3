"""Events with a theorem of their own, one file each: the event, its conditions, and its rules.

Reading order:

* law_pair — a pair of laws, given exactly
* blends — one of several pairs at random
* allocation — the Rényi curve of a unit that is in one of several batches
* batches — shuffled epochs, balls in bins, Poisson samples with a cap
* group_samples — a group, or a person with several records, in a Poisson sample
* matrix — DP-FTRL, trees and banded factorisations: the sensitivity of an encoder
* repeats — private selection: the best of a random number of runs
"""

from curador.accounting.theorems.batches import BallsInBins, ShuffledBatches, TruncatedPoissonSampled
from curador.accounting.theorems.group_samples import GroupSampled
from curador.accounting.theorems.law_pair import LawPair
from curador.accounting.theorems.matrix import banded_event, encoder_sensitivity, matrix_event, tree_encoder
from curador.accounting.theorems.repeats import PoissonRepeatAndSelect, RepeatAndSelect

__all__ = [
    "BallsInBins",
    "GroupSampled",
    "LawPair",
    "PoissonRepeatAndSelect",
    "RepeatAndSelect",
    "ShuffledBatches",
    "TruncatedPoissonSampled",
    "banded_event",
    "encoder_sensitivity",
    "matrix_event",
    "tree_encoder",
]
