"""The public names of local privacy, each with its file; type checkers and the lazy loader read it."""

from .collect.comparison import Difference as Difference
from .collect.comparison import compare as compare
from .frequency.dbitflip import DBitFlip as DBitFlip
from .frequency.dbitflip import PartFrequencies as PartFrequencies
from .frequency.estimates import Frequencies as Frequencies
from .frequency.estimates import Projected as Projected
from .frequency.hadamard import Hadamard as Hadamard
from .frequency.krr import KRR as KRR
from .frequency.local_hashing import OLH as OLH
from .frequency.planning import best_oracle as best_oracle
from .frequency.planning import users_needed as users_needed
from .frequency.subset import SubsetSelection as SubsetSelection
from .frequency.unary import OUE as OUE
from .frequency.unary import SUE as SUE
from .numeric.base import Mean as Mean
from .numeric.duchi import Duchi as Duchi
from .numeric.hybrid import Hybrid as Hybrid
from .numeric.laplace import LocalLaplace as LocalLaplace
from .numeric.piecewise import Piecewise as Piecewise
from .numeric.record import Choice as Choice
from .numeric.record import Range as Range
from .numeric.record import Record as Record
from .numeric.record import RecordEstimate as RecordEstimate
from .numeric.square_wave import SquareWave as SquareWave
from .numeric.unfold import Distribution as Distribution
from .numeric.vector import DuchiVector as DuchiVector
from .numeric.vector import Means as Means
from .repeated.longitudinal import Device as Device
from .repeated.longitudinal import Longitudinal as Longitudinal
from .repeated.shuffle import Shuffled as Shuffled
from .repeated.shuffle import shuffled as shuffled
from .repeated.shuffle import shuffled_delta as shuffled_delta
from .task.build import build_task as build_task
from .task.estimate import LocalEstimate as LocalEstimate
from .task.tally import Tally as Tally
from .task.task import Task as Task
from .task.task import task_from_json as task_from_json
from .unlisted.heavy_hitters import HeavyHitters as HeavyHitters
from .unlisted.prefix_search import Hitters as Hitters
from .unlisted.rappor import Rappor as Rappor
from .unlisted.regress import Regressed as Regressed
from .unlisted.sketch import CountMean as CountMean
from .unlisted.sketch import HadamardCountMean as HadamardCountMean
from .unlisted.sketch import Sketched as Sketched

__all__: list[str]
