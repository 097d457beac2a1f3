"""Curador: a trusted curator that answers through differential privacy.

Every public name is here; each is loaded when first used, so that importing the package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curador import accounting as accounting
    from curador.curator import Curator as Curator
    from curador.ledger.opening import open_ledger as open_ledger
    from curador.mechanisms.gaussian import Gaussian as Gaussian
    from curador.mechanisms.gaussian import IntegerGaussian as IntegerGaussian
    from curador.mechanisms.gaussian import gaussian_mechanism as gaussian_mechanism
    from curador.mechanisms.gaussian import integer_gaussian_mechanism as integer_gaussian_mechanism
    from curador.mechanisms.intervals import combined_error as combined_error
    from curador.mechanisms.intervals import ratio_interval as ratio_interval
    from curador.mechanisms.keys import OptimalKeys as OptimalKeys
    from curador.mechanisms.laplace import IntegerLaplace as IntegerLaplace
    from curador.mechanisms.laplace import Laplace as Laplace
    from curador.mechanisms.laplace import integer_laplace_mechanism as integer_laplace_mechanism
    from curador.mechanisms.laplace import laplace_mechanism as laplace_mechanism
    from curador.mechanisms.laplace import local_laplace_mechanism as local_laplace_mechanism
    from curador.mechanisms.quantiles import Quantiles as Quantiles
    from curador.mechanisms.quantiles import median_mechanism as median_mechanism
    from curador.mechanisms.response import RandomizedResponse as RandomizedResponse
    from curador.mechanisms.response import randomized_response as randomized_response
    from curador.mechanisms.selection import ExponentialMechanism as ExponentialMechanism
    from curador.mechanisms.selection import PermuteAndFlip as PermuteAndFlip
    from curador.mechanisms.selection import ReportNoisyMax as ReportNoisyMax
    from curador.mechanisms.selection import TopK as TopK
    from curador.mechanisms.selection import exponential_mechanism as exponential_mechanism
    from curador.mechanisms.selection import permute_and_flip as permute_and_flip
    from curador.mechanisms.selection import report_noisy_max as report_noisy_max
    from curador.mechanisms.sparse_vector import AboveThreshold as AboveThreshold
    from curador.mechanisms.thresholded import ThresholdedGaussian as ThresholdedGaussian
    from curador.mechanisms.thresholded import ThresholdedLaplace as ThresholdedLaplace
    from curador.mechanisms.tree import ContinualCount as ContinualCount
    from curador.policy import Policy as Policy
    from curador.privacy import ZCDP as ZCDP
    from curador.privacy import ApproxDP as ApproxDP
    from curador.privacy import Neighbors as Neighbors
    from curador.privacy import PureDP as PureDP
    from curador.privacy import RenyiDP as RenyiDP
    from curador.privacy import Unit as Unit
    from curador.query.aggregates import bounds as bounds
    from curador.query.aggregates import count as count
    from curador.query.aggregates import count_distinct as count_distinct
    from curador.query.aggregates import histogram as histogram
    from curador.query.aggregates import maximum as maximum
    from curador.query.aggregates import mean as mean
    from curador.query.aggregates import median as median
    from curador.query.aggregates import minimum as minimum
    from curador.query.aggregates import quantiles as quantiles
    from curador.query.aggregates import std as std
    from curador.query.aggregates import sum_ as sum_
    from curador.query.aggregates import top_k as top_k
    from curador.query.aggregates import variance as variance
    from curador.query.columns import Column as Column
    from curador.query.expected import within as within
    from curador.query.schema import Table as Table
    from curador.stated import Analyst as Analyst

_ROOMS = {
    "privacy": ("ApproxDP", "Neighbors", "PureDP", "RenyiDP", "Unit", "ZCDP"),
    "mechanisms.laplace": (
        "IntegerLaplace",
        "Laplace",
        "integer_laplace_mechanism",
        "laplace_mechanism",
        "local_laplace_mechanism",
    ),
    "mechanisms.gaussian": ("Gaussian", "IntegerGaussian", "gaussian_mechanism", "integer_gaussian_mechanism"),
    "mechanisms.response": ("RandomizedResponse", "randomized_response"),
    "mechanisms.selection": (
        "ExponentialMechanism",
        "PermuteAndFlip",
        "ReportNoisyMax",
        "TopK",
        "exponential_mechanism",
        "permute_and_flip",
        "report_noisy_max",
    ),
    "mechanisms.sparse_vector": ("AboveThreshold",),
    "mechanisms.keys": ("OptimalKeys",),
    "mechanisms.thresholded": (
        "ThresholdedGaussian",
        "ThresholdedLaplace",
    ),
    "mechanisms.quantiles": (
        "Quantiles",
        "median_mechanism",
    ),
    "mechanisms.tree": ("ContinualCount",),
    "curator": ("Curator",),
    "ledger.opening": ("open_ledger",),
    "policy": ("Policy",),
    "stated": ("Analyst",),
    "query.schema": ("Table",),
    "query.columns": ("Column",),
    "query.expected": ("within",),
    "query.aggregates": (
        "bounds",
        "count",
        "count_distinct",
        "histogram",
        "maximum",
        "mean",
        "median",
        "minimum",
        "quantiles",
        "std",
        "sum_",
        "top_k",
        "variance",
    ),
    "mechanisms.intervals": ("combined_error", "ratio_interval"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = sorted([*_HOME, "accounting"])
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"curador.{_HOME[name]}"), name)
    if name == "accounting":
        return import_module("curador.accounting")
    raise AttributeError(f"module 'curador' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
