"""The public names of local learning, each with its file; type checkers and the lazy loader read it."""

from .expected import NoisyModelWarning as NoisyModelWarning
from .expected import noise_loss as noise_loss
from .models import LocalLinearRegression as LocalLinearRegression
from .models import LocalLinearSVC as LocalLinearSVC
from .models import LocalLogisticRegression as LocalLogisticRegression
from .participant import Participant as Participant
from .randomizers import GradientRandomizer as GradientRandomizer
from .randomizers import gradient_randomizer as gradient_randomizer
from .rounds import Round as Round
from .rounds import Scale as Scale
from .schedule import Schedule as Schedule
from .schedule import group_size as group_size
from .schedule import make_schedule as make_schedule

__all__: list[str]
