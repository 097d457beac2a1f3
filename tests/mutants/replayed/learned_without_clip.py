"""The real DP-SGD of curador.learn, with rows cut to ten times the length that its noise is for."""

from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np

from curador.audit.finding import Finding
from curador.audit.replay.fits import replay_fit
from curador.learn import LogisticRegression
from curador.learn.descent import sampled, whitened

KIND = "distance"
CUT = whitened.lengths_cap


def ten_times(design: Any, units: int) -> Any:
    """As if the clip were ten times as long."""
    return CUT(design, 10 * units)


def audit(sound: bool) -> Finding:
    rows, labels = np.arange(60.0).reshape(20, 3), np.arange(20) % 2
    settings: dict[str, Any] = {"solver": "sgd", "rows": 20, "steps": 4, "sample_rate": "1/8", "noise_multiplier": 2}
    model = LogisticRegression(delta=1e-5, bounds=(0, 60), classes=[0, 1], clip="1/4", **settings)
    with nullcontext() if sound else patch.object(sampled, "lengths_cap", ten_times):
        return replay_fit(lambda: model, rows, labels, labels=[1])
