"""Exact limits on two chances, and all that was tried paid for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Chances = NDArray[np.float64]


def at_least(yes: Any, of: int, miss: float) -> Chances:
    """The least chance that is compatible with ``yes`` of ``of`` runs, but for a chance of ``miss``.

    Guarantee: the exact one-sided limit for a binomial chance [CP34].

    >>> at_least([0, 10], 10, 0.05).round(4)
    array([0.    , 0.7411])
    """
    from scipy.special import betaincinv

    k = np.asarray(yes, np.float64)
    return np.where(k > 0, betaincinv(np.maximum(k, 1), of - k + 1, miss), 0.0)


def at_most(yes: Any, of: int, miss: float) -> Chances:
    """The largest chance that is compatible with ``yes`` of ``of`` runs, but for a chance of ``miss``.

    >>> at_most([0, 10], 10, 0.05).round(4)
    array([0.2589, 1.    ])
    """
    from scipy.special import betainccinv

    k = np.asarray(yes, np.float64)
    return np.where(k < of, betainccinv(k + 1, np.maximum(of - k, 1), miss), 1.0)


def nearly(yes: Any, of: Any, miss: float, side: int) -> Chances:
    """The same limits by a formula [Wil27]: fast, and good enough to choose what to certify."""
    from scipy.special import ndtri

    k, z = np.asarray(yes, np.float64), -float(ndtri(miss))
    middle, spread = k + z * z / 2, z * np.sqrt(np.maximum(k * (of - k) / of, 0) + z * z / 4)
    return np.asarray(np.clip((middle + side * spread) / (of + z * z), 0.0, 1.0))
