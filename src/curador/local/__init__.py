"""Local differential privacy: randomizers on the device, estimators at the collector."""

from curador.local.duchi import Duchi
from curador.local.frequencies import Frequencies, Projected, Tally
from curador.local.hadamard import Hadamard
from curador.local.hashing import OLH
from curador.local.hybrid import Hybrid
from curador.local.krr import KRR
from curador.local.laplace import LocalLaplace
from curador.local.numeric import Mean
from curador.local.piecewise import Piecewise
from curador.local.planning import best_oracle, users_needed
from curador.local.record import Range, Record
from curador.local.subset import SubsetSelection
from curador.local.task import Task, task_from_json
from curador.local.unary import OUE, SUE
from curador.local.vector import DuchiVector, Means

__all__ = [
    "KRR",
    "OLH",
    "OUE",
    "SUE",
    "Duchi",
    "DuchiVector",
    "Frequencies",
    "Hadamard",
    "Hybrid",
    "LocalLaplace",
    "Mean",
    "Means",
    "Piecewise",
    "Projected",
    "Range",
    "Record",
    "SubsetSelection",
    "Tally",
    "Task",
    "best_oracle",
    "task_from_json",
    "users_needed",
]
