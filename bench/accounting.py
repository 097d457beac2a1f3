"""Tight accounting against dp_accounting's privacy-loss distributions at a grid step of 1e-4."""

from __future__ import annotations

from bench.cases import Case, Code

TITLE = "Accounting"

OURS = """
from fractions import Fraction as F
import curador.accounting as acc
from curador.accounting import pld
from curador.accounting.events import GaussianNoise, LaplaceNoise, PoissonSampled
from curador.privacy import ApproxDP
step = PoissonSampled(GaussianNoise(F(1), F(1)), F(1, 100))
laplace, gaussian = LaplaceNoise(F(20), F(1)), GaussianNoise(F(50), F(1))
laplaces = [LaplaceNoise(F(1), F(1, 1000) + F(9 * i, 499_000)) for i in range(500)]
gaussians = [GaussianNoise(F(1), F(1, 500) + F(18 * i, 499_000)) for i in range(500)]
"""
PEER = """
import warnings; warnings.filterwarnings("ignore")
import dp_accounting as dp
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism, from_laplace_mechanism
def fresh(grid=1e-4):
    return PLDAccountant(value_discretization_interval=grid)
def sgd(sigma):
    return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(sigma)), 10_000)
laplace, gaussian = dp.LaplaceDpEvent(20), dp.GaussianDpEvent(50)
laplaces = [dp.LaplaceDpEvent(1 / (.001 + .009 * i / 499)) for i in range(500)]
gaussians = [dp.GaussianDpEvent(1 / (.002 + .018 * i / 499)) for i in range(500)]
def accounted(event, delta):
    a = fresh(); a.compose(event); return a.get_epsilon(delta)
"""

CASES = [
    Case(
        "DP-SGD, σ 1, q .01, 10⁴ steps: ε, both sides",
        Code("pld.epsilon(10_000 * step, 1e-5)", OURS),
        {"dp-accounting": Code("accounted(sgd(1.0), 1e-5)", PEER)},
        faster={"dp-accounting": 10},
        most=1.0,
    ),
    Case(
        "500 Laplace + 500 Gaussian: ε",
        Code("pld.epsilon(500 * laplace + 500 * gaussian, 1e-6)", OURS),
        {
            "dp-accounting": Code(
                "a = fresh(); a.compose(laplace, 500); a.compose(gaussian, 500); a.get_epsilon(1e-6)", PEER
            )
        },
        faster={"dp-accounting": 20},
    ),
    Case(
        "500 different Laplace + 500 different Gaussian: ε",
        Code("pld.epsilon(acc.compose(*laplaces, *gaussians), 1e-6)", OURS),
        {"dp-accounting": Code("a = fresh()\nfor e in laplaces + gaussians: a.compose(e)\na.get_epsilon(1e-6)", PEER)},
        faster={"dp-accounting": 40},
    ),
    Case(
        "the same 1,000 by Rényi orders: ε",
        Code('acc.epsilon(acc.compose(*laplaces, *gaussians), 1e-6, method="renyi")', OURS),
        {
            "dp-accounting": Code(
                "from dp_accounting.rdp import RdpAccountant\n"
                "a = RdpAccountant()\nfor e in laplaces + gaussians: a.compose(e)\na.get_epsilon(1e-6)",
                PEER,
            )
        },
        faster={"dp-accounting": 1 / 3},
    ),
    Case(
        "1,000 times: add another query, report ε",
        Code(
            "book = pld.IncrementalPLD(delta=1e-6)\n"
            "for pair in zip(laplaces, gaussians):\n"
            "    for event in pair:\n"
            "        book = book.add(event)\n"
            "        book.epsilon()",
            OURS,
        ),
        {
            "dp-accounting": Code(
                "a = fresh()\n"
                "for pair in zip(laplaces, gaussians):\n"
                "    for event in pair:\n"
                "        a.compose(event)\n"
                "        a.get_epsilon(1e-6)",
                PEER,
            )
        },
        faster={"dp-accounting": 20},
    ),
    Case(
        "first ε of a process, after the import",
        Code(
            "import os, subprocess, sys\n"
            "out = subprocess.run([sys.executable, '-c', 'import time\\nfrom fractions import Fraction as F\\n"
            "from curador.accounting import pld\\n"
            "from curador.accounting.events import GaussianNoise, PoissonSampled\\nt = time.process_time()\\n"
            "pld.epsilon(10_000 * PoissonSampled(GaussianNoise(F(1), F(1)), F(1, 100)), 1e-5)\\n"
            "print(time.process_time() - t)'], capture_output=True, text=True, check=True)\n"
            "found = float(out.stdout)",
            clock="found",
        ),
        most=0.1,
    ),
    Case(
        "1,000 times: add one query, report ε",
        Code(
            "book = pld.IncrementalPLD(delta=1e-6)\n"
            "for i in range(1000):\n"
            "    book = book.add(gaussian if i % 2 else laplace)\n"
            "    book.epsilon()",
            OURS,
        ),
        {
            "dp-accounting": Code(
                "a = fresh()\n"
                "for i in range(1000):\n"
                "    a.compose(gaussian if i % 2 else laplace)\n"
                "    a.get_epsilon(1e-6)",
                PEER,
            )
        },
        faster={"dp-accounting": 10},
    ),
    Case(
        "σ for (1, 1e-5) at q .01, 10⁴ steps",
        Code(
            "pld.calibrate(lambda s: 10_000 * PoissonSampled(GaussianNoise(s, F(1)), F(1, 100)), ApproxDP(1, 1e-5))",
            OURS,
        ),
        {
            "dp-accounting": Code(
                "dp.calibrate_dp_mechanism(fresh, sgd, 1.0, 1e-5, dp.LowerEndpointAndGuess(0.5, 4.0), tol=1e-4)", PEER
            )
        },
        faster={"dp-accounting": 30},
    ),
]
