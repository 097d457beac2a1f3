"""The classes of a model are those of its labels."""

from typing import Any

import numpy as np

from curador.audit.finding import Finding
from curador.audit.replay.fits import replay_fit
from curador.learn import GaussianNB

KIND = "control-flow"
CLASSES = [0, 1]


class Labelled(GaussianNB):
    """Reads its classes from what it is given."""

    def fit(self, X: Any, y: Any = None) -> "Labelled":
        self.classes = sorted({label for label in y if label is not None})
        super().fit(X, y)
        return self


def audit(sound: bool) -> Finding:
    kind = GaussianNB if sound else Labelled
    rows, labels = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    return replay_fit(lambda: kind(epsilon=1, bounds=(0, 40), classes=CLASSES), rows, labels, labels=[1, 7])
