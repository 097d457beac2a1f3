"""What the tester is pointed at in peers: each box with what its makers claim, and the domain they let it be used on.

A box is never told to the tester as faulty.  ``borne_out`` says who confirms what it finds: an issue of the makers, a
paper, or a proof in a line; a finding without one is not claimed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PeerCase:
    """A black box of a peer: ``run(input, n)`` in ``setup``; ``epsilon`` with ``delta``, or ``rho``, as claimed.

    ``claims``: the setup's ``claim()`` gives the epsilon, where the peer computes it.
    """

    peer: str
    name: str
    setup: str
    epsilon: float | None = 1.0
    delta: float = 0.0
    rho: float | None = None
    claims: bool = False
    pairs: Sequence[tuple[Any, Any]] = ()
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    neighbors: str = "replace"
    hostile: bool = False
    n: int = 10_000
    borne_out: str = ""


FLOATS = "[Mir12]; the precision attack of Haney et al. (arXiv 2207.13793) names diffprivlib"

# ---- diffprivlib: its sensitivities are those of replacing a row -----------------------------------------------------


def _mechanism(make: str) -> str:
    return f"""
from diffprivlib import mechanisms as m
box = {make}
def run(value, n):
    return [box.randomise(value) for _ in range(n)]
"""


def _tool(call: str) -> str:
    return f"""
from diffprivlib import tools as t
def run(rows, n):
    x = np.array([row["x"] for row in rows], float)
    return [{call} for _ in range(n)]
"""


def _fitted(call: str, read: str) -> str:
    return f"""
from diffprivlib import models as m
def run(rows, n):
    X = np.array([[row["x"]] for row in rows], float)
    y = np.array([row["y"] for row in rows])
    out = []
    for _ in range(n):
        model = {call}
        model.fit(X, y)
        out.append({read})
    return out
"""


ONE = [(0.0, 1.0)]
DIFFPRIVLIB = [
    PeerCase("diffprivlib", "Laplace", _mechanism("m.Laplace(epsilon=1, sensitivity=1)"), pairs=ONE, borne_out=FLOATS),
    PeerCase(
        "diffprivlib",
        "LaplaceBoundedDomain",
        _mechanism("m.LaplaceBoundedDomain(epsilon=1, sensitivity=1, lower=0, upper=1)"),
        pairs=ONE,
        borne_out=FLOATS,
    ),
    PeerCase(
        "diffprivlib",
        "LaplaceFolded",
        _mechanism("m.LaplaceFolded(epsilon=1, sensitivity=1, lower=0, upper=1)"),
        pairs=ONE,
        borne_out=FLOATS,
    ),
    PeerCase(
        "diffprivlib",
        "LaplaceTruncated",
        _mechanism("m.LaplaceTruncated(epsilon=1, sensitivity=1, lower=0, upper=1)"),
        pairs=ONE,
        borne_out=FLOATS,
    ),
    PeerCase(
        "diffprivlib", "Snapping", _mechanism("m.Snapping(epsilon=1, sensitivity=1, lower=0, upper=1)"), pairs=ONE
    ),
    PeerCase(
        "diffprivlib", "Staircase", _mechanism("m.Staircase(epsilon=1, sensitivity=1)"), pairs=ONE, borne_out=FLOATS
    ),
    PeerCase(
        "diffprivlib",
        "GaussianAnalytic",
        _mechanism("m.GaussianAnalytic(epsilon=1, delta=0.1, sensitivity=1)"),
        delta=0.1,
        pairs=ONE,
        borne_out=FLOATS,
    ),
    PeerCase(
        "diffprivlib",
        "GaussianDiscrete",
        _mechanism("m.GaussianDiscrete(epsilon=1, delta=0.1)"),
        delta=0.1,
        pairs=[(0, 1)],
    ),
    PeerCase("diffprivlib", "Geometric", _mechanism("m.Geometric(epsilon=1)"), pairs=[(0, 1)]),
    PeerCase(
        "diffprivlib",
        "GeometricTruncated",
        _mechanism("m.GeometricTruncated(epsilon=1, lower=0, upper=9)"),
        pairs=[(0, 1)],
    ),
    PeerCase(
        "diffprivlib",
        "Uniform",
        _mechanism("m.Uniform(delta=0.1, sensitivity=1)"),
        epsilon=0.0,
        delta=0.1,
        pairs=ONE,
        borne_out=FLOATS,
    ),
    PeerCase("diffprivlib", "Binary", _mechanism("m.Binary(epsilon=1, value0='a', value1='b')"), pairs=[("a", "b")]),
    PeerCase(
        "diffprivlib",
        "tools.sum",
        _tool("t.sum(x, epsilon=1, bounds=(0, 10))"),
        columns={"x": (0.0, 10.0)},
        n=4000,
        borne_out=FLOATS,
    ),
    PeerCase(
        "diffprivlib",
        "tools.sum, rounded, any value",
        _tool("round(t.sum(x, epsilon=1, bounds=(0, 10)), 6)"),
        columns={"x": (0.0, 10.0)},
        hostile=True,
        n=1000,
        borne_out="a NaN passes the clip: Re:cord-play (PETS 2026) on diffprivlib; NaN + noise is NaN",
    ),
    PeerCase(
        "diffprivlib",
        "tools.mean",
        _tool("t.mean(x, epsilon=1, bounds=(0, 10))"),
        columns={"x": (0.0, 10.0)},
        n=4000,
        borne_out=FLOATS,
    ),
    PeerCase(
        "diffprivlib",
        "tools.mean without bounds, rounded",
        _tool("round(t.mean(x, epsilon=1), 6)"),
        columns={"x": (0.0, 10.0)},
        n=1000,
        borne_out="bounds are read from the data, with a warning: diffprivlib issue 20",
    ),
    PeerCase(
        "diffprivlib", "tools.count_nonzero", _tool("t.count_nonzero(x, epsilon=1)"), columns={"x": (0.0, 10.0)}, n=4000
    ),
    PeerCase(
        "diffprivlib",
        "tools.median",
        _tool("t.median(x, epsilon=1, bounds=(0, 10))"),
        columns={"x": (0.0, 10.0)},
        n=2000,
    ),
    PeerCase(
        "diffprivlib",
        "tools.histogram",
        _tool("t.histogram(x, epsilon=1, bins=2, range=(0, 10))[0]"),
        columns={"x": (0.0, 10.0)},
        neighbors="add-remove",
        n=2000,
    ),
    PeerCase(
        "diffprivlib",
        "LinearRegression, rounded",
        _fitted(
            "m.LinearRegression(epsilon=1, bounds_X=(1, 10), bounds_y=(0, 10), fit_intercept=False)",
            "model.coef_.round(6)",
        ),
        columns={"x": (1.0, 10.0), "y": (0.0, 10.0)},
        n=1000,
        borne_out="the lower bound is used twice: diffprivlib issues 104 and 105",
    ),
    PeerCase(
        "diffprivlib",
        "StandardScaler",
        _fitted("m.StandardScaler(epsilon=1, bounds=(0, 10))", "np.append(model.mean_, model.var_)"),
        columns={"x": (0.0, 10.0), "y": (0.0, 1.0)},
        n=1000,
        borne_out=FLOATS,
    ),
    PeerCase(
        "diffprivlib",
        "GaussianNB, rounded",
        _fitted("m.GaussianNB(epsilon=1, bounds=(0, 10))", "np.append(model.theta_, model.var_).round(6)"),
        columns={"x": (0.0, 10.0), "y": (0, 1)},
        n=1000,
        borne_out="classes are those that occur: Re:cord-play (PETS 2026) on diffprivlib",
    ),
]

# ---- pure-ldp --------------------------------------------------------------------------------------------------------


def _client(make: str, read: str = "box.privatise(value)", shift: int = 0) -> str:
    return f"""
from pure_ldp.frequency_oracles import *
from pure_ldp.core import generate_hash_funcs
box = {make}
def run(value, n):
    value = value + {shift}
    return [{read} for _ in range(n)]
"""


KEYS = [(1, 4), (1, 2)]
PURE_LDP = [
    PeerCase("pure-ldp", "direct encoding", _client("DEClient(epsilon=1, d=4)"), pairs=KEYS),
    PeerCase("pure-ldp", "unary encoding", _client("UEClient(epsilon=1, d=4)"), pairs=KEYS),
    PeerCase("pure-ldp", "optimal unary encoding", _client("UEClient(epsilon=1, d=4, use_oue=True)"), pairs=KEYS),
    PeerCase(
        "pure-ldp", "local hashing", _client("LHClient(epsilon=1, d=4)", "box._perturb(value, seed=5)"), pairs=KEYS
    ),
    PeerCase(
        "pure-ldp",
        "histogram encoding",
        _client("HEClient(epsilon=1, d=4)"),
        pairs=KEYS,
        borne_out="NumPy's Laplace noise on 0 and 1: [Mir12]",
    ),
    PeerCase(
        "pure-ldp",
        "Hadamard response",
        _client("HadamardResponseClient(epsilon=1, d=4, hash_funcs=HadamardResponseServer(1, 4).get_hash_funcs())"),
        pairs=KEYS,
    ),
    PeerCase(
        "pure-ldp",
        "Hadamard mechanism",
        _client(
            "HadamardMechClient(epsilon=1, d=4, t=1)",
            "np.ravel(list(box.privatise(value)))",
        ),
        pairs=KEYS,
    ),
    PeerCase(
        "pure-ldp",
        "RAPPOR",
        _client(
            "RAPPORClient(f=0.5, m=8, hash_funcs=[[lambda x: int(x) % 8]], num_of_cohorts=1)", "box.privatise(value)[0]"
        )
        + "\ndef claim(): return box.convert_f_to_eps(0.5, 1)\n",
        claims=True,
        pairs=KEYS,
        borne_out="a bit that is set is never cleared, so a 0 excludes a value: the text of its `_perturb`",
    ),
    PeerCase(
        "pure-ldp",
        "count-mean sketch",
        _client("CMSClient(epsilon=1, hash_funcs=[lambda x: int(x) % 8], m=8)", "np.ravel(box.privatise(value)[0])"),
        pairs=KEYS,
    ),
]

# ---- OpenDP ----------------------------------------------------------------------------------------------------------


def _opendp(make: str) -> str:
    return f"""
import opendp.prelude as dp
dp.enable_features("contrib")
real = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
whole = dp.atom_domain(T=int), dp.absolute_distance(T=int)
scores = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
box = {make}
def run(value, n):
    return [box(value) for _ in range(n)]
def claim():
    return box.map(1)
"""


SCORES = [((0.0, 0.0), (1.0, -1.0)), ((0.0, 2.0), (1.0, 1.0)), ((0.0, 4.0), (1.0, 3.0))]
OPENDP = [
    PeerCase(
        "opendp",
        "laplace, real",
        _opendp("dp.m.make_laplace(*real, scale=1.0)").replace("map(1)", "map(1.0)"),
        claims=True,
        pairs=ONE,
    ),
    PeerCase(
        "opendp", "laplace, integer", _opendp("dp.m.make_laplace(*whole, scale=1.0)"), claims=True, pairs=[(0, 1)]
    ),
    PeerCase(
        "opendp",
        "gaussian, real",
        _opendp("dp.m.make_gaussian(*real, scale=1.0)").replace("map(1)", "map(1.0)"),
        epsilon=None,
        rho=0.5,
        pairs=ONE,
    ),
    PeerCase(
        "opendp",
        "gaussian, integer",
        _opendp("dp.m.make_gaussian(*whole, scale=1.0)"),
        epsilon=None,
        rho=0.5,
        pairs=[(0, 1)],
    ),
    PeerCase(
        "opendp",
        "randomized response",
        _opendp("dp.m.make_randomized_response_bool(0.75)"),
        claims=True,
        pairs=[(False, True)],
    ),
    PeerCase(
        "opendp",
        "noisy max, pure",
        _opendp("dp.m.make_noisy_max(*scores, dp.max_divergence(), scale=1.0)").replace("map(1)", "map(1.0)"),
        claims=True,
        pairs=SCORES,
    ),
    PeerCase(
        "opendp",
        "noisy max, concentrated",
        _opendp("dp.m.make_noisy_max(*scores, dp.zero_concentrated_divergence(), scale=1.0)"),
        epsilon=None,
        rho=0.5,
        pairs=SCORES,
        borne_out="OpenDP issue 2911: permute-and-flip with the rho of the exponential mechanism",
    ),
]

# ---- SmartNoise SQL --------------------------------------------------------------------------------------------------


ROW = [{"x": 5.0, "g": "a"}]


def _smartnoise(sql: str, columns: str = '"x": {"type": "float", "lower": 0, "upper": 10}') -> str:
    return f"""
import pandas as pd
from snsql import Privacy, from_df
def opened(rows):
    frame = pd.DataFrame(rows, columns=["x", "g"])
    meta = {{"": {{"": {{"t": {{"row_privacy": True, "rows": len(rows), {columns},
             "g": {{"type": "string"}}}}}}}}}}
    return from_df(frame, privacy=Privacy(epsilon=1.0, delta=0.01), metadata=meta)
def run(rows, n):
    reader = opened(rows)
    out = []
    for _ in range(n):
        try:
            out.append(str(reader.execute({sql!r})[1:]))
        except Exception as error:
            out.append(type(error).__name__)
    return out
def claim():
    return float(opened([]).get_privacy_cost({sql!r})[0])
"""


NOISE = """
from snsql.sql._mechanisms import {name} as Mechanism
box = Mechanism(1.0, delta={delta}, max_contrib=1, lower=0, upper=1)
def run(value, n):
    return box.release([value] * n)
"""
SHOWN = """
def run(units, n):  # a group is shown where its noisy count is above the threshold
    noisy = np.array(box.release([float(units)] * n))
    return np.where((noisy > box.threshold) & (units > 0), noisy, np.nan)
"""
SMARTNOISE = [
    PeerCase("smartnoise-sql", "Laplace", NOISE.format(name="Laplace", delta=0.0), pairs=ONE),
    PeerCase("smartnoise-sql", "Gaussian", NOISE.format(name="Gaussian", delta=0.1), delta=0.1, pairs=ONE),
    PeerCase(
        "smartnoise-sql",
        "a group of one row, Gaussian",
        NOISE.format(name="Gaussian", delta=1e-3) + SHOWN,
        delta=2e-3,
        pairs=[(0, 1)],
        n=30_000,
    ),
    PeerCase(
        "smartnoise-sql",
        "SELECT COUNT(*)",
        _smartnoise("SELECT COUNT(*) AS n FROM t"),
        claims=True,
        delta=0.015,
        pairs=[(40 * ROW, 41 * ROW)],
        n=300,
    ),
]

# ---- dp-accounting: what is claimed of a run that anyone can make ----------------------------------------------------

EVENTS = """
from dp_accounting import dp_event as ev
from dp_accounting import NeighboringRelation as N
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
def claim():
    accountant = {accountant}
    accountant.compose({event})
    return float(accountant.get_epsilon({delta}))
"""
ANSWERS = """
def run(value, n):  # answers at random half of the time, else the truth
    return np.where(np.random.random((n, 10)) < 0.5, np.random.randint(0, 2, (n, 10)), value)
"""
SUMS = """
def run(value, n):
    return np.round(2**20 * np.random.normal(0, 3, (n, 10))) / 2**20 + value
"""
DP_ACCOUNTING = [
    PeerCase(
        "dp-accounting",
        "ten randomized responses, by loss distributions",
        EVENTS.format(
            accountant="PLDAccountant(neighboring_relation=N.REPLACE_ONE)",
            event="ev.SelfComposedDpEvent(ev.RandomizedResponseDpEvent(0.5, 2), 10)",
            delta=1e-3,
        )
        + ANSWERS,
        claims=True,
        delta=1e-3,
        pairs=[(0, 1)],
        borne_out="the count is not used: the text of `_maybe_compose`; ten independent answers multiply their ratios",
    ),
    PeerCase(
        "dp-accounting",
        "ten randomized responses, by Rényi orders",
        EVENTS.format(
            accountant="RdpAccountant(neighboring_relation=N.REPLACE_ONE)",
            event="ev.SelfComposedDpEvent(ev.RandomizedResponseDpEvent(0.5, 2), 10)",
            delta=1e-3,
        )
        + ANSWERS,
        claims=True,
        delta=1e-3,
        pairs=[(0, 1)],
    ),
    PeerCase(
        "dp-accounting",
        "ten Gaussian sums, by loss distributions",
        EVENTS.format(
            accountant="PLDAccountant()", event="ev.SelfComposedDpEvent(ev.GaussianDpEvent(3.0), 10)", delta=1e-2
        )
        + SUMS,
        claims=True,
        delta=1e-2,
        pairs=ONE,
    ),
]

# ---- NumPy -----------------------------------------------------------------------------------------------------------

NOISED = "def run(value, n):\n    return value + np.random.default_rng().{law}(0.0, 1.0, n)\n"
NUMPY = [
    PeerCase("numpy", "Laplace noise", NOISED.format(law="laplace"), pairs=ONE, borne_out="[Mir12]"),
    PeerCase(
        "numpy",
        "Gaussian noise",
        NOISED.format(law="normal"),
        epsilon=None,
        rho=0.5,
        pairs=ONE,
        borne_out="Jin et al. (arXiv 2112.05307)",
    ),
]

CASES = [*NUMPY, *DIFFPRIVLIB, *PURE_LDP, *SMARTNOISE, *OPENDP, *DP_ACCOUNTING]
