"""Local differential privacy: randomizers on the device, estimators at the collector."""

from curador.local.frequency.dbitflip import DBitFlip, PartFrequencies
from curador.local.frequency.estimates import Frequencies, Projected
from curador.local.frequency.hadamard import Hadamard
from curador.local.frequency.krr import KRR
from curador.local.frequency.local_hashing import OLH
from curador.local.frequency.planning import best_oracle, users_needed
from curador.local.frequency.subset import SubsetSelection
from curador.local.frequency.unary import OUE, SUE
from curador.local.numeric.base import Mean
from curador.local.numeric.duchi import Duchi
from curador.local.numeric.hybrid import Hybrid
from curador.local.numeric.laplace import LocalLaplace
from curador.local.numeric.piecewise import Piecewise
from curador.local.numeric.record import Choice, Range, Record
from curador.local.numeric.square_wave import SquareWave
from curador.local.numeric.unfold import Distribution
from curador.local.numeric.vector import DuchiVector, Means
from curador.local.repeated.longitudinal import Device, Longitudinal
from curador.local.repeated.shuffle import Shuffled, shuffled, shuffled_delta
from curador.local.task.tally import Tally
from curador.local.task.task import Task, task_from_json
from curador.local.unlisted.heavy_hitters import HeavyHitters
from curador.local.unlisted.prefix_search import Hitters
from curador.local.unlisted.rappor import Rappor
from curador.local.unlisted.regress import Regressed
from curador.local.unlisted.sketch import CountMean, HadamardCountMean, Sketched

__all__ = [
    "KRR",
    "OLH",
    "OUE",
    "SUE",
    "Choice",
    "CountMean",
    "DBitFlip",
    "Device",
    "Distribution",
    "Duchi",
    "DuchiVector",
    "Frequencies",
    "Hadamard",
    "HadamardCountMean",
    "HeavyHitters",
    "Hitters",
    "Hybrid",
    "LocalLaplace",
    "Longitudinal",
    "Mean",
    "Means",
    "PartFrequencies",
    "Piecewise",
    "Projected",
    "Range",
    "Rappor",
    "Record",
    "Regressed",
    "Shuffled",
    "Sketched",
    "SquareWave",
    "SubsetSelection",
    "Tally",
    "Task",
    "best_oracle",
    "shuffled",
    "shuffled_delta",
    "task_from_json",
    "users_needed",
]
