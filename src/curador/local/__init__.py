"""Local differential privacy: randomizers on the device, estimators at the collector."""

from curador.local.dbitflip import DBitFlip, PartFrequencies
from curador.local.duchi import Duchi
from curador.local.frequencies import Frequencies, Projected
from curador.local.hadamard import Hadamard
from curador.local.hashing import OLH
from curador.local.hitters import HeavyHitters
from curador.local.hunt import Hitters
from curador.local.hybrid import Hybrid
from curador.local.krr import KRR
from curador.local.laplace import LocalLaplace
from curador.local.longitudinal import Device, Longitudinal
from curador.local.numeric import Mean
from curador.local.piecewise import Piecewise
from curador.local.planning import best_oracle, users_needed
from curador.local.rappor import Rappor
from curador.local.record import Choice, Range, Record
from curador.local.regress import Regressed
from curador.local.shuffle import Shuffled, shuffled, shuffled_delta
from curador.local.sketch import CountMean, HadamardCountMean, Sketched
from curador.local.squarewave import SquareWave
from curador.local.subset import SubsetSelection
from curador.local.tally import Tally
from curador.local.task import Task, task_from_json
from curador.local.unary import OUE, SUE
from curador.local.unfold import Distribution
from curador.local.vector import DuchiVector, Means

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
