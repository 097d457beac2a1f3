"""Learning from people who trust nobody: linear models trained on locally private gradients."""

from curador.errors import CuradorError

try:
    import sklearn  # noqa: F401  asked for here, so that its absence has one message
except ImportError:
    raise CuradorError(
        "Local learning needs scikit-learn, which is not installed.", fix="Run: pip install 'curador[learn]'"
    ) from None

from curador.local.learn.models import LocalLinearRegression, LocalLinearSVC, LocalLogisticRegression
from curador.local.learn.participant import Participant
from curador.local.learn.randomizers import GradientRandomizer, gradient_randomizer
from curador.local.learn.rounds import Round, Scale
from curador.local.learn.schedule import Schedule, group_size, make_schedule

__all__ = [
    "GradientRandomizer",
    "LocalLinearRegression",
    "LocalLinearSVC",
    "LocalLogisticRegression",
    "Participant",
    "Round",
    "Scale",
    "Schedule",
    "gradient_randomizer",
    "group_size",
    "make_schedule",
]
